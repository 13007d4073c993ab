"""Notices when the folders of a dataset are other ones than when they were looked at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal

from gui.engine.dataset.folder_state import folders_changed, state_of_folders
from gui.window.bridges.lane import Answer, Lane

LOOK_MS = 3000


class _Seen(NamedTuple):
    """Folders as they were at one moment; the state is empty where only the times were looked at."""

    folders: tuple[Path, ...]
    times: tuple[int, ...]
    state: str


class DatasetWatch(QObject):
    """Looks now and then whether files came or went, and when it is asked whether any is another one.

    Args:
        milliseconds: Between two looks.
    """

    changed = Signal()
    """The folders are other ones; told once."""

    def __init__(self, milliseconds: int = LOOK_MS) -> None:
        super().__init__()
        self._folders: tuple[Path, ...] = ()
        self._seen: _Seen | None = None
        self._lane = Lane("dataset watch")
        self._lane.answered.connect(self._take)
        self._timer = QTimer(self)
        self._timer.setInterval(milliseconds)
        self._timer.timeout.connect(self._look_at_times)

    def watch(self, folders: Sequence[Path]) -> None:
        """Take these folders as they are now for what was looked at."""
        self._folders = tuple(folders)
        self._seen = None
        self._timer.start()
        self._look()

    def look(self) -> None:
        """Look at all files now: the user may have changed some meanwhile."""
        if self._timer.isActive():
            self._look()

    def stop(self) -> None:
        """Look no more."""
        self._timer.stop()

    def _look(self) -> None:
        folders = self._folders
        self._lane.ask(lambda: _Seen(folders, folders_changed(folders), state_of_folders(folders)))

    def _look_at_times(self) -> None:
        folders = self._folders
        if not self._lane.working:
            self._lane.ask(lambda: _Seen(folders, folders_changed(folders), ""))

    def _take(self, answer: Answer) -> None:
        if answer.error is not None:
            raise answer.error
        seen: _Seen = answer.value
        if not self._timer.isActive() or seen.folders != self._folders:
            return
        before = self._seen
        if not seen.state:
            if before is not None and seen.times != before.times:
                self._look()  # the trainer's caches come and go as well
            return
        self._seen = seen
        if before is not None and seen.state != before.state:
            self._timer.stop()
            self.changed.emit()
