import json

import pytest
from isthmus_experiments import Outcome, Row, draws, experiment, get, run
from isthmus_experiments.kept.draws import Store, plain
from isthmus_experiments.kept.record import is_complete, read_records


@pytest.fixture
def drawing(toys):
    """An experiment of ten published draws; ``drawing`` lists those that were computed."""
    computed = []

    @experiment(
        "T-20", document="[999] 1", title="Draws", published="0.5 & more, of ten draws",
        quick={"n_sets": 1, "size": 2}, full={"n_sets": 3, "size": 20}, seed=5,
        draws={"n_sets": 10},
    )  # fmt: skip
    def drawn(settings, seed, progress):
        def draw(i):
            if stop_at is not None and i == stop_at[0]:
                raise KeyboardInterrupt
            computed.append(i)
            return {"value": seed + i, "size": settings["size"]}

        stop_at = getattr(drawn, "stop_at", None)
        values = [d["value"] for d in draws(draw, settings["n_sets"], progress)]
        return Outcome([Row("mean", 9.5, sum(values) / len(values), "as published", True)])

    drawn.computed = computed
    return drawn


def test_kept_run_takes_as_many_draws_as_published(drawing, quiet, tmp_path):
    run(["T-20"], keep=tmp_path, console=quiet)
    assert drawing.computed == list(range(10))
    record = read_records(tmp_path)["T-20"]
    assert (record.draws, record.draws_wanted) == (10, 10)
    assert record.findings[0].ours == 9.5
    assert is_complete(record, get("T-20"))


def test_run_that_is_stopped_goes_on_where_it_stopped(drawing, quiet, tmp_path):
    drawing.stop_at = [4]
    with pytest.raises(KeyboardInterrupt):
        run(["T-20"], keep=tmp_path, console=quiet)
    assert drawing.computed == [0, 1, 2, 3]
    assert read_records(tmp_path) == {}
    drawing.stop_at = None
    run(["T-20"], keep=tmp_path, console=quiet)
    assert drawing.computed == list(range(10))


def test_time_limits_the_draws_and_later_runs_add_to_them(drawing, quiet, tmp_path):
    run(["T-20"], keep=tmp_path, minutes=0, console=quiet)
    assert drawing.computed == [0]  # never none
    record = read_records(tmp_path)["T-20"]
    assert (record.draws, record.draws_wanted) == (1, 10)
    assert not is_complete(record, get("T-20"))
    run(["T-20"], keep=tmp_path, console=quiet)
    assert drawing.computed == list(range(10))
    assert read_records(tmp_path)["T-20"].draws == 10


def test_draws_of_other_settings_or_dropped_ones_are_computed_anew(drawing, quiet, tmp_path):
    run(["T-20"], keep=tmp_path, console=quiet)
    run(["T-20"], keep=tmp_path, fresh=True, console=quiet)
    assert len(drawing.computed) == 20
    path = tmp_path / "draws" / "T-20.json"
    kept = json.loads(path.read_text())
    kept["about"]["size"] = 21
    path.write_text(json.dumps(kept))
    run(["T-20"], keep=tmp_path, console=quiet)
    assert len(drawing.computed) == 30


def test_what_is_kept_is_not_run_again_unless_it_is_named(drawing, quiet, tmp_path):
    run(keep=tmp_path, console=quiet)
    assert set(read_records(tmp_path)) == {"T-2", "T-20"}  # no failure and nothing skipped
    assert [r.experiment.id for r in run(keep=tmp_path, console=quiet)] == ["T-3", "T-10"]
    assert [r.experiment.id for r in run(["T-2"], keep=tmp_path, console=quiet)] == ["T-2"]


def test_page_of_a_record_has_what_a_reader_asks(drawing, quiet, tmp_path):
    run(["T-2", "T-20"], keep=tmp_path, console=quiet)
    page = (tmp_path / "T-2.md").read_text()
    for text in (
        r"| error \| rate | 0.26 | 0.2507 | reproduced | lower &lt;than&gt; published |",
        "| order | a before b | n was 30 | differs | other order |",
        "1 reproduced, 0 hold, 0 observed, 1 differ.",
        "| seed | 7 |",
        "| settings | n = 30 |",
        "- A note & more",
    ):
        assert text in page
    assert "| draws | 10 of 10 |" in (tmp_path / "T-20.md").read_text()
    for word in ("commit", "date", "time", "machine"):
        assert f"| {word} | " in page


def test_plain_runs_keep_nothing_and_take_the_full_settings(drawing, quiet, tmp_path):
    run(["T-20"], console=quiet)
    assert drawing.computed == [0, 1, 2]
    assert list(tmp_path.iterdir()) == []


def test_a_draw_is_written_when_it_is_done(tmp_path):
    path = tmp_path / "x.json"
    store = Store(path, {"a": (1, 2)})
    store.draw(lambda i: i, 1, lambda share, message="": None)
    assert json.loads(path.read_text())["values"] == [0]
    again = Store(path, {"a": [1, 2]})
    assert again.draw(lambda i: -1, 2, lambda share, message="": None) == [0, -1]


def test_values_come_back_as_they_were_kept():
    value = {"a": (1, 2.5, None), "b": [True, "x"]}
    assert json.loads(json.dumps(plain(value))) == plain(value)


def test_draws_must_be_counted_by_a_setting(toys):
    with pytest.raises(ValueError, match=r"count its draws by one of its settings.*\['m'\]"):
        experiment(
            "T-5", document="[999]", title="Toy", published="nothing",
            quick={"n": 1}, full={"n": 1}, draws={"m": 3},
        )(print)  # fmt: skip
