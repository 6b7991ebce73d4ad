"""The page in a real browser: open, hover, click, type, drop a table, export and reopen it."""

import re

import numpy as np
import pandas as pd
import pytest

from isthmus import explore
from isthmus.features import KernelPCA
from isthmus.structured import DependencyEstimator

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect
expect.set_options(timeout=60_000)

# Panel announces names that older releases do not know yet.
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")

TAG = "<img src=x onerror=stolen=1>"


@pytest.fixture(scope="module")
def live(plane, digits, browser):
    """A page that many tests visit; it ends when its last visitor has gone."""
    page = explore(plane, *digits, browser=False, title="digits")
    yield page
    page.close()


def open_page(window, address):
    window.page.goto(address)
    window.page.wait_for_selector("#first", state="detached")  # the whole page is there
    return window.page


def canvas(page):
    return page.locator(".bk-Canvas").first.bounding_box()


def shown(page, index=0):
    """What the screen reader says of a picture."""
    return page.locator("svg[role=img]").nth(index).get_attribute("aria-label")


def drop(page, path):
    """Drop a file on the map, as if it were dragged there from a folder."""
    box, data = canvas(page), {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    session = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        told = {"type": kind, "x": box["x"] + 200, "y": box["y"] + 200, "data": data}
        session.send("Input.dispatchDragEvent", told)
    session.detach()


def keep(page, screenshots, name):
    if screenshots is not None:
        page.screenshot(path=screenshots / f"{name}.png", full_page=True)


def test_hover_shows_the_object_and_the_nearest_row(window, live, screenshots):
    page = open_page(window(), live.address)
    before, box = shown(page), canvas(page)
    page.mouse.move(box["x"] + 250, box["y"] + 180)
    page.wait_for_function(
        "performance.getEntriesByName('pointer to picture').length > 0", timeout=10_000
    )
    assert shown(page) != before
    assert shown(page, 1).startswith("row ")
    assert "support" in page.locator("[aria-live]").first.inner_text()
    keep(page, screenshots, "light")


def test_two_clicks_show_the_way_and_the_address_restores_it(window, live):
    page = open_page(window(), live.address)
    box = canvas(page)
    page.mouse.click(box["x"] + 200, box["y"] + 150)
    page.wait_for_function("location.search.includes('stops')")
    first = page.evaluate("location.search")
    page.mouse.click(box["x"] + 400, box["y"] + 300)
    page.wait_for_selector(".strip svg svg")
    assert page.locator(".strip svg svg").count() == 9
    page.wait_for_function(f"location.search !== {first!r}")
    again = open_page(window(), page.evaluate("location.href"))
    again.wait_for_selector(".strip svg svg")
    assert again.locator(".strip svg svg").count() == 9


def press(page, locator, key):
    """Press a key once; return when the address has followed."""
    before = page.evaluate("location.search")
    locator.press(key)
    page.wait_for_function(f"location.search !== {before!r}")


def test_the_keyboard_alone_suffices(window, live):
    page = open_page(window(), live.address)
    before = shown(page)
    slider = page.locator(".noUi-handle").first
    mark = page.get_by_role("button", name="Mark this place")
    press(page, slider, "ArrowRight")
    assert shown(page) != before
    press(page, mark, "Enter")
    press(page, slider, "ArrowRight")
    press(page, mark, "Enter")
    page.wait_for_selector(".strip svg svg")


def test_colors_and_dark_pages(window, live, screenshots):
    page = open_page(window(color_scheme="dark"), live.address)
    assert page.url.endswith("theme=dark")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert sum(int(v) for v in re.findall(r"\d+", paper)[:3]) < 200
    page.locator("select").first.select_option("error")
    page.get_by_text("distance from the map").wait_for()
    keep(page, screenshots, "dark")
    page.locator("#theme").click()
    page.wait_for_url("**theme=default**")
    page.wait_for_selector("#first", state="detached")


def test_a_table_is_dropped_and_one_that_does_not_fit_says_why(
    window, live, digits, tmp_path, screenshots, monkeypatch
):
    page = open_page(window(), live.address)
    pd.DataFrame(digits[0][:4] + 1).to_csv(tmp_path / "new.csv", index=False)
    drop(page, tmp_path / "new.csv")
    page.get_by_text("4 of 4 rows are shown as stars").wait_for()
    keep(page, screenshots, "dropped")
    pd.DataFrame({TAG: [1.0]}).to_csv(tmp_path / "bad.csv", index=False)
    page.locator("input[type=file]").set_input_files(tmp_path / "bad.csv")
    page.get_by_text("it has 1 columns of numbers, expected 64").wait_for()
    monkeypatch.setattr("isthmus.explorer.tables.MOST_BYTES", 100)
    drop(page, tmp_path / "new.csv")
    page.get_by_text("a page takes 100").wait_for()
    assert page.evaluate("window.stolen") is None


def test_a_way_is_drawn_by_dragging_and_played(window, live, screenshots):
    page = open_page(window(), live.address)
    box = canvas(page)
    page.get_by_title("draw a way").click()
    page.locator(".bk-active[title='draw a way']").wait_for()
    page.mouse.move(box["x"] + 150, box["y"] + 300)
    page.mouse.down()
    for i in range(30):
        page.mouse.move(box["x"] + 150 + 12 * i, box["y"] + 300 - 180 * np.sin(i / 9))
    page.mouse.up()
    page.locator(".strip svg svg").nth(8).wait_for()
    play = page.locator("button.play")
    play.focus()
    page.keyboard.press("Enter")
    seen = shown(page)
    for _ in range(3):  # each step is another picture
        picture = page.locator("svg[role=img]").first
        expect(picture).not_to_have_attribute("aria-label", seen, timeout=60_000)
        seen = shown(page)
    page.locator("button.pause").click()
    keep(page, screenshots, "drawn")
    again = open_page(window(), page.evaluate("location.href"))
    again.locator(".strip svg svg").nth(8).wait_for()


def test_files_are_saved(window, live):
    page = open_page(window(), live.address)
    found = {}
    for name in ("Save picture", "Save rows (csv)"):
        with page.expect_download() as download:
            page.get_by_text(name).click()
        found[name] = download.value.path().read_text()
    assert found["Save picture"].startswith("<svg xmlns")
    head, row = found["Save rows (csv)"].splitlines()
    assert head.split(",")[:4] == ["coordinate_1", "coordinate_2", "coordinate_3", "column 1"]
    assert len(row.split(",")) == 67


def test_a_small_screen_works(window, live, screenshots):
    page = open_page(window(viewport={"width": 390, "height": 800}), live.address)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    keep(page, screenshots, "small")


def test_any_direction_is_asked_and_headers_stay_text(window, circle, screenshots):
    model, rows = circle
    live = explore(model, np.roll(rows, -5, axis=0), names=[TAG, "b"], browser=False)
    page = open_page(window(), live.address)
    page.get_by_text("Ask in any direction").click()
    page.get_by_text("Several answers are as good").wait_for()
    costs = page.get_by_text(re.compile(r"^answer \d: cost"))
    assert costs.count() == 2
    page.locator("th", has_text=TAG).wait_for()
    assert page.evaluate("window.stolen") is None
    assert page.locator("img").count() == 0
    page.get_by_label("Known columns").fill("b")
    page.keyboard.press("Enter")
    page.locator("tr", has_text="-0.3153").wait_for()
    assert page.get_by_text(f"{TAG}:").count() > 0  # the slider's name
    keep(page, screenshots, "complete")
    live.close()


def test_a_map_is_asked(window, screenshots):
    X = np.linspace(0, 1, 40)[:, None]
    Y = np.c_[np.sin(6 * X), np.cos(6 * X)]
    model = DependencyEstimator(y_features=KernelPCA(0.95)).fit(X, Y)
    live = explore(model, X, Y, names=["angle"], browser=False)
    page = open_page(window(), live.address)
    page.get_by_text("Training pairs that count most").wait_for()
    page.get_by_text("Compare pre-image solvers").click()
    page.get_by_text("FixedPoint:").wait_for()
    keep(page, screenshots, "answer")
    live.close()


def test_text_in_a_table_is_chosen_and_stays_text(window):
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4], TAG: ["x", TAG, "x", TAG]})

    class ByKind:
        def predict(self, X):
            return np.c_[X["a"].to_numpy() + 10 * (X[TAG] == "x")]

    live = explore(ByKind(), frame, browser=False, title=TAG)
    page = open_page(window(), live.address)
    output = page.locator("svg[aria-label='the output'] text").last
    assert output.inner_html() == "11"
    page.locator("select").select_option(TAG)
    expect(output).to_have_text("1")
    assert page.locator("img").count() == 0
    assert page.evaluate("window.stolen") is None
    live.close()


