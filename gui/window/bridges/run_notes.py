"""Writes down what a person notes about runs, a moment after it was typed, and loses nothing."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TypedDict

from PySide6.QtCore import QObject, QTimer, Signal

from gui.engine.errors import PreflightError
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.run_notes import RunNotes, change_notes
from gui.window.bridges.tasks import TaskHandle, Tasks

DELAY_MS = 400


class NoteParts(TypedDict, total=False):
    """What is to be changed; the names are those of ``change_notes``."""

    tags: tuple[str, ...]
    known: tuple[str, ...]
    note: str
    favourite: bool


class NotesWriter(QObject):
    """One file is written at a time, so that what was typed last is what stays.

    Args:
        tasks: Where it is written.
        milliseconds: So long typing may pause before it is written.
    """

    written = Signal(object, object)
    """`Path` of the run's folder, and the `RunNotes` that are there now."""

    failed = Signal(object, object)
    """`Path` of the run's folder, and the `PreflightError`."""

    def __init__(self, tasks: Tasks, milliseconds: int = DELAY_MS) -> None:
        super().__init__()
        self._tasks = tasks
        self._waiting: dict[Path, NoteParts] = {}
        self._writing: tuple[Path, NoteParts] | None = None
        self._unwritten: dict[Path, tuple[NoteParts, PreflightError]] = {}
        self._soon = QTimer(self, singleShot=True, interval=milliseconds)
        self._soon.timeout.connect(self._next)

    def change(self, folder: Path, parts: NoteParts) -> None:
        """Write something down soon."""
        self._wait_again(folder)
        self._waiting[folder] = _after(self._waiting.get(folder, {}), parts)
        self._soon.start()

    def pending(self, folder: Path) -> NoteParts:
        """Return what was changed and is not written yet."""
        parts: NoteParts = {}
        if folder in self._unwritten:
            parts.update(self._unwritten[folder][0])
        if self._writing is not None and self._writing[0] == folder:
            parts.update(self._writing[1])
        parts.update(self._waiting.get(folder, {}))
        return parts

    def trouble(self, folder: Path) -> PreflightError | None:
        """Return why what was changed last could not be written; it is tried again with the next change."""
        return self._unwritten[folder][1] if folder in self._unwritten else None

    def close(self) -> None:
        """Write what is left, at once: nobody waits for a pool any more."""
        self._soon.stop()
        for folder in list(self._unwritten):
            self._wait_again(folder)
        if self._writing is not None:  # it may be given up by the pool; twice does no harm
            folder, parts = self._writing
            self._put_before(folder, parts)
        waiting, self._waiting, self._writing = self._waiting, {}, None
        for folder, parts in waiting.items():
            with contextlib.suppress(PreflightError):  # there is nobody left to be told
                change_notes(RunFolder(folder), **parts)

    def _next(self) -> None:
        if self._writing is not None or not self._waiting:
            return
        folder = next(iter(self._waiting))
        parts = self._waiting.pop(folder)
        self._writing = folder, parts

        def work(_handle: TaskHandle) -> RunNotes:
            return change_notes(RunFolder(folder), **parts)

        self._tasks.run(
            work, lambda notes: self._done(folder, notes), lambda error: self._fail(folder, error)
        )

    def _wait_again(self, folder: Path) -> None:
        if folder in self._unwritten:
            self._put_before(folder, self._unwritten.pop(folder)[0])

    def _put_before(self, folder: Path, parts: NoteParts) -> None:
        """Let older changes be written with the newer ones, which count."""
        self._waiting[folder] = _after(parts, self._waiting.get(folder, {}))

    def _done(self, folder: Path, notes: RunNotes) -> None:
        self._writing = None
        self.written.emit(folder, notes)
        self._next()

    def _fail(self, folder: Path, error: PreflightError) -> None:
        if self._writing is not None:  # what a person typed stays until it is written
            self._unwritten[folder] = (self._writing[1], error)
        self._writing = None
        self.failed.emit(folder, error)
        self._next()


def _after(older: NoteParts, newer: NoteParts) -> NoteParts:
    """Return two changes as one: what is new counts, and what was known before the first one."""
    both: NoteParts = {**older, **newer}
    if "tags" in older and "known" in older:
        both["known"] = older["known"]
    return both
