"""A file is written completely or not at all, whatever happens meanwhile."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import isthmus
from isthmus.files.atomic import CannotWriteError, replacing, writable_target
from isthmus.losses import Huber


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def run(code, *arguments):
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def write_half(path, error):
    with replacing(path) as temporary:
        temporary.write_text("half a")
        raise error


def test_a_failed_save_keeps_the_former_file_and_leaves_no_litter(tmp_path):
    path = tmp_path / "kept"
    path.write_text("former")
    full = OSError(28, "No space left on device")
    with pytest.raises(CannotWriteError, match=r"cannot write .*kept: the disk is full.*is kept"):
        write_half(path, full)
    with pytest.raises(KeyboardInterrupt):
        write_half(path, KeyboardInterrupt())
    assert path.read_text() == "former"
    assert names(tmp_path) == ["kept"]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are POSIX")
def test_a_disk_that_fills_up_is_one_line_and_the_former_model_still_loads(tmp_path):
    path = tmp_path / "m.isthmus"
    isthmus.save(Huber(), path)
    code = """
        import resource, sys
        from isthmus.files.atomic import replacing
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        try:
            with replacing(sys.argv[1]) as temporary:
                temporary.write_bytes(bytes(20_000))
        except OSError as error:
            print(error)
    """
    out, err = run(code, path).communicate()
    assert out.splitlines() == [
        f"cannot write {path}: the disk is full or the file too large (File too large); the former "
        "file is kept"
    ], err
    assert isinstance(isthmus.load(path), Huber)
    assert names(tmp_path) == ["m.isthmus"]


def test_a_link_is_followed_and_stays_a_link(tmp_path):
    real = tmp_path / "real"
    real.mkdir()
    link = tmp_path / "latest.isthmus"
    link.symlink_to(real / "m1.isthmus")  # at first the file is not there yet
    for _ in range(2):
        isthmus.save(Huber(), link)
        assert link.is_symlink()
        assert names(real) == ["m1.isthmus"]
    assert isinstance(isthmus.load(link), Huber)


def test_links_in_a_circle_and_other_names_that_cannot_be_are_plain_lines(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    for name in ("a", "no/m", "x" * 300, "nul\0", ""):
        path = str(tmp_path / name) if name else tmp_path
        with pytest.raises(CannotWriteError, match="cannot write") as caught:
            isthmus.save(Huber(), path)
        assert len(str(caught.value).splitlines()) == 1


def test_the_rights_of_a_file_stay_as_they_were(tmp_path):
    path = tmp_path / "m"
    path.write_text("former")
    path.chmod(0o640)
    with replacing(path) as temporary:
        temporary.write_text("new")
    assert path.stat().st_mode & 0o777 == 0o640
    assert path.read_text() == "new"


def test_a_folder_that_is_not_writable_is_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(CannotWriteError, match="is not writable"):
        writable_target(tmp_path / "m")


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder that takes no files")
def test_a_folder_that_takes_no_files_is_one_line():
    with pytest.raises(CannotWriteError, match=r"^cannot write /proc/self/m: [^\n]+$"):
        isthmus.save(Huber(), "/proc/self/m")


WAITING = """
    import sys, time
    from isthmus.files.atomic import replacing
    with replacing(sys.argv[1]) as temporary:
        temporary.write_text("half a model")
        print("writing", flush=True)
        time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file locks are POSIX")
def test_what_a_killed_save_left_is_removed_by_the_next_and_a_living_one_is_spared(tmp_path):
    path = tmp_path / "m.isthmus"
    dead, living = run(WAITING, path), run(WAITING, path)
    try:
        for process in (dead, living):
            assert process.stdout.readline() == "writing\n"
        dead.kill()
        dead.communicate()
        assert len(names(tmp_path)) == 2
        other = tmp_path / ".0123456789ab.tmp.other"
        other.write_text("of another file")
        isthmus.save(Huber(), path)
        left = names(tmp_path)
        assert len(left) == 3  # the model, the other's, and that of the living process
        assert other.name in left
        assert path.name in left
    finally:
        living.kill()
        living.communicate()


def test_two_processes_that_save_to_one_path_leave_one_whole_file(tmp_path):
    path = tmp_path / "m.isthmus"
    code = """
        import sys
        from isthmus.files.atomic import replacing
        for i in range(60):
            with replacing(sys.argv[1]) as temporary:
                temporary.write_text(sys.argv[2] * 100_000)
    """
    path.write_text("0" * 100_000)
    both = [run(code, path, k) for k in (1, 2)]
    while any(process.poll() is None for process in both):
        text = path.read_text()
        assert len(text) == 100_000
        assert len(set(text)) == 1
    for process in both:
        assert process.communicate()[1] == ""
    assert names(tmp_path) == ["m.isthmus"]


@pytest.mark.parametrize(("seconds", "works"), [(0, False), (-(10**8), False), (2 * 10**9, True)])
def test_a_clock_that_jumped_is_named_or_does_not_matter(tmp_path, monkeypatch, seconds, works):
    path = tmp_path / "m.isthmus"
    isthmus.save(Huber(), path)
    before = path.read_bytes()
    moment = time.localtime(seconds)
    monkeypatch.setattr(time, "time", lambda: float(seconds))
    monkeypatch.setattr(time, "localtime", lambda *_: moment)
    if works:
        isthmus.save(Huber(), path)
    else:
        with pytest.raises(CannotWriteError, match="the clock of this machine says 19"):
            isthmus.save(Huber(), path)
        assert path.read_bytes() == before
    assert isinstance(isthmus.load(path), Huber)
