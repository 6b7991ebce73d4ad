"""``isthmus.explore``: a model, its rows, and a page to look into it."""

import os
import webbrowser
from collections.abc import Callable
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from isthmus._extras import load_extra
from isthmus.explorer.answers import Answers, answers_of
from isthmus.explorer.exploration import Exploration, exploration_of
from isthmus.explorer.rows import Rows, make_rows


class Page:
    """A page that is open; in a notebook it shows itself, below the cell that ends with it.

    In a notebook it stays until :meth:`close` or the end of the kernel; elsewhere it ends with its
    last window.

    Attributes
    ----------
    address : str
        Where the page is, on this machine only. The last part is a secret.
    """

    __module__ = "isthmus.explorer"

    def __init__(self, server: Any):
        self._server = server
        self.address: str = server.address

    def wait(self, seconds: float | None = None) -> bool:
        """Return when the last window of the page is closed: True, or False if it takes longer."""
        return bool(self._server.wait(seconds))

    def close(self) -> None:
        """End the page."""
        self._server.close()

    def __repr__(self) -> str:
        return f"Page({self.address!r})"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return what a notebook shows: the page itself, or its address where there is no HTML."""
        return {"text/html": self._repr_html_(), "text/plain": repr(self)}

    def _repr_html_(self) -> str:
        return (
            f'<iframe src="{escape(self.address)}" title="explorer" width="100%" height="820" '
            'style="border:0"></iframe>'
        )


def explore(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    kind: Any = None,
    input_kind: Any = None,
    names: Any = None,
    title: str | None = None,
    port: int = 0,
    browser: bool | None = None,
    export: str | os.PathLike[str] | None = None,
) -> Page | None:
    """Walk through what a fitted model has learned, in the browser.

    The model needs coordinates with a way back to objects: every latent map of
    :mod:`isthmus.manifold`, feature maps with ``inverse_transform`` such as
    :class:`isthmus.features.KernelPCA`, a pipeline that ends in one. Models that predict
    (:class:`isthmus.structured.DependencyEstimator`, conformal sets, any regressor) get a page with
    fields for their inputs.

    Parameters
    ----------
    model : fitted estimator or pipeline, or the path of a model file
        A file is read by :func:`isthmus.load`, which runs no code.
    X : array-like, DataFrame or list of objects, optional
        Rows to show: those of the fit, or others. A map that remembers its rows does without.
    y : array-like or list of objects, optional
        Labels of the rows, or the outputs that belong to them where the model predicts.
    kind : str, KinematicChain or None, default=None
        How an object is drawn: ``"image:28x28"``, ``"curve"``, ``"bars"``, ``"sequence"``,
        ``"labels"``, ``"graph"``, ``"chain:pa10"``, ``"strokes"``, ``"numbers"``. None guesses.
    input_kind : str, KinematicChain or None, default=None
        The same for the inputs of a model that predicts; ``kind`` is that of its outputs.
    names : list of str, optional
        Names of the columns; those of a data frame are known.
    title : str, optional
        What stands above the page; by default the name of the model's class.
    port : int, default=0
        Where the page listens, on the loopback only; 0 takes a free port.
    browser : bool or None, default=None
        Whether a window is opened. None opens one unless this is a notebook, where the page
        shows itself.
    export : path, optional
        Write the page to one file that needs neither Python nor a network, and open none: objects
        on a grid of places, or the answers for rows of the table where the model predicts.

    Returns
    -------
    Page, or None with ``export``

    Raises
    ------
    ValueError
        If the model cannot be explored or the rows do not fit it; the message is one line.

    Examples
    --------
    >>> import os, tempfile
    >>> import isthmus
    >>> from isthmus.features import KernelPCA
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> pca = KernelPCA(2, kernel="linear").fit(X[:100])
    >>> path = os.path.join(tempfile.mkdtemp(), "digits.html")
    >>> isthmus.explore(pca, X[:100], y[:100], export=path)
    >>> os.path.getsize(path) > 100_000
    True
    """
    if find_spec("panel") is None:
        load_extra("panel", "explore", "isthmus.explore")
    if isinstance(model, (str, os.PathLike)):
        from isthmus.files.store import load

        model = load(model)
    rows = None if X is None else make_rows(X, y, names)
    exploration, answers = views_of(model, rows, X, y, kind=kind, input_kind=input_kind)
    heading = title or (exploration.title if exploration is not None else answers.title)
    return open_page(exploration, answers, heading, port=port, browser=browser, export=export)


def views_of(
    model: Any, rows: Rows | None, X: Any, y: Any, *, kind: Any = None, **told: Any
) -> tuple[Exploration | None, Any]:
    """Return what can be walked and what can be asked of a model.

    Raises
    ------
    DoesNotFit
        If it is neither; the message says why it cannot be walked.
    """
    if callable(getattr(model, "predict", None)) and not hasattr(model, "project"):
        frame = X if hasattr(X, "iloc") else None
        return None, answers_of(model, rows, y, kind=kind, frame=frame, **told)
    return exploration_of(model, rows, kind=kind), None  # the rest is about predictions


def open_page(
    exploration: Exploration | None,
    answers: Answers | None,
    title: str,
    *,
    port: int = 0,
    browser: bool | None = None,
    export: Any = None,
    announce: Callable[[str], None] | None = None,
) -> Page | None:
    """Write the page to a file, or serve it and open a window.

    ``announce`` is told the address as soon as the first picture can be seen there.
    """
    if export is not None:
        _write(exploration, answers, Path(export), title)
        return None
    from isthmus.explorer.page.answering import first_html
    from isthmus.explorer.page.server import LocalServer

    first, stay = first_html(exploration, answers), _in_notebook()
    server = LocalServer(port=port, title=title, first=first, stay=stay).start()
    if announce is not None:
        announce(server.address)
    if browser or (browser is None and not stay):
        webbrowser.open(server.address)
    from isthmus.explorer.page.app import session  # loads Panel, which takes a while

    server.show(session(exploration, answers, title))
    return Page(server)


def _write(
    exploration: Exploration | None, answers: Answers | None, path: Path, title: str
) -> None:
    from isthmus.explorer.export.filling import write_text

    if exploration is not None:
        from isthmus.explorer.export.walked import page_text  # loads Bokeh

        write_text(path, lambda: page_text(exploration, title))
    elif answers is not None:
        from isthmus.explorer.export.asked import answers_text

        write_text(path, lambda: answers_text(answers, title))


def _in_notebook() -> bool:
    try:
        return get_ipython().__class__.__name__ == "ZMQInteractiveShell"  # type: ignore[name-defined]
    except NameError:
        return False
