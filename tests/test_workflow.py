"""The workflow, the container and the Makefile ask for what pyproject.toml allows."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[1]
if not (ROOT / ".github").is_dir():
    pytest.skip("an installed package has no workflow", allow_module_level=True)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def steps():
    return [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]


def lower_bounds():
    extras = PROJECT["optional-dependencies"]
    lines = [*PROJECT["dependencies"], *extras["plot"], *extras["app"], *extras["dask"]]
    found = map(Requirement, lines)
    return {r.name: next(iter(r.specifier)).version for r in found if r.name != "isthmus"}


def test_the_oldest_releases_are_the_lower_bounds():
    lines = (ROOT / ".github" / "oldest.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    for name, bound in lower_bounds().items():
        oldest = pinned[name].removesuffix(".*")
        assert bound == oldest, name
    used = [step for step in steps() if ".github/oldest.txt" in step.get("run", "")]
    assert [step["if"] for step in used] == ["matrix.dependencies == 'oldest'"]


def test_pythons_begin_with_the_oldest_that_is_allowed():
    matrix = WORKFLOW["jobs"]["test"]["strategy"]["matrix"]
    least = PROJECT["requires-python"].removeprefix(">=")
    assert min(map(Version, matrix["python"])) == Version(least)
    assert {"python": least, "dependencies": "oldest"} in matrix["include"]
    container = re.search(r"^FROM python:([\d.]+)-slim$", DOCKERFILE, flags=re.M)[1]
    assert container in matrix["python"]


def test_the_workflow_calls_targets_that_exist():
    runs = "\n".join(step.get("run", "") for step in steps())
    called = {
        word for line in re.findall(r"^make (.+)$", runs, flags=re.M) for word in line.split()
    }
    assert called == {"lint", "types", "test", "docs"}
    makefile = (ROOT / "Makefile").read_text()
    assert all(f"\n{target}:" in makefile for target in called)


def test_the_container_copies_what_the_build_reads():
    copied = {word for line in re.findall(r"^COPY (.+) \S+$", DOCKERFILE, flags=re.M)
              for word in line.split()}  # fmt: skip
    assert all((ROOT / name).exists() for name in copied)
    assert {"pyproject.toml", PROJECT["readme"], *PROJECT["license-files"], "src"} <= copied
    assert "isthmus warmup" in DOCKERFILE
    assert re.search(r"^USER nobody$", DOCKERFILE, flags=re.M)
