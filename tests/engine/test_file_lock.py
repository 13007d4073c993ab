"""A lock that dies with its holder."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from gui.engine.file_lock import is_locked, try_lock


def test_that_a_file_is_locked_as_long_as_it_is_open(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not is_locked(path)
    with path.open("a+b") as file:
        assert try_lock(file)
        assert is_locked(path)
    assert not is_locked(path)


def test_that_what_cannot_be_looked_at_counts_as_locked(tmp_path: Path) -> None:
    assert is_locked(tmp_path)


def test_that_a_lock_on_a_disk_that_cannot_be_written_is_not_taken_for_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real = tmp_path / "lock", Path.open

    def read_only(self: Path, mode: str = "r") -> object:
        if mode != "rb":
            raise OSError(errno.EROFS, "Read-only file system")
        return real(self, mode)

    with path.open("w+b") as file:
        monkeypatch.setattr(Path, "open", read_only)
        assert not is_locked(path)
        assert try_lock(file)
        assert is_locked(path)
