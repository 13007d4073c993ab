"""Which plans were open lately."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.errors import CannotWrite
from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.recents import MOST, Recents


def _add(recents: Recents, path: Path, name: str = "mira") -> None:
    recents.add(path, TrainingPlan(name=name, family="sdxl"))


def test_that_the_latest_comes_first_and_each_once(tmp_path: Path) -> None:
    recents = Recents(Home(tmp_path))
    for name in ("a", "b", "a"):
        _add(recents, tmp_path / f"{name}.toml", name)
    assert [(entry.name, entry.family) for entry in recents.entries()] == [("a", "sdxl"), ("b", "sdxl")]


def test_that_a_missing_file_is_said_and_can_be_forgotten(tmp_path: Path) -> None:
    recents = Recents(Home(tmp_path))
    there = tmp_path / "there.toml"
    there.write_text("name = 'x'\n")
    _add(recents, tmp_path / "gone.toml")
    _add(recents, there)
    assert [entry.missing for entry in recents.entries()] == [False, True]
    recents.forget(tmp_path / "gone.toml")
    recents.forget(tmp_path / "never seen.toml")
    assert [Path(entry.path).name for entry in recents.entries()] == ["there.toml"]


def test_that_the_list_does_not_grow_without_end(tmp_path: Path) -> None:
    recents = Recents(Home(tmp_path))
    for number in range(MOST + 5):
        _add(recents, tmp_path / f"{number}.toml", str(number))
    names = [entry.name for entry in recents.entries()]
    assert len(names) == MOST
    assert names[0] == str(MOST + 4)


@given(st.binary(max_size=60))
def test_that_any_content_of_the_file_is_as_good_as_none(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    recents = Recents(Home(tmp_path_factory.mktemp("home")))
    recents.path.write_bytes(content)
    assert recents.entries() == []


def test_that_entries_that_are_none_do_not_hide_the_others(tmp_path: Path) -> None:
    recents = Recents(Home(tmp_path))
    recents.path.write_text('[1, {"path": 3}, {"path": "/a\\u0000.toml", "name": "x", "opened": 1}, null]')
    (entry,) = recents.entries()
    assert entry.missing
    _add(recents, tmp_path / "b.toml", "b")
    assert [found.name for found in recents.entries()] == ["b", "x"]


def test_that_a_home_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    root = tmp_path / "home"
    root.write_text("")
    with pytest.raises(CannotWrite):
        _add(Recents(Home(root)), tmp_path / "a.toml")
