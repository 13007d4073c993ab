"""What is known of a dataset by its files' names, sizes and times."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gui.engine.dataset.folder_state import folders_changed, state_of_folders


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.png", "a.txt", "b.png"):
        (tmp_path / name).write_text(name)
    return tmp_path


def test_that_the_same_files_are_the_same_dataset(folder: Path) -> None:
    assert state_of_folders([folder]) == state_of_folders([folder])


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "c.png").write_text("new"),
        lambda folder: (folder / "a.png").unlink(),
        lambda folder: (folder / "a.txt").write_text("another caption"),
        lambda folder: os.utime(folder / "b.png", ns=(1, 1)),
        lambda folder: (folder / "b.png").rename(folder / "d.png"),
        lambda folder: (folder / "b.png").chmod(0o600) or (folder / "loop").symlink_to("loop"),
    ],
)
def test_that_a_change_is_seen(folder: Path, change: object) -> None:
    before = state_of_folders([folder])
    change(folder)
    assert state_of_folders([folder]) != before


def test_that_caches_and_quarantine_make_no_other_dataset(folder: Path) -> None:
    before = state_of_folders([folder])
    (folder / "a_0512x0512_sd.npz").write_bytes(b"0")
    (folder / "_preflight_quarantine").mkdir()
    assert state_of_folders([folder]) == before


def test_that_a_folder_that_goes_away_is_another_one(folder: Path) -> None:
    there = state_of_folders([folder]), folders_changed([folder])
    gone = folder / "nothing"
    assert state_of_folders([gone]) != there[0] and folders_changed([gone]) == (-1,)
