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
    page.goto(address)
    page.wait_for_selector("svg[role=img]")
    page.wait_for_function("Bokeh.documents.length && Bokeh.documents[0].is_idle")
    page.wait_for_timeout(500)
    return page, page.locator(".bk-Canvas").first.bounding_box()


def latencies(browser, model, X, n_moves: int) -> np.ndarray:
    """Milliseconds from pointer to picture, a move every 30 ms."""
    live = explore(model, X, kind=f"image:{int(X.shape[1] ** 0.5)}x{int(X.shape[1] ** 0.5)}",
                   browser=False)  # fmt: skip
    page, box = opened(browser, live.address)
    for i in range(n_moves):
        angle = 2 * np.pi * i / 60
        page.mouse.move(
            box["x"] + 320 + 150 * np.cos(angle), box["y"] + 220 + 120 * np.sin(1.3 * angle)
        )
        page.wait_for_timeout(30)
    page.wait_for_timeout(500)
    found = page.evaluate(
        "performance.getEntriesByName('pointer to picture').map((e) => e.duration)"
    )
    page.close()
    live.close()
    return np.array(found[3:])


def opening(browser, folder: Path, X) -> float:
    """Seconds from the start of ``isthmus explore`` to the first picture."""
    save(KernelPCA(2, kernel="linear").fit(X), folder / "m.isthmus")
    np.savez(folder / "t.npz", X=X)
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    command = [sys.executable, "-m", "isthmus.cli", "explore", str(folder / "m.isthmus")]
    begun = time.perf_counter()
    running = subprocess.Popen(
        [*command, str(folder / "t.npz"), "--no-browser"], stdout=subprocess.PIPE, text=True
    )
    address = running.stdout.readline().strip()
    page.goto(address)
    page.wait_for_selector("svg[role=img]")
    spent = time.perf_counter() - begun
    page.close()
    running.wait(30)
    return spent


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


def busy() -> str:
    """How many others wanted the processors."""
    return f"{os.getloadavg()[0]:.1f} processes on {os.cpu_count()} processors"


def rows(browser, quick: bool) -> list[tuple[str, str, str]]:
    rng = np.random.default_rng(0)
    n, moves = (1000, 40) if quick else (10_000, 150)
    X, places = pictures(n, 32, rng)
    found = []
    closed = latencies(browser, LocalMeans().fit(X, places), X, moves)
    small = X[: n // 5]
    iterated = latencies(browser, KernelPCA(6, random_state=0).fit(small), small, moves)
    for name, times in (
        (f"closed inverse, {n} x 1024", closed),
        (f"iterated pre-image, {len(small)} x 1024", iterated),
    ):
        told = f"{np.median(times):.0f} ms, 95 %: {np.quantile(times, 0.95):.0f} ms"
        found.append((f"pointer to picture, {name}", told, "50 ms, 95 %: 100 ms"))
    with tempfile.TemporaryDirectory() as folder:
        spent = min(opening(browser, Path(folder), X[:1000]) for _ in range(2))
    found.append(("saved model to first picture", f"{spent:.1f} s", "3 s"))
    n_points = 10_000 if quick else 100_000
    rate = panning(browser, n_points, rng)
    found.append((f"panning {n_points} points", f"{rate:.0f} frames/s", "30 frames/s"))
    return found


def main() -> None:
    """Print the table; the whole run also writes it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller tables, nothing is written")
    quick = parser.parse_args().quick
    path = os.environ.get("ISTHMUS_CHROMIUM") or shutil.which("chromium")
    if path is None:
        sys.exit("there is no chromium on this machine")
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path, args=FLAGS)
        lines = ["| what | measured | goal |", "|---|---|---|"]
        lines += [f"| {a} | {b} | {c} |" for a, b, c in rows(browser, quick)]
        browser.close()
    lines = [*lines, "", f"Measured while {busy()} ran."]
    print("\n".join(lines))
    if not quick:
        head = ["# The explorer in the browser", "", "`python -m benchmarks.explorer`", ""]
        PAGE.write_text("\n".join([*head, *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
