import pytest
from isthmus_experiments import Outcome, experiment, get, list_experiments

ABOUT = {"document": "[999]", "title": "Toy", "published": "nothing"}


def test_experiments_are_listed_in_the_order_of_their_numbers(toys):
    assert [e.id for e in list_experiments()] == ["T-2", "T-3", "T-10"]


def test_files_of_the_experiments_folder_register_themselves():
    assert {"E-08", "KDE-digits", "KDE-multilabel", "KDE-usps"} <= {
        e.id for e in list_experiments()
    }


def test_every_experiment_says_what_is_published_and_has_both_settings():
    for e in list_experiments():
        assert e.document.startswith("[0")
        assert len(e.published) > 20
        assert set(e.quick) == set(e.full)


def test_case_of_an_id_does_not_matter(toys):
    assert get("t-10") is get("T-10")


def test_unknown_id_names_the_closest_and_all_ids(toys):
    with pytest.raises(
        ValueError, match=r"no experiment 'T-1'\. Did you mean T-10.*Known: T-2, T-3"
    ):
        get("T-1")


def test_id_taken_by_another_module_is_refused(toys):
    def run(settings, seed, progress):
        return Outcome([])

    run.__module__ = "elsewhere"
    with pytest.raises(ValueError, match="'T-2' is registered twice"):
        experiment("T-2", quick={}, full={}, **ABOUT)(run)


def test_quick_and_full_settings_must_have_the_same_names(toys):
    with pytest.raises(ValueError, match=r"same settings.*\['n'\] and \['m'\]"):
        experiment("T-5", quick={"n": 1}, full={"m": 1}, **ABOUT)(print)
