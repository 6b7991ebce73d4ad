"""``python -m benchmarks.explorer``: how fast the explorer's page answers, measured in the browser.

Pointer to picture: from a movement of the pointer to the frame in which the object under it is
drawn, by the browser's own clock, for a latent map of 10 000 rows of 1024 columns whose inverse is
closed, and for a kernel PCA whose pre-image iterates. Opening: from the start of the command, with
a saved model, to the first picture. Panning: frames per second while 100 000 points are dragged.

It needs Chromium (``ISTHMUS_CHROMIUM`` names another browser), drawn by the processor alone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from playwright.sync_api import sync_playwright

from isthmus import explore, save
from isthmus.features import KernelPCA
from isthmus.manifold import BaseLatentMap, MapValues

PAGE = Path(__file__).parent / "results" / "explorer.md"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# The frames of a second, counted while the pointer drags.
COUNT_FRAMES = """
() => { window.frames_seen = 0; window.stop = false
  const each = () => { window.frames_seen += 1; if (!window.stop) requestAnimationFrame(each) }
  requestAnimationFrame(each) }
"""


HEAD = [
    "# The explorer in the browser",
    "",
    "Written by `python -m benchmarks.explorer`, in Chromium without a graphics card. The last",
    "column is the machine's load average over the minute before, other programs included.",
    "",
]
Rows = list[tuple[str, str, str]]


class Size(NamedTuple):
    """How much is measured."""

    rows: int = 10_000
    moves: int = 150
    openings: int = 3
    points: int = 100_000


class LocalMeans(BaseLatentMap):
    """Means of rows weighted by a Gaussian around a latent place: a map with a closed inverse.

    The same sum over all rows as unsupervised kernel regression evaluates, without its training,
    which would take an hour at this size.
    """

    def fit(self, X, y=None):
        Y = np.asarray(X, dtype=float)
        self.embedding_ = np.asarray(y, dtype=float)
        self.outputs_, self.n_features_in_ = Y, Y.shape[1]
        return self

    def evaluate(self, Z, jacobian=False):
        far = ((Z[:, None] - self.embedding_[None]) ** 2).sum(axis=2)
        weights = np.exp(-20 * (far - far.min(axis=1, keepdims=True)))
        values = weights @ self.outputs_ / weights.sum(axis=1, keepdims=True)
        return MapValues(values, None, np.ones(len(Z), dtype=bool))

    def starts(self):
        return self.embedding_[:500], self.outputs_[:500]


def pictures(n: int, side: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Spots of light at random places, (n, side²), and these places."""
    place = rng.uniform(0.2, 0.8, size=(n, 2)) * side
    grid = np.arange(side)
    x = np.exp(-((grid - place[:, :1]) ** 2) / (side / 2))
    y = np.exp(-((grid - place[:, 1:]) ** 2) / (side / 2))
    return np.einsum("ni,nj->nij", y, x).reshape(n, -1), place / side * 4


def opened(browser, address: str):
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.set_default_timeout(120_000)
    page.goto(address)
    page.wait_for_selector("#first", state="detached")
    page.wait_for_timeout(500)
    return page, page.locator(".bk-Canvas").first.bounding_box()


def pointer(browser, model, X, n_moves: int) -> tuple[np.ndarray, float]:
    """Milliseconds from pointer to picture, a move every 30 ms; seconds until the last is final."""
    side = int(X.shape[1] ** 0.5)
    live = explore(model, X, kind=f"image:{side}x{side}", browser=False)
    page, box = opened(browser, live.address)
    for i in range(n_moves):
        angle = 2 * np.pi * i / 60
        page.mouse.move(
            box["x"] + 320 + 150 * np.cos(angle), box["y"] + 220 + 120 * np.sin(1.3 * angle)
        )
        page.wait_for_timeout(30)
    begun = time.perf_counter()
    page.wait_for_timeout(100)
    page.get_by_text("here", exact=True).wait_for()
    refined = time.perf_counter() - begun
    found = page.evaluate(
        "performance.getEntriesByName('pointer to picture').map((e) => e.duration)"
    )
    page.close()
    live.close()
    return np.array(found[3:]), refined


