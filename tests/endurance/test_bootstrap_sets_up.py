"""The bootstrap really sets a copy of the project up: interrupted, repaired, repeated. Needs the network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from house.environment import INSTALLING, Environment

PROJECT = Path(__file__).resolve().parents[2]
BASE_PYTHON = getattr(sys, "_base_executable", sys.executable)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    project = tmp_path_factory.mktemp("a b") / "한글 it's" / "copy"
    for name in ("gui", "resources", "packaging"):
        shutil.copytree(PROJECT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(PROJECT / name, project / name)
    return Environment(project)


def words(environment: Environment, *more: str) -> list[str]:
    return [BASE_PYTHON, str(environment.project / "packaging" / "bootstrap.py"), *more]


def variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("COV", "PYTEST"))}


def set_up(environment: Environment, cwd: Path) -> str:
    done = subprocess.run(
        words(environment, "setup", "--light"),
        cwd=cwd,
        env=variables(),
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.timeout(900)
def test_that_a_set_up_killed_while_it_installs_is_repaired(copy: Environment, tmp_path: Path):
    started = subprocess.Popen(
        words(copy, "setup", "--light"), env=variables(), stdout=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + 600
    while not (copy.log.exists() and INSTALLING in copy.log.read_text("utf-8", errors="replace")):
        assert started.poll() is None, "it ended before it was killed"
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(1)
    if os.name == "posix":
        os.killpg(started.pid, 9)
    else:
        started.kill()
    started.wait()
    assert copy.installed() == frozenset()

    told = set_up(copy, tmp_path)
    assert "interrupted" in told
    assert "MB" in told
    assert copy.installed() >= {"program", "tools"}


@pytest.mark.timeout(900)
def test_that_the_second_set_up_has_nothing_to_do(copy: Environment, tmp_path: Path):
    set_up(copy, tmp_path)
    before = copy.log.stat().st_mtime_ns
    told = set_up(copy, tmp_path)
    assert "fetched" not in told
    assert copy.log.stat().st_mtime_ns == before


@pytest.mark.timeout(900)
def test_that_the_program_starts_from_any_folder(copy: Environment, tmp_path: Path):
    set_up(copy, tmp_path)
    done = subprocess.run(
        [copy.python, "-m", "gui", "--version"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "kohya-preflight" in done.stdout
    place = subprocess.run(
        [copy.python, "-c", "import gui; print(gui.__file__)"],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
    )
    assert Path(place.stdout.strip()) == copy.project / "gui" / "__init__.py"