def test_closing_the_page_ends_it(window, circle, monkeypatch):
    model, rows = circle
    monkeypatch.setattr("isthmus.explorer.page.server._GRACE", 1.0)
    live = explore(model, rows, browser=False)
    one = window()
    open_page(one, live.address)
    assert not live.wait(0)
    one.page.close()
    assert live.wait(60)


def test_a_notebook_shows_the_page_and_may_hide_it(window, circle, tmp_path, monkeypatch):
    model, rows = circle
    monkeypatch.setattr("isthmus.explorer.opening._in_notebook", lambda: True)
    monkeypatch.setattr("isthmus.explorer.page.server._GRACE", 0.1)
    live = explore(model, rows)  # opens no window
    bundle = live._repr_mimebundle_()
    assert bundle["text/plain"] == repr(live)
    (tmp_path / "notebook.html").write_text(f"<!DOCTYPE html>{bundle['text/html']}")
    page = window().page
    page.goto((tmp_path / "notebook.html").as_uri(), wait_until="commit")
    frame = page.frame_locator("iframe")
    frame.get_by_role("button", name="Mark this place").click()
    frame.get_by_text("The way begins here").wait_for()
    page.goto("about:blank")  # the cell has been scrolled out of sight
    assert not live.wait(2)
    page.goto((tmp_path / "notebook.html").as_uri(), wait_until="commit")
    frame.get_by_role("button", name="Mark this place").wait_for()
    live.close()
    assert live.wait(0)


