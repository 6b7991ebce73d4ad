"""Small maps with a known shape, and a browser where there is one."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits

pytest.importorskip("panel")
pytest.importorskip("bokeh")

from isthmus.features import KernelPCA
from isthmus.manifold import BaseLatentMap, Domain, MapValues

# Without a display, a sandbox, a graphics card or a network.
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


class Circle(BaseLatentMap):
    """A stranger's latent map: angles to points of the unit circle."""

    domain = Domain(0.0, 2 * np.pi, periodic=True)

    def fit(self, X, y=None):
        self.n_features_in_ = 2
        return self

    def evaluate(self, Z, jacobian=False):
        x, y = np.cos(Z), np.sin(Z)
        slope = np.stack([-y, x], axis=1) if jacobian else None
        return MapValues(np.hstack([x, y]), slope, np.ones(len(Z), dtype=bool))


class OneWay(BaseEstimator):
    """Coordinates without a way back."""

    def fit(self, X, y=None):
        self.n_features_in_ = np.shape(X)[1]
        return self

    def transform(self, X):
        return np.asarray(X)[:, :2]


@pytest.fixture(scope="session", autouse=True)
def patient():
    """A busy machine makes no map slow: what is shown must not depend on it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("isthmus.explorer.exploration.SLOW", 60.0)
        yield


@pytest.fixture(scope="session")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:120], y[:120]


@pytest.fixture(scope="session")
def plane(digits):
    """A feature space with a closed way back."""
    return KernelPCA(3, kernel="linear").fit(digits[0])


@pytest.fixture
def circle():
    angles = np.linspace(0, 6, 25)
    rows = np.c_[np.cos(angles), np.sin(angles)]
    return Circle().fit(rows), rows


@pytest.fixture
def one_way():
    return OneWay().fit(np.zeros((3, 4)))


def find_chromium():
    """The system's browser, or None."""
    told = os.environ.get("ISTHMUS_CHROMIUM")
    names = [told] if told else ["chromium", "chromium-browser", "google-chrome"]
    return next((found for name in names if (found := shutil.which(name))), None)


@pytest.fixture(scope="module")
def browser():
    """One browser for all tests of a file."""
    playwright = pytest.importorskip("playwright.sync_api")
    path = find_chromium()
    if path is None:
        pytest.skip("there is no chromium on this machine: apt-get install chromium")
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(executable_path=path, args=FLAGS)
        yield found
        found.close()


class Window:
    """A page of the browser that remembers what went wrong in it, and what it asked of whom."""

    def __init__(self, browser, **options):
        options.setdefault("viewport", {"width": 1200, "height": 900})
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.problems, self.requests = [], []
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", self._heard)
        self.page.on("request", lambda request: self.requests.append(request.url))

    def _heard(self, message):
        if message.type in ("error", "warning"):
            self.problems.append(message.text)

    def close(self):
        self.context.close()


@pytest.fixture
def window(browser):
    """Open windows, all closed after the test, each without a word of complaint."""
    opened = []

    def make(**options):
        opened.append(Window(browser, **options))
        return opened[-1]

    yield make
    for one in opened:
        one.close()
        assert one.problems == []
        # Nobody but this machine is asked for anything.
        own = ("file:", "data:", "blob:", "about:", "http://127.0.0.1:")
        assert [url for url in one.requests if not url.startswith(own)] == []


@pytest.fixture
def screenshots():
    """Where pictures of the page go, if somebody wants to look at them."""
    folder = os.environ.get("ISTHMUS_SCREENSHOTS")
    return None if folder is None else Path(folder)
