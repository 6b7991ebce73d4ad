"""Compiled loops: where the result is kept, and what is said about compiling."""

import gc
import logging
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

import isthmus
from isthmus import _compiled, _inner_loops

linked = pytest.mark.skipif(
    not _inner_loops.WAYS, reason="nobody has tested inner loops with this release of numba"
)

# Permissions do not stop root, so the folders are made read-only where numba tries to write them.
READ_ONLY = """
from numba.core import caching

ensure = caching._CacheLocator.ensure_cache_path
def refuse(self):
    if not self.get_cache_path().startswith({allowed!r}):
        raise OSError("read-only file system")
    ensure(self)
caching._CacheLocator.ensure_cache_path = refuse
"""


def run(code, *, allowed, **environment):
    variables = {k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "TMPDIR")}
    return subprocess.run(
        [sys.executable, "-c", READ_ONLY.format(allowed=allowed) + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        env=variables | environment,
        timeout=120,
    )


def test_numba_alone_refuses_where_nothing_can_be_written(tmp_path):
    """The defect that the decorator is for."""
    code = f"""
    from numba import njit
    import importlib.util
    spec = importlib.util.spec_from_file_location("loop", {str(tmp_path / "loop.py")!r})
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    """
    (tmp_path / "loop.py").write_text("from numba import njit\n@njit(cache=True)\ndef f(x): ...\n")
    assert "no locator available" in run(code, allowed="nowhere").stderr


def test_a_read_only_installation_keeps_its_loops_among_the_temporary_files(tmp_path):
    code = """
    from isthmus.features import KernelPCA
    from isthmus.smoothers.pair_loops import row_sums
    import numpy as np
    x = np.zeros(1)
    row_sums(np.array([0, 2], np.int32), np.array([0.25, 0.75]), x)
    print(x, sum(row_sums.stats.cache_hits.values()))
    """
    first = run(code, allowed=str(tmp_path), TMPDIR=str(tmp_path))
    assert first.stdout.split() == ["[1.]", "0"], first.stderr
    assert len(first.stderr.splitlines()) == 1
    assert "NUMBA_CACHE_DIR" in first.stderr
    (folder,) = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    again = run(code, allowed=str(tmp_path), TMPDIR=str(tmp_path))
    assert again.stdout.split() == ["[1.]", "1"]  # loaded, not compiled


def test_without_any_folder_loops_are_compiled_in_every_process(tmp_path):
    code = """
    from isthmus.smoothers.pair_loops import row_sums
    import numpy as np
    x = np.zeros(1)
    row_sums(np.array([0, 2], np.int32), np.array([0.25, 0.75]), x)
    print(x)
    """
    # A file in the place of the folder: nothing can be made there.
    (tmp_path / f"isthmus-compiled-{os.getuid() if hasattr(os, 'getuid') else 'user'}").touch()
    ran = run(code, allowed="nowhere", TMPDIR=str(tmp_path))
    assert ran.stdout.strip() == "[1.]", ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert "every process" in ran.stderr


INNER = """
from isthmus._compiled import njit

@njit
def _entry(x, i):
    if i > 5:
        raise ValueError("beyond", i)
    return 2.0 * x[i]

@njit
def _total(x):
    total = 0.0
    for i in range(len(x)):
        total += _entry(x, i)
    return total

@njit
def first(x):
    return _total(x) + 1.0

@njit
def second(x):
    return _total(x) + _entry(x, 1)
"""


@linked
def test_inner_loops_are_linked_into_their_callers_alone(tmp_path):
    """Compiled here, loaded with their caller, and loaded for a caller that is new."""
    (tmp_path / "loops.py").write_text(INNER)
    code = f"""
    import sys
    sys.path.insert(0, {str(tmp_path)!r})
    import numpy as np
    import loops
    from numba.core.registry import cpu_target
    x, engine = np.arange(4.0), cpu_target.target_context.codegen()._engine
    for name in {{names}}:
        print(getattr(loops, name)(x))
        try:
            getattr(loops, name)(np.arange(7.0))
        except ValueError as error:
            print(*error.args)
    (known,) = loops._entry.overloads.values() or [None]
    print(known is None or engine.is_symbol_defined(known.fndesc.llvm_func_name))
    """
    for names, made in ((["first"], False), (["first"], True), (["second"], True)):
        ran = run(
            code.format(names=names), allowed=str(tmp_path), NUMBA_CACHE_DIR=str(tmp_path / "kept")
        )
        value = {"first": "13.0", "second": "14.0"}[names[0]]
        assert ran.stdout.splitlines() == [value, "beyond 6", str(made)], ran.stderr


def run_loops(folder, code, **environment):
    """Run code beside a module of loops; what it prints, by lines."""
    (folder / "loops.py").write_text(INNER)
    start = f"import sys\nsys.path.insert(0, {str(folder)!r})\nimport numpy as np\nimport loops\n"
    ran = run(
        start + textwrap.dedent(code),
        allowed=str(folder),
        NUMBA_CACHE_DIR=str(folder / "kept"),
        **environment,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


CALLS = """
from numba import njit, objmode
x = np.arange(4.0)

def told(call):
    try:
        print(call())
    except TypeError as error:
        print(type(error).__name__, str(error)[:45])

@njit
def in_python(x):
    with objmode(y="float64"):
        y = loops._total(x)
    return y

through_pointer = njit("float64(FunctionType(float64(float64[::1])), float64[::1])")(
    lambda function, x: function(x)
)
told(lambda: loops._total(x))
print(loops.first(x))
told(lambda: loops._total(x))
told(lambda: in_python(x))
told(lambda: loops._total.compile("(float64[::1],)")(x))
told(lambda: next(iter(loops._total.overloads.values())).entry_point(x))
told(lambda: through_pointer(loops._total, x))
told(lambda: through_pointer(loops.first, x))
"""


@linked
@pytest.mark.parametrize("loaded", [False, True])
def test_no_way_into_an_inner_loop_ends_in_a_crash(tmp_path, loaded):
    """A pointer to code that was never made would be one to nothing."""
    if loaded:  # its code is kept, its caller is new
        run_loops(tmp_path, "loops.second(np.arange(4.0))")
    refused = "TypeError _total is called by other compiled loops alon"
    closure = "TypeError '_dynfunc._Closure' object is not callable"
    lines = run_loops(tmp_path, CALLS)
    assert lines[1] == "13.0"
    assert [lines[0], *lines[2:4]] == [refused[: len(lines[0])]] * 3
    assert lines[4:6] == [closure[: len(lines[4])]] * 2
    assert all(line.startswith("TypeError ") for line in lines[6:8])  # in words of its release


@linked
def test_loops_chosen_while_running_are_called_through_no_pointer_to_nothing(tmp_path):
    code = """
    from numba import njit
    from numba.core.errors import TypingError
    from isthmus._compiled import njit as ours
    @ours
    def double(x):
        return 2.0 * x
    @ours
    def triple(x):
        return 3.0 * x
    @njit
    def choose(x, k):
        chosen, total = double if k > x else triple, 0.0
        for _ in range(k):
            total += chosen(x)
        return total
    try:
        print(choose(1.0, 3))
    except TypingError:
        print("refused")
    """
    (line,) = run_loops(tmp_path, code, NUMBA_OPT="0")
    assert line == "refused"


def test_functions_of_plain_numba_may_call_any_loop(tmp_path):
    """Their errors have values, which are kept beside the code of a loop, not in it."""
    code = """
    from numba import njit
    @njit
    def plain(x, i):
        return loops._entry(x, i)
    print(plain(np.arange(9.0), 4))
    try:
        plain(np.arange(9.0), 7)
    except ValueError as error:
        print(*error.args)
    """
    assert run_loops(tmp_path, code) == ["8.0", "beyond 7"]
    assert run_loops(tmp_path, code) == ["8.0", "beyond 7"]  # loaded


def test_inner_loops_may_call_each_other(tmp_path):
    code = """
    from isthmus._compiled import njit
    @njit
    def _even(n):
        if n == 0:
            return True
        return _odd(n - 1)
    @njit
    def _odd(n):
        if n == 0:
            return False
        return _even(n - 1)
    @njit
    def even(n):
        return _even(n)
    print(even(10), even(7))
    """
    assert run_loops(tmp_path, code) == ["True False"]


SETTINGS = {
    "NUMBA_DISABLE_JIT": "1",
    "NUMBA_ENABLE_CUDASIM": "1",
    "NUMBA_DEBUGINFO": "1",
    "NUMBA_OPT": "0",
    "NUMBA_BOUNDSCHECK": "1",
    "NUMBA_ENABLE_PROFILING": "1",
    "NUMBA_CPU_NAME": "generic",
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_loops_run_under_any_setting_of_numba_and_share_their_folder(tmp_path, setting):
    code = """
    print(loops.first(np.arange(4.0)), loops.second(np.arange(4.0)))
    try:
        loops.first(np.arange(7.0))
    except ValueError as error:
        print(*error.args)
    """
    for environment in ({setting: SETTINGS[setting]}, {}):
        assert run_loops(tmp_path, code, **environment) == ["13.0 14.0", "beyond 6"]


@pytest.mark.parametrize("other", ["99.0.0", "not a number"])
def test_releases_of_numba_that_nobody_tested_compile_the_plain_way(tmp_path, other):
    code = """
    x = np.arange(4.0)
    print(loops.first(x), loops._total(x), loops.second(x))
    """
    start = f"import numba\nnumba.__version__ = {other!r}\n"
    (tmp_path / "sitecustomize.py").write_text(start)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    assert run_loops(tmp_path, code, PYTHONPATH=path) == ["13.0 12.0 14.0"]


@linked
@pytest.mark.parametrize(
    ("part", "name"),
    [
        ("JITLibrary", "_finalize_dynamic_globals"),
        ("Compiler", "_compile_core"),
        ("NumbaFlags", "no_cfunc_wrapper"),
    ],
)
def test_without_the_private_parts_of_numba_nothing_is_done(monkeypatch, part, name):
    whole = getattr(_inner_loops, part)
    assert set(_inner_loops._ways()) == {False, True}

    class Lesser:
        """numba's part without one of its names."""

    for each in dir(whole):
        if each != name and not each.startswith("__"):
            setattr(Lesser, each, None)
    monkeypatch.setattr(_inner_loops, part, Lesser)
    assert _inner_loops._ways() == {}


def test_threads_and_processes_compile_and_call_at_the_same_time(tmp_path):
    code = """
    import multiprocessing
    import pickle
    from concurrent.futures import ThreadPoolExecutor
    from joblib import Parallel, delayed

    x = np.arange(4.0)
    if __name__ == "__main__":
        with ThreadPoolExecutor(4) as pool:
            calls = [pool.submit(f, x.astype(t)) for t in "fd" for f in (loops.first, loops.second)]
            print(*[call.result() for call in calls])
        if "fork" in multiprocessing.get_all_start_methods():
            with multiprocessing.get_context("fork").Pool(2) as pool:
                print(*pool.map(loops.first, [x, x.astype("f")], chunksize=1))
        else:
            print("13.0 13.0")
        print(*Parallel(2, backend="loky")(delayed(f)(x) for f in (loops.first, loops.second)))
        print(pickle.loads(pickle.dumps(loops.first)) is loops.first)
    """
    assert run_loops(tmp_path, code) == ["13.0 14.0 13.0 14.0", "13.0 13.0", "13.0 14.0", "True"]


def test_a_pickled_loop_runs_in_another_process(tmp_path):
    run_loops(
        tmp_path,
        f"""
        import pickle
        loops.first(np.arange(4.0))
        with open({str(tmp_path / "pickled")!r}, "wb") as file:
            pickle.dump((loops.first, loops._total), file)
        """,
    )
    code = f"""
    import pickle
    with open({str(tmp_path / "pickled")!r}, "rb") as file:
        first, total = pickle.load(file)
    print(first(np.arange(4.0)), total(np.arange(4.0)))
    """
    assert run_loops(tmp_path, code) == ["13.0 12.0"]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have no owner here")
def test_a_folder_that_others_can_write_is_not_used(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(_compiled.tempfile, "gettempdir", lambda: str(tmp_path))
    folder = tmp_path / f"isthmus-compiled-{os.getuid()}"
    folder.mkdir()
    folder.chmod(0o777)
    assert _compiled.temporary_folder.__wrapped__() is None
    assert "compiled again in every process" in caplog.text


def test_every_loop_goes_through_the_one_decorator():
    root = Path(isthmus.__file__).parent
    for path in sorted(root.rglob("*.py")):
        if path.name != "_compiled.py":
            text = path.read_text(encoding="utf-8")
            assert "numba.njit" not in text, path
            assert "from numba import njit" not in text, path


class Compilation:
    """One compilation that a watch sees, as long as the block."""

    def __init__(self, watch, name="loop", module="isthmus.family"):
        function = SimpleNamespace(__module__=module, __name__=name)
        self.event = SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})
        self.watch = watch

    def __enter__(self):
        self.watch.on_start(self.event)
        return self

    def __exit__(self, *_):
        self.watch.on_end(self.event)


def pending():
    return [t for t in threading.enumerate() if isinstance(t, threading.Timer)]


def wait_for_timers():
    for timer in pending():
        timer.join(5)


def test_long_compiling_is_told_once(monkeypatch, caplog):
    monkeypatch.setattr(_compiled, "PATIENCE", 0.01)
    caplog.set_level(logging.INFO, "isthmus")
    watch = _compiled.CompileWatch()
    with Compilation(watch), Compilation(watch, "called"):
        wait_for_timers()
    with Compilation(watch, "second"):
        wait_for_timers()
    assert [record.message.split()[1] for record in caplog.records] == ["isthmus.family.loop"]


def test_short_compiling_and_that_of_others_is_not_told(monkeypatch, caplog):
    caplog.set_level(logging.INFO, "isthmus")
    watch = _compiled.CompileWatch()
    with Compilation(watch):
        pass
    monkeypatch.setattr(_compiled, "PATIENCE", 0.01)
    with Compilation(watch, module="somebody.else"):
        wait_for_timers()
    assert not caplog.records
    assert not pending() or all(timer.finished.is_set() for timer in pending())


def test_on_a_terminal_a_line_is_written(monkeypatch, capsys, caplog):
    monkeypatch.setattr(_compiled, "PATIENCE", 0.01)
    caplog.set_level(logging.INFO, "isthmus")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with Compilation(_compiled.CompileWatch()):
        wait_for_timers()
    assert "compiling isthmus.family.loop" in capsys.readouterr().err
    assert not caplog.records


@pytest.mark.parametrize("collects", [True, False])
def test_the_collector_rests_while_loops_compile_and_is_then_as_before(collects):
    pause, before = _compiled.CollectorPause(), gc.isenabled()
    try:
        gc.enable() if collects else gc.disable()
        with Compilation(pause):
            with Compilation(pause, "called"):
                assert not gc.isenabled()
            assert not gc.isenabled()
        assert gc.isenabled() == collects
    finally:
        gc.enable() if before else gc.disable()


def test_loops_with_threads_survive_a_fork():
    script = """
import multiprocessing
import numpy as np
from isthmus.kernels import HistogramIntersection

X = np.random.default_rng(0).random((30, 4))
here = HistogramIntersection()(X)
ours, theirs = multiprocessing.Pipe(duplex=False)
child = multiprocessing.get_context("fork").Process(
    target=lambda: theirs.send(HistogramIntersection()(X))
)
child.start()
assert ours.poll(60), "the child has ended"
assert np.array_equal(ours.recv(), here)
child.join()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_fits_that_use_threads_of_openmp_end_in_a_fork():
    script = """
import multiprocessing
import numpy as np
from isthmus.manifold import LocalPCA
from sklearn.cluster import KMeans

X = np.random.default_rng(0).normal(size=(600, 3))
KMeans(3, n_init=1).fit(X)  # its threads do not exist in the child
fit = lambda: LocalPCA(1, n_models=3, random_state=0).fit(X).reconstruct(X)
here = fit()
ours, theirs = multiprocessing.Pipe(duplex=False)
child = multiprocessing.get_context("fork").Process(target=lambda: theirs.send(fit()), daemon=True)
child.start()
assert ours.poll(20), "the child waits"
assert np.allclose(ours.recv(), here)
child.join()
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "2"},
    )
    assert done.returncode == 0, done.stderr
