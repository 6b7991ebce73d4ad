"""The one decorator of compiled loops: a cache that finds a folder, a word when compiling lasts.

Compiled code is kept on disk beside the source or in the user's cache folder, as numba does. Where
neither can be written, as in a container with a read-only installation, numba refuses to import
the module; here a private folder among the temporary files takes over, and failing that the code
is compiled anew in every process.
"""

from __future__ import annotations

import gc
import logging
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import event

from isthmus._inner_loops import WAYS, guard

LOG = logging.getLogger("isthmus")
PATIENCE = 1.0  # seconds of compiling before it is worth a line


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """numba's ``njit`` with ``cache=True`` wherever the result can be kept.

    A loop whose name begins with an underscore, or that is said to be ``inner``, can be called from
    other loops alone: see :mod:`isthmus._inner_loops`. None has
    threads of numba's: they spin beside those of BLAS, and do not survive a fork. A loop with
    ``nogil=True`` is shared by :func:`isthmus.linalg.threads.rest_in_threads`.

    >>> @njit
    ... def twice(x):
    ...     return 2 * x
    >>> twice(3)
    6
    """
    if function is None:
        return lambda function: njit(function, **options)
    inner = options.pop("inner", function.__name__.startswith("_"))
    if WAYS:
        options |= {"pipeline_class": WAYS[inner]}
    try:
        loop = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder beside the source, none of the user
        loop = _njit_elsewhere(function, options)
    if loop is function:  # NUMBA_DISABLE_JIT
        return loop
    if WAYS:
        guard(loop, inner=inner)
    return _without_literals(loop)


def _without_literals(loop: Any) -> Any:
    """Let a loop that is called from another be compiled for the type of a constant, not for it.

    numba compiles ``settle(m)`` twice where ``m`` starts as the constant 0 and is an int later:
    for the literal and for int64. LLVM sees constants anyway when it inlines.
    """
    template = loop.get_call_template
    loop.get_call_template = lambda args, kws: template(
        [numba.types.unliteral(arg) for arg in args],
        {name: numba.types.unliteral(arg) for name, arg in kws.items()},
    )
    return loop


def _njit_elsewhere(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    folder = temporary_folder()
    if folder is None:
        return numba.njit(**options)(function)
    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = folder  # read when the function is decorated, and only then
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # source that numba cannot date, as typed into an interpreter
        return numba.njit(**options)(function)
    finally:
        config.CACHE_DIR = before


@cache
def temporary_folder() -> str | None:
    """A folder among the temporary files that only this user can write; None where there is none.

    Cached code is executed when it is loaded, so a folder of another user, or one that others can
    write, is not used. It is sought once in a process, and a line says what was decided.
    """
    owner = os.getuid() if hasattr(os, "getuid") else "user"
    folder = Path(tempfile.gettempdir()) / f"isthmus-compiled-{owner}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        state = folder.lstat()
        foreign = owner != "user" and (state.st_uid != owner or bool(state.st_mode & 0o022))
        if foreign or not folder.is_dir() or folder.is_symlink():
            raise OSError("the folder belongs to somebody else")
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        LOG.warning(
            "No folder can be written for compiled loops: they are compiled again in every "
            "process. Set NUMBA_CACHE_DIR to a folder that can."
        )
        return None
    LOG.warning(
        "Neither the folder of the package nor the cache folder of the user can be written: "
        "compiled loops are kept in %s. Set NUMBA_CACHE_DIR to choose another folder.",
        folder,
    )
    return str(folder)


class CompileWatch(event.Listener):
    """Say once per process that a loop is being compiled, when that takes over a second.

    On a terminal this is a line on standard error; elsewhere a message of the logger ``isthmus`` at
    level INFO, which nobody sees who has not asked for it.
    """

    def __init__(self) -> None:
        self._depth = 0  # a loop compiles the loops it calls
        self._timer: threading.Timer | None = None
        self._said = False

    def on_start(self, event: event.Event) -> None:
        self._depth += 1
        function = event.data["dispatcher"].py_func
        if self._depth > 1 or self._said or not function.__module__.startswith("isthmus"):
            return
        self._timer = threading.Timer(PATIENCE, self._say, [function])
        self._timer.daemon = True
        self._timer.start()

    def on_end(self, event: event.Event) -> None:
        self._depth -= 1
        if self._depth == 0 and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _say(self, function: Callable[..., Any]) -> None:
        self._said = True
        name = f"{function.__module__}.{function.__name__}"
        text = f"compiling {name} for its first use; `isthmus warmup` compiles everything at once"
        if sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[2Kisthmus: {text}\n")
        else:
            LOG.info(text)


class CollectorPause(event.Listener):
    """Let Python's collector rest while a loop is compiled, with all the loops that it calls.

    numba makes many objects that stay; the collector would look at all of them again and again.
    Compilations do not overlap: numba has one lock for all.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._ran = False  # before the outermost loop began

    def on_start(self, event: event.Event) -> None:
        if self._depth == 0:
            self._ran = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: event.Event) -> None:
        self._depth -= 1
        if self._depth == 0 and self._ran:
            gc.enable()


event.register("numba:compile", CompileWatch())
event.register("numba:compile", CollectorPause())
