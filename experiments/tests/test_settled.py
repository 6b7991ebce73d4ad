"""Whether missing draws could change a finding."""

import re

import numpy as np
import pytest
from isthmus_experiments import Outcome, Row, coverage, draws, experiment, list_experiments, run
from isthmus_experiments.experiments._ukr import value_row
from isthmus_experiments.kept.record import read_records
from isthmus_experiments.kept.settled import OPEN, SETTLED, TOO_FEW, complete_draws, settled_rows
from isthmus_experiments.kept.site import published_page


def mean_row(values):
    return [value_row("mean", 1.0, [one["x"] for one in values])]


def word(known, n, **options):
    values = [{"x": float(x)} for x in known]
    return settled_rows(mean_row(values), mean_row, values, n, **options)[0]


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ([0.99, 1.0, 1.01, 1.0, 0.98, 1.02], SETTLED),  # the middle of the band
        ([1.5, 1.51, 1.49, 1.5, 1.5], SETTLED),  # far outside
        ([1.02, 1.2, 1.05, 1.16, 1.02], OPEN),  # at its border, 1.1
        ([0.6, 1.0, 1.2, 1.6, 1.8], OPEN),  # agrees by the few sets' wide error alone
        ([1.05, 1.09], OPEN),  # inside, but two draws know no spread
        ([1.0], TOO_FEW),
    ],
)
def test_a_finding_is_settled_where_its_border_is_far(known, expected):
    assert word(known, 100).partition(", ")[0] == expected


def test_share_of_settled_means_is_that_of_students_t():
    """A mean of many further draws keeps its side of a border as often as t says."""
    rng = np.random.default_rng(0)
    values = [{"x": float(x)} for x in rng.normal(1.0, 0.1, 4)]
    x = np.array([one["x"] for one in values])
    many = [np.mean([one["x"] for one in complete_draws(values, 300, rng)[4:]]) for _ in range(600)]
    t = (np.array(many) - x.mean()) / (x.std(ddof=1) / 2)
    assert np.quantile(np.abs(t), 0.9) == pytest.approx(2.35, abs=0.35)  # t of 3 degrees


def test_draws_of_another_kind_have_nothing_in_common():
    values = [{"x": 1.0}, {"x": 100.0}, {"x": 1.1}, {"x": 101.0}]
    made = complete_draws(values, 8, np.random.default_rng(0), period=2)
    assert all(abs(one["x"] - 1) < 20 for one in made[::2])
    assert len(complete_draws(values[:1], 8, np.random.default_rng(0), period=2)) == 1


def test_only_numbers_move_and_distances_stay_distances():
    values = [
        {"x": [0.1, -1.0], "name": "a", "n": 3, "k": None},
        {"x": [0.2, 1.0], "name": "b", "n": 4, "k": None},
    ]
    made = complete_draws(values, 300, np.random.default_rng(1))[2:]
    assert {one["name"] for one in made} == {"a", "b"}
    assert {(one["name"], one["n"]) for one in made} == {("a", 3), ("b", 4)}
    assert all(one["x"][0] >= 0 and one["k"] is None for one in made)
    ways = [complete_draws(values, 9, np.random.default_rng(seed))[2:] for seed in range(9)]
    assert any(one["x"][1] < -1.0 for way in ways for one in way)


def test_lists_of_different_lengths_are_taken_as_they_are():
    values = [{"x": [0.1]}, {"x": [0.2, 0.3]}]
    assert all(one in values for one in complete_draws(values, 20, np.random.default_rng(0)))


def test_kept_record_and_page_say_what_is_open(toys, quiet, tmp_path):
    @experiment(
        "T-30", document="[999] 1", title="Few", published="1, of twenty draws",
        quick={"n_sets": 1}, full={"n_sets": 3}, draws={"n_sets": 20},
    )  # fmt: skip
    def few(settings, seed, progress):
        def draw(i):
            if i == 6:
                raise KeyboardInterrupt
            return {"near": 1 + 0.001 * i, "edge": 1.1 + 0.2 * (-1) ** i}

        found = draws(draw, settings["n_sets"], progress)
        return Outcome(
            [
                *(value_row(n, 1.0, [one[n] for one in found]) for n in ("near", "edge")),
                Row("remark", None, 1.0, "for information"),
            ]
        )

    with pytest.raises(KeyboardInterrupt):
        run(["T-30"], keep=tmp_path, console=quiet)
    run(["T-30"], keep=tmp_path, minutes=0, console=quiet)
    record = read_records(tmp_path)["T-30"]
    assert record.draws == 6
    assert [w.partition(", ")[0] for w in record.settled] == [SETTLED, OPEN, ""]
    assert "| finding | verdict | missing draws |" in (tmp_path / "T-30.md").read_text()
    page = published_page(read_records(tmp_path), list_experiments(), coverage([]))
    assert "1 are settled all the same, 1 are open and 0 have too few draws" in page
    assert re.search(r"\| T-30 \| 6 \| \d+ \| \d+ \| 1 \| 1 \| 0 \|", page)


def test_nothing_is_said_where_no_draw_is_missing(toys, quiet, tmp_path):
    run(["T-2"], keep=tmp_path, console=quiet)
    assert read_records(tmp_path)["T-2"].settled == []
    assert "missing draws" not in (tmp_path / "T-2.md").read_text()
