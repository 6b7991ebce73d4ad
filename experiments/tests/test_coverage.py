import re

import pytest
from isthmus_experiments import Covers, coverage, coverage_text, list_experiments, list_published
from isthmus_experiments.coverage.table import Coverage, Published

NAMED = r"(tables?|figures?|fig\.) ((?:[A-Z\d.]+|, | and | to |-)+)"


def labels(document):
    """The tables and figures that the name of a document's place holds: '004 table 5.1', ..."""
    found = set()
    for number, text in re.findall(r"\[(\d+)\]([^\[]*)", document):
        for kind, names in re.findall(NAMED, text):
            kind = "table" if kind.startswith("table") else "figure"
            names = re.sub(r"(?<=\d)-(?=\d)", " to ", names).rstrip("., ")
            for part in re.split(r", | and ", names):
                first, _, last = part.strip(" .").partition(" to ")
                for label in _between(first, last or first):
                    found.add(f"{number} {kind} {label}")
    return found


def _between(first, last):
    if first == last:
        return [first]
    chapter, low = first.rsplit(".", 1)
    return [f"{chapter}.{k}" for k in range(int(low), int(last.rsplit(".", 1)[1]) + 1)]


def test_labels_of_ranges_and_lists_are_read():
    assert labels("[000] 5.5, figures 5.7-5.9 and 6.1") == {
        f"000 figure {k}" for k in ("5.7", "5.8", "5.9", "6.1")
    }
    assert labels("[003] 4.4, tables 4.3 and A.1") == {"003 table 4.3", "003 table A.1"}
    assert labels("[000] 2.6.2, figure 2.6, [001] 6.3, figure 6.2") == {
        "000 figure 2.6",
        "001 figure 6.2",
    }
    assert labels("[002] 8, prediction") == set()


def test_the_list_of_published_results_has_every_item_once():
    items = [p.item for p in list_published()]
    assert len(items) == len(set(items)) == 145
    assert all(re.fullmatch(r"00[0-4] (table|figure) [A-Z\d.]+", item) for item in items)
    assert all(p.results >= 1 and p.title for p in list_published())


@pytest.mark.parametrize("e", list_experiments(), ids=lambda e: e.id)
def test_an_experiment_declares_what_its_document_names_and_nothing_else(e):
    known = {p.item for p in list_published()}
    declared = {c.item for c in e.covers}
    assert declared <= labels(e.document)
    assert labels(e.document) & known == declared


def test_nothing_is_counted_twice():
    for c in coverage(list_experiments()):
        counted = sum(d.results or c.published.results for _, d in c.declared)
        assert counted <= c.published.results, c.published.item


def test_what_is_remade_is_not_called_impossible():
    for c in coverage(list_experiments()):
        assert not (c.declared and c.published.impossible), c.published.item


@pytest.mark.parametrize(
    ("declared", "level"),
    [
        ([], "none"),
        ([Covers("x", 3)], "part"),
        ([Covers("x", 3), Covers("x", 1, way="claim")], "full"),
        ([Covers("x")], "full"),
        ([Covers("x", 3), Covers("x", 1, way="other data", why="lost")], "other data"),
        ([Covers("x", 1, way="other data", why="lost")], "part"),
    ],
)
def test_level_of_a_table_with_four_cells(declared, level):
    assert Coverage(Published("x", 4, "t"), [("E", d) for d in declared]).level == level


def test_a_table_that_cannot_be_remade_says_why():
    assert Coverage(Published("x", 4, "t", "lost"), []).level == "impossible"


def test_other_data_need_a_reason():
    with pytest.raises(ValueError, match="why must say the reason"):
        Covers("x", way="other data")
    with pytest.raises(ValueError, match=r"way must be one of .*Got 'guess'"):
        Covers("x", way="guess")


def test_item_that_the_list_does_not_have_is_refused(toys):
    from isthmus_experiments import Outcome, experiment, get

    experiment(
        "T-9", document="[999]", title="Toy", published="nothing", quick={}, full={},
        covers=[Covers("999 table 1")],
    )(lambda settings, seed, progress: Outcome([]))  # fmt: skip
    with pytest.raises(ValueError, match="T-9 covers '999 table 1'"):
        coverage([get("T-9")])


def test_text_has_the_totals_and_every_item():
    text = coverage_text()
    assert text.startswith("145 published tables and figures: ")
    counts = [int(n) for n in re.findall(r"(\d+) (?:full|other data|part|none|imp)", text)[:5]]
    assert sum(counts) == 145
    assert all(f"  {p.item}  " in text for p in list_published())