# The file -------------------------------------------------------------------------------


def test_an_export_works_without_a_network(window, plane, digits, tmp_path, screenshots):
    path = tmp_path / "page.html"
    explore(plane, *digits, export=path, title=TAG)
    one = window()
    one.context.set_offline(True)
    page = one.page
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready=true]")
    assert page.locator("#strip svg").count() == 9
    before, box = shown(page), page.locator("#plane").bounding_box()
    page.mouse.move(box["x"] + 250, box["y"] + 180)
    assert shown(page) != before
    page.locator("#color").select_option("1")
    assert "distance from the map" in page.locator("#legend").inner_text()
    page.locator("#plane").focus()
    here = page.locator("#facts").inner_text()
    page.keyboard.press("ArrowLeft")
    assert page.locator("#facts").inner_text() != here
    page.keyboard.press("Escape")
    assert page.locator("#strip svg").count() == 0
    for _ in range(2):
        page.keyboard.press("Enter")
        page.keyboard.press("ArrowUp")
    assert page.locator("#strip svg").count() == 9
    page.locator("#theme").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.locator("h1").inner_text() == TAG
    assert page.evaluate("window.stolen") is None
    keep(page, screenshots, "export")


def test_exported_answers_work_without_a_network(window, tmp_path, screenshots):
    path, X = tmp_path / "page.html", np.linspace(0, 1, 40)[:, None]
    Y = np.c_[np.sin(6 * X), np.cos(6 * X)]
    explore(DependencyEstimator().fit(X, Y), X, Y, names=[TAG], export=path, title=TAG)
    one = window()
    one.context.set_offline(True)
    page = one.page
    page.goto(f"{path.as_uri()}#row=5")
    page.wait_for_selector("html[data-ready=true]")
    assert page.locator("#which").inner_text() == "5 (6 of 40)"
    page.get_by_text("Training pairs that count most").wait_for()
    assert page.locator("figcaption", has_text="in the table").count() == 1
    page.locator("#row").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#which").inner_text() == "6 (7 of 40)"
    page.get_by_role("button", name="Next row").press("Enter")
    assert page.url.endswith("#row=7")
    page.locator("#theme").click()
    assert page.evaluate("window.stolen") is None
    assert page.locator("#pairs figure").count() > 1
    keep(page, screenshots, "export_asked")
