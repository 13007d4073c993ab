"""Steps of changed captions that meet trouble half way: none of them gets lost, and the next one goes on."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gui.engine.dataset import caption_originals
from gui.engine.dataset.caption_edits import CaptionEdit, EditPreview, hash_of
from gui.engine.errors import CannotWrite
from gui.window.bridges.caption_work import CaptionOutcome, CaptionWork, outcome_words
from gui.window.bridges.tasks import Tasks


class Worker:
    """Somebody who changes captions and hears what comes of it."""

    def __init__(self, tasks: Tasks, qtbot: QtBot) -> None:
        self.work = CaptionWork(tasks)
        self._qtbot = qtbot
        self._heard: list[CaptionOutcome] = []
        self.work.finished.connect(self._heard.append, Qt.ConnectionType.DirectConnection)

    def comes_of(self) -> CaptionOutcome:
        self._qtbot.waitUntil(lambda: bool(self._heard) and not self.work.busy)
        return self._heard.pop()


@pytest.fixture
def worker(tasks: Tasks, qtbot: QtBot) -> Worker:
    return Worker(tasks, qtbot)


def captions(folder: Path, after: str) -> EditPreview:
    """Return a change of four captions, each of which is written first."""
    edits = []
    for name in "1234":
        path = folder / f"{name}.txt"
        path.write_text(name, "utf-8")
        content = hash_of(name.encode())
        edits.append(
            CaptionEdit(name=path.name, image=f"{name}.png", before=name, after=after, content=content)
        )
    return EditPreview(folder=str(folder), edits=tuple(edits))


def full_at(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    """Let one caption be the one that has no room any more."""
    write = caption_originals.write_atomically

    def to_a_full_disk(place: Path, data: bytes | str) -> None:
        if place == path:
            raise CannotWrite(place, os.strerror(errno.ENOSPC))
        write(place, data)

    monkeypatch.setattr(caption_originals, "write_atomically", to_a_full_disk)


def test_that_what_cannot_be_taken_back_now_can_be_later(worker: Worker, tmp_path: Path, monkeypatch):
    worker.work.write("many", [captions(tmp_path, "new")])
    assert worker.comes_of().done == 4
    with monkeypatch.context() as patched:
        full_at(patched, tmp_path / "3.txt")
        worker.work.undo()
        assert worker.comes_of().error is not None
    assert worker.work.undo_text == "many"
    worker.work.undo()
    assert worker.comes_of().error is None
    assert [(tmp_path / f"{name}.txt").read_text("utf-8") for name in "1234"] == list("1234")
    assert worker.work.redo_text == "many" and not worker.work.undo_text


def test_that_a_full_disk_says_how_many_were_written_before(worker: Worker, tmp_path: Path, monkeypatch):
    full_at(monkeypatch, tmp_path / "3.txt")
    worker.work.write("many", [captions(tmp_path, "new")])
    title, more, whole = outcome_words(worker.comes_of())
    assert title == "2 captions were written." and os.strerror(errno.ENOSPC) in more and not whole


def test_that_a_fault_nobody_thought_of_stops_no_later_work(worker: Worker, tmp_path: Path):
    worker.work.write("half a sign", [captions(tmp_path, "\ud83d")])
    assert worker.comes_of().error is not None
    worker.work.write("whole", [captions(tmp_path, "new")])
    assert worker.comes_of().done == 4


def test_that_a_folder_that_was_taken_away_does_not_come_back_by_its_captions(worker: Worker, tmp_path: Path):
    folder = tmp_path / "10_mira"
    folder.mkdir()
    change = captions(folder, "new")
    shutil.rmtree(folder)
    worker.work.write("many", [change])
    assert "no longer there" in str(worker.comes_of().error)
    assert not folder.exists()
