import subprocess
import sys

import pytest
from isthmus_experiments import Outcome, experiment, get, list_experiments, list_ids, registry
from isthmus_experiments.registry import FOLDER

ABOUT = {"document": "[999]", "title": "Toy", "published": "nothing"}


def test_experiments_are_listed_in_the_order_of_their_numbers(toys):
    assert [e.id for e in list_experiments()] == ["T-2", "T-3", "T-10"]


def test_every_file_registers_the_id_that_it_is_named_after():
    ids = list_ids()
    assert {"E-08", "KDE-digits", "RED-boston", "SFA", "UKR-spiral-left-out"} <= set(ids)
    assert [e.id for e in list_experiments()] == ids
    for e in list_experiments():
        assert e.run.__module__ == f"{FOLDER}.{e.id.lower().replace('-', '_')}"


def printed_by(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize("id", ["E-08", "gp-optima", "RED-uji"])
def test_one_id_loads_one_experiment(id):
    code = (
        f"import sys; from isthmus_experiments import get; get({id!r}); "
        f"names = [m.removeprefix('{FOLDER}.') for m in sys.modules if m.startswith('{FOLDER}.')]; "
        "print(*[name for name in names if not name.startswith('_')])"
    )
    assert printed_by(code) == [id.lower().replace("-", "_")]


def test_ids_are_listed_without_loading_an_experiment():
    code = (
        "import sys; from isthmus_experiments import list_ids; print(len(list_ids())); "
        f"print(*[m for m in sys.modules if m.startswith('{FOLDER}.')])"
    )
    (count,) = printed_by(code)
    assert int(count) == len(list_ids())


def test_experiments_are_listed_without_loading_matplotlib():
    code = (
        "import sys; from isthmus_experiments import list_experiments; list_experiments(); "
        "print('isthmus.plotting' in sys.modules, 'matplotlib' in sys.modules)"
    )
    assert printed_by(code) == ["True", "False"]


def test_an_unknown_id_gets_close_matches_from_the_names_of_files():
    with pytest.raises(ValueError, match=r"no experiment 'RED-bostn'\. Did you mean RED-boston"):
        get("RED-bostn")


def test_id_that_its_file_does_not_bear_is_refused(toys):
    def run(settings, seed, progress):
        return Outcome([])

    run.__module__ = f"{FOLDER}.e_98"
    with pytest.raises(ValueError, match=r"e_98\.py must hold the experiment 'E-98'\. Got 'E-99'"):
        experiment("E-99", quick={}, full={}, **ABOUT)(run)


def test_file_that_registers_nothing_is_named(toys, monkeypatch):
    monkeypatch.setattr(registry, "_files", lambda: ["_arm"])
    with pytest.raises(ValueError, match="does not register it"):
        get("-arm")


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
