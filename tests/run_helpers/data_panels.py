"""A dataset of a few images with captions, and what panels of the Data page are made of."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import sight
from dataset_maker import picture, saved
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from gui.engine.dataset.buckets import BucketSettings
from gui.engine.dataset.caption_settings import CaptionSettings
from gui.engine.dataset.doctor import Doctor
from gui.engine.dataset.report import DatasetReport
from gui.engine.dataset.spec import DatasetSpec, SubsetSpec
from gui.window.bridges.tasks import Tasks

CAPTIONS = {
    "01": b"mira_x, red coat, standing on a bridge at night, city lights, looking back\r\n",
    "02": b"mira_x, rain, street lamps",
    "03": "mira_x, \uc0b0\ucc45, \ube44, red coat".encode(),
    "04": "mira_x, \ube44, \uc6b0\uc0b0".encode("cp949"),
    "05": b"a woman in a garden, red coat",
    "06": b"mira_x, " + b", ".join(b"very long walk number %d" % number for number in range(20)),
    "07": b"",
    "08": None,
}
"""Stem to what its caption file holds; None for no file."""


def caption_dataset(folder: Path, sizes: Sequence[tuple[int, int]] = ((96, 64), (64, 96))) -> None:
    """Write small images with captions of all sorts."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, (stem, data) in enumerate(CAPTIONS.items()):
        (folder / f"{stem}.png").write_bytes(saved(picture(number, sizes[number % len(sizes)])))
        if data is not None:
            (folder / f"{stem}.txt").write_bytes(data)


def dataset_spec(
    *folders: Path, family: str = "sd15", resolution: tuple[int, int] = (64, 64), batch_size: int = 2
) -> DatasetSpec:
    """Return a dataset of folders, each a subset."""
    settings = BucketSettings(resolution, enable_bucket=True, min_bucket_reso=32, bucket_reso_steps=32)
    subsets = tuple(
        SubsetSpec(
            f"dataset.subsets.{number}",
            "dataset",
            folder,
            num_repeats=3,
            caption_extension=".txt",
            settings=settings,
            batch_size=batch_size,
            captions=CaptionSettings(),
        )
        for number, folder in enumerate(folders)
    )
    return DatasetSpec(subsets, family, caches=True)


def report_of(spec: DatasetSpec, memory: Path | None = None) -> DatasetReport:
    """Look at a dataset."""
    doctor = Doctor(spec, memory, 1)
    try:
        for _batch in doctor.batches():
            pass
        return doctor.report()
    finally:
        doctor.close()


def hashes(folder: Path) -> dict[str, str]:
    """Return what each file of a folder holds, those in it not."""
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.iterdir())
        if file.is_file()
    }


class Panel:
    """A panel that is looked at: clicks and types where it is seen, and reads what is visible.

    Attributes:
        widget: The panel.
    """

    def __init__(self, qtbot: QtBot, widget: QWidget) -> None:
        self.qtbot, self.widget = qtbot, widget

    def is_seen(self, name: str) -> bool:
        """Whether something of a name is visible."""
        return sight.sees(self.widget, name)

    def find(self, name: str) -> QWidget:
        """Return the visible thing of a name, as soon as it is there."""
        self.until(lambda: self.is_seen(name), name)
        return sight.find(self.widget, name)

    def click(self, name: str) -> None:
        """Click on something as soon as it can be hit."""
        sight.click(self.qtbot, self.widget, name)

    def type_into(self, name: str, text: str) -> None:
        """Write something else into a field."""
        field = self.find(name)
        assert isinstance(field, QLineEdit)
        field.setFocus()
        field.selectAll()
        self.qtbot.keyClick(field, Qt.Key.Key_Delete)
        self.qtbot.keyClicks(field, text)

    def choose(self, name: str, words: str) -> None:
        """Choose what begins with some words, by the keyboard."""
        box = self.find(name)
        assert isinstance(box, QComboBox)
        self.until(lambda: box.findText(words, Qt.MatchFlag.MatchStartsWith) >= 0, words)
        box.setFocus()
        wanted = box.findText(words, Qt.MatchFlag.MatchStartsWith)
        while box.currentIndex() != wanted:
            key = Qt.Key.Key_Down if box.currentIndex() < wanted else Qt.Key.Key_Up
            self.qtbot.keyClick(box, key)

    def reads(self) -> str:
        """Return everything that can be read now."""
        return sight.says(self.widget)

    def reads_until(self, text: str) -> None:
        """Wait until something can be read."""
        self.until(lambda: text in self.reads(), repr(text))

    def until(self, true: Callable[[], object], what: str = "it") -> None:
        """Wait until something is true; fail with what can be read instead."""
        try:
            self.qtbot.waitUntil(lambda: bool(true()), timeout=30_000)
        except self.qtbot.TimeoutError:
            raise AssertionError(f"waited for {what}; seen is:\n{self.reads()}") from None


@contextlib.contextmanager
def shown(qtbot: QtBot, tasks: Tasks, widget: QWidget, height: int = 560) -> Iterator[Panel]:
    """Show a panel; at the end it goes only after all that it began has ended, as with the window."""
    widget.resize(1000, height)
    with qtbot.waitExposed(widget):
        widget.show()
    yield Panel(qtbot, widget)
    widget.hide()
    qtbot.waitUntil(lambda: not tasks.busy, timeout=30_000)
    widget.deleteLater()
    QCoreApplication.sendPostedEvents(widget, QEvent.Type.DeferredDelete.value)
