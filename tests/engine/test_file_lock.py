"""A lock that dies with its holder."""

from __future__ import annotations

from pathlib import Path

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
