"""The program's data is found from a source tree, an installed wheel and a frozen program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import translations
from gui.engine import resources

PROJECT = Path(__file__).resolve().parents[2]

ASK = """
import sys
sys.path.insert(0, {place!r})
import gui
from gui.engine.resources import resource_path, resources_root
from gui.engine.texts import _, use_language
use_language("en_XA")
print(gui.__file__)
print(resources_root())
print(_("pause a run"))
"""


def apart() -> dict[str, str]:
    """Return the environment of a child that runs another copy of the code, which is not to be measured."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COV")}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy what a wheel is made of, with the pseudo-language in it."""
    tree = tmp_path_factory.mktemp("tree")
    leave = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in ("gui", "resources"):
        shutil.copytree(PROJECT / name, tree / name, ignore=leave)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(PROJECT / name, tree / name)
    translations.make_pseudo_language(tree / "resources" / "translations")
    return tree


@pytest.fixture(scope="module")
def wheel(tree: Path) -> Path:
    """Build a wheel without any network."""
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tree / "dist")],
        cwd=tree,
        env=apart(),
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    return next((tree / "dist").glob("*.whl"))


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    return place


def test_that_a_source_tree_has_its_resources_beside_the_package():
    assert resources.resources_root() == PROJECT / "resources"


def test_that_an_installed_wheel_finds_its_own_resources_and_catalogues(unpacked: Path, tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", ASK.format(place=str(unpacked))],
        cwd=tmp_path,
        env=apart(),
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    code, root, sentence = done.stdout.splitlines()
    assert Path(code).parent == unpacked / "gui"
    assert Path(root) == unpacked / "gui" / "_resources"
    assert sentence == translations.pseudo("pause a run")


def test_that_the_wheel_holds_every_resource_the_licence_and_the_command(tree: Path, unpacked: Path):
    source = tree / "resources"
    expected = {file.relative_to(source) for file in source.rglob("*") if file.is_file()}
    inside = unpacked / "gui" / "_resources"
    assert expected <= {file.relative_to(inside) for file in inside.rglob("*")}
    about = next(unpacked.glob("kohya_preflight-*.dist-info"))
    assert "Apache License" in (about / "licenses" / "LICENSE").read_text("utf-8")
    assert "kohya-preflight = gui.__main__:main" in (about / "entry_points.txt").read_text("utf-8")


def test_that_a_frozen_program_has_its_resources_where_it_was_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "resources" / "families").mkdir(parents=True)
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    assert resources.resource_path("families") == tmp_path / "resources" / "families"


def test_that_a_broken_installation_says_where_it_looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    with pytest.raises(FileNotFoundError, match="resources"):
        resources.resources_root()
