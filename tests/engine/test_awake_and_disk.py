"""The machine is held awake, and the room on its disks is watched."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gui.engine.runs import disk as disk_module
from gui.engine.runs.awake import keep_awake
from gui.engine.runs.disk import DiskWatch, existing_folder, system_free_bytes

GIB = 1 << 30


def test_that_the_machine_is_held_awake_where_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAKEPY_FAKE_SUCCESS", "yes")
    with keep_awake() as state:
        assert state.active
        assert state.method
        assert state.note is None


def test_that_a_machine_that_cannot_be_held_awake_is_one_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WAKEPY_FAKE_SUCCESS", raising=False)
    monkeypatch.setenv("WAKEPY_FORCE_FAILURE", "yes")
    with keep_awake() as state:
        assert not state.active
        assert state.note
        assert "power settings" in state.note


def test_that_a_library_that_fails_is_a_note_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wakepy", None)
    with keep_awake() as state:
        assert state.note


def test_that_an_error_inside_is_not_swallowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAKEPY_FORCE_FAILURE", "yes")
    with pytest.raises(KeyError), keep_awake():
        raise KeyError


def test_that_the_system_tells_what_is_free(tmp_path: Path) -> None:
    assert system_free_bytes(tmp_path) > 0
    (space,) = DiskWatch([tmp_path], reserve_bytes=0, warn_bytes=0).sample()
    assert space.level == "fine"
    assert space.sentence() is None


def test_that_a_place_that_does_not_exist_yet_is_judged_by_its_nearest_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    asked: list[Path] = []

    def free(folder: Path) -> int:
        asked.append(folder)
        return 9 * GIB

    DiskWatch([tmp_path / "a" / "b", tmp_path / "file" / "x", tmp_path], free=free).sample()
    assert asked == [tmp_path, tmp_path, tmp_path]


@pytest.mark.parametrize(
    ("free", "level", "words"),
    [(9 * GIB, "fine", None), (2 * GIB, "low", "2.0 GiB"), (100 << 20, "full", "0.1 GiB")],
)
def test_that_little_room_is_told_early_and_plainly(
    tmp_path: Path, free: int, level: str, words: str | None
) -> None:
    (space,) = DiskWatch([tmp_path], free=lambda _: free).sample()
    assert space.level == level
    assert (words in (space.sentence() or "")) if words else space.sentence() is None


def test_that_a_disk_that_does_not_tell_is_unknown_and_no_alarm(tmp_path: Path) -> None:
    def free(folder: Path) -> int:
        raise OSError(5, "input/output error")

    (space,) = DiskWatch([tmp_path, tmp_path], free=free).sample()
    assert (space.free_bytes, space.level, space.sentence()) == (None, "unknown", None)


def test_that_a_drive_that_is_not_there_is_unknown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(self: Path) -> bool:
        raise PermissionError

    monkeypatch.setattr(Path, "is_dir", refuse)
    assert existing_folder(tmp_path) is None
    (space,) = disk_module.DiskWatch([tmp_path]).sample()
    assert space.level == "unknown"
