"""The package structured-predictions, which does not install, loaded from its source archive."""

import hashlib
import importlib.util
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from functools import cache
from pathlib import Path

from benchmarks._harness import Unavailable

VERSION = "0.1.3"
SHA256 = "30f3939528e3190578853179436fc3e11519dc265cd72ee36f78e363ceda0455"
VARIABLE = "ISTHMUS_BENCH_CACHE"


@cache
def iokr_module(name):
    """The module ``name`` of its IOKR folder: ``model``, ``SketchedIOKR`` or ``Sketch``.

    The archive is kept in the folder that the environment variable ``ISTHMUS_BENCH_CACHE``
    names, by default one for temporary files, and read only if its checksum agrees. ``pip
    download`` would run its build script, which fails on numpy 2, so the index is asked directly.
    """
    folder = Path(os.environ.get(VARIABLE) or Path(tempfile.gettempdir()) / "isthmus-benchmarks")
    archive = folder / f"structured-predictions-{VERSION}.tar.gz"
    if not archive.exists():
        folder.mkdir(parents=True, exist_ok=True)
        archive.write_bytes(_download())
    if hashlib.sha256(archive.read_bytes()).hexdigest() != SHA256:
        raise Unavailable(f"{archive.name} in the folder of {VARIABLE} is damaged: delete it")
    path = f"structured-predictions-{VERSION}/stpredictions/models/IOKR/{name}.py"
    with tarfile.open(archive) as content, tempfile.TemporaryDirectory() as place:
        content.extract(path, place, filter="data")
        spec = importlib.util.spec_from_file_location(f"_iokr_{name}", Path(place) / path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


def _index_of_pip():
    """Where pip looks if nobody has told it where to look."""
    try:
        from pip._internal.models.index import PyPI
    except ImportError as missing:
        raise Unavailable("no package index is configured") from missing
    return PyPI.simple_url


def _download():
    asked = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    configured = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    page = f"{(configured or _index_of_pip()).rstrip('/')}/structured-predictions/"
    try:
        with urllib.request.urlopen(page, timeout=30) as answer:
            links = answer.read().decode()
        link = re.search(rf'href="([^"#]*structured.predictions-{VERSION}\.tar\.gz)', links)
        if link is None:
            raise Unavailable(
                f"the package index has no source of structured-predictions {VERSION}"
            )
        with urllib.request.urlopen(urllib.parse.urljoin(page, link[1]), timeout=60) as answer:
            return answer.read()
    except (urllib.error.URLError, TimeoutError) as error:
        raise Unavailable("structured-predictions cannot be downloaded here") from error