def opening(browser, folder: Path) -> tuple[float, float]:
    """Seconds from the start of ``isthmus explore`` to the first picture, and to the whole page."""
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    command = [sys.executable, "-m", "isthmus.cli", "explore", str(folder / "m.isthmus")]
    begun = time.perf_counter()
    running = subprocess.Popen(
        [*command, str(folder / "t.npz"), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    address = running.stdout.readline().strip()
    page.goto(address)
    page.wait_for_selector("svg[role=img]")
    first = time.perf_counter() - begun
    page.wait_for_function("window.Bokeh?.documents?.[0]?.is_idle")
    whole = time.perf_counter() - begun
    page.close()
    running.terminate()
    running.wait()
    return first, whole


def panning(browser, n: int, rng: np.random.Generator) -> float:
    """Frames per second while a map of ``n`` points is dragged."""
    X = rng.normal(size=(n, 3))
    live = explore(KernelPCA(2, kernel="linear").fit(X), X, browser=False)
    page, box = opened(browser, live.address)
    page.mouse.move(box["x"] + 300, box["y"] + 200)
    page.mouse.down()
    page.evaluate(COUNT_FRAMES)
    begun = time.perf_counter()
    for i in range(60):
        page.mouse.move(box["x"] + 300 + 2 * i, box["y"] + 200 + i)
    spent = time.perf_counter() - begun
    seen = page.evaluate("() => { window.stop = true; return window.frames_seen }")
    page.mouse.up()
    page.close()
    live.close()
    return seen / spent


def closed(browser, size: Size) -> Rows:
    """A map whose inverse is closed."""
    X, places = pictures(size.rows, 32, np.random.default_rng(0))
    times, _ = pointer(browser, LocalMeans().fit(X, places), X, size.moves)
    return [(f"pointer to picture, closed inverse, {size.rows} x 1024", *_told(times))]


def iterated(browser, size: Size) -> Rows:
    """A map whose pre-image iterates: a learned one answers first."""
    X, _ = pictures(size.rows, 32, np.random.default_rng(0))
    model = KernelPCA(6, random_state=0).fit(X)
    times, refined = pointer(browser, model, X, size.moves)
    name = f"kernel PCA, {size.rows} x 1024"
    return [
        (f"pointer to first guess, {name}", *_told(times)),
        (f"pointer at rest to refined picture, {name}", f"{refined:.1f} s", ""),
    ]


def _told(times: np.ndarray) -> tuple[str, str]:
    told = f"{np.median(times):.0f} ms, 95 %: {np.quantile(times, 0.95):.0f} ms"
    return told, "50 ms, 95 %: 100 ms"


def first_picture(browser, size: Size) -> Rows:
    """From the command to the page, for a small model and for one whose pre-image iterates."""
    small, _ = pictures(1000, 32, np.random.default_rng(0))
    large, _ = pictures(size.rows, 32, np.random.default_rng(0))
    plain, curved = KernelPCA(2, kernel="linear"), KernelPCA(6, random_state=0)
    return [
        *_opened(browser, plain.fit(small), small, "saved model", size),
        *_opened(browser, curved.fit(large), large, f"kernel PCA, {size.rows} x 1024,", size),
    ]


def _opened(browser, model, X, name: str, size: Size) -> Rows:
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder) / "m.isthmus")
        np.savez(Path(folder) / "t.npz", X=X)
        del model, X
        spent = [opening(browser, Path(folder)) for _ in range(size.openings)]
    first, whole = min(spent)
    note = f", best of {size.openings}"
    return [
        (f"{name} to first picture{note}", f"{first:.1f} s", "3 s"),
        (f"{name} to the page that answers the pointer{note}", f"{whole:.1f} s", ""),
    ]


def frames(browser, size: Size) -> Rows:
    """A map that is dragged."""
    rate = panning(browser, size.points, np.random.default_rng(0))
    return [(f"panning {size.points} points", f"{rate:.0f} frames/s", "30 frames/s")]


PARTS = {"closed": closed, "iterated": iterated, "opening": first_picture, "panning": frames}


def busy() -> str:
    """How many processes wanted the processors in the last minute."""
    return f"{os.getloadavg()[0]:.1f} on {os.cpu_count()}"


def written(path: Path) -> dict[str, str]:
    """The lines that the page has, by what they measure."""
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    return {line.split("|")[1].strip(): line for line in lines if line.startswith("| ")}


def main() -> None:
    """Print the table; runs of full size also write it, each part its own lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller tables, nothing is written")
    parser.add_argument("--only", choices=PARTS, help="one part; the page keeps the others' lines")
    told = parser.parse_args()
    path = os.environ.get("ISTHMUS_CHROMIUM") or shutil.which("chromium")
    if path is None:
        sys.exit("there is no chromium on this machine")
    size = Size(1000, 40, 1, 10_000) if told.quick else Size()
    head, new = "| what | measured | goal | load on processors |", {}
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path, args=FLAGS)
        for name, part in PARTS.items():
            if told.only in (None, name):
                for what, found, goal in part(browser, size):
                    new[what] = f"| {what} | {found} | {goal} | {busy()} |"
        browser.close()
    lines = new if told.quick else written(PAGE) | new
    lines.pop("what", None)
    table = [head, "|---|---|---|---|", *lines.values()]
    print("\n".join(table))
    if not told.quick:
        PAGE.write_text("\n".join([*HEAD, *table, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
