"""Notices when the folders of a dataset are other ones than when they were looked at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from gui.engine.dataset.folder_state import folders_changed, state_of_folders
from gui.window.bridges.tasks import TaskHandle, Tasks

LOOK_MS = 3000
_KEY = "data-watch"


class DatasetWatch(QObject):
    """Looks now and then whether files came or went, and when it is asked whether any is another one.

    Args:
        tasks: Where folders are read.
        milliseconds: Between two looks.
    """

    changed = Signal()
    """The folders are other ones; told once."""

    def __init__(self, tasks: Tasks, milliseconds: int = LOOK_MS) -> None:
        super().__init__()
        self._tasks = tasks
        self._folders: tuple[Path, ...] = ()
        self._times: tuple[int, ...] | None = None
        self._state = ""
        self._timer = QTimer(self)
        self._timer.setInterval(milliseconds)
        self._timer.timeout.connect(self._look_at_times)

    def watch(self, folders: Sequence[Path]) -> None:
        """Take these folders as they are now for what was looked at."""
        self._folders = tuple(folders)
        self._times, self._state = None, ""
        self._timer.start()
        self._look()

    def look(self) -> None:
        """Look at all files now: the user may have changed some meanwhile."""
        if self._timer.isActive():
            self._look()

    def stop(self) -> None:
        """Look no more."""
        self._timer.stop()
        self._tasks.cancel(_KEY)

    def _look(self) -> None:
        folders = self._folders

        def work(handle: TaskHandle) -> tuple[tuple[int, ...], str]:
            return folders_changed(folders), state_of_folders(folders, handle.is_cancelled)

        self._tasks.run(work, lambda found: self._take(*found), key=_KEY)

    def _look_at_times(self) -> None:
        folders = self._folders
        if self._times is not None:
            self._tasks.run(lambda _handle: folders_changed(folders), self._take_times, key=f"{_KEY}-times")

    def _take_times(self, times: tuple[int, ...]) -> None:
        if self._timer.isActive() and self._times is not None and times != self._times:
            self._times = times
            self._look()  # the trainer's caches come and go as well

    def _take(self, times: tuple[int, ...], state: str) -> None:
        if not self._timer.isActive():
            return
        before, self._times, self._state = self._state, times, state
        if before and state != before:
            self._timer.stop()
            self.changed.emit()
