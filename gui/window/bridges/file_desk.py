"""Looks at one saved file, and does with it what is asked for: a copy, a hash beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from gui.engine.errors import PreflightError
from gui.engine.preferences import change_preferences, load_preferences
from gui.engine.runs.checksum import checksum_file, write_checksum
from gui.engine.runs.file_look import look_at_file
from gui.engine.runs.folder import RunFolder, home_of
from gui.engine.runs.sending import send_copy
from gui.engine.runs.status import FileNow
from gui.engine.texts import _
from gui.engine.trainer.tensor_scan import Progress
from gui.window.bridges.tasks import TaskHandle, Tasks

T = TypeVar("T")

_LOOK = "saved-file-look"


class FileDesk(QObject):
    """Works in threads; of several looks only the newest answers.

    Args:
        tasks: The threads.
    """

    looked = Signal(object)
    """`FileLook`."""
    said = Signal(str, str)
    """What became of what was asked for, and its tone."""
    working = Signal(str)
    """What is being done; "" when it is over."""

    def __init__(self, tasks: Tasks) -> None:
        super().__init__()
        self._tasks = tasks
        self._handle: TaskHandle | None = None
        self._busy = False

    def look(self, run: RunFolder, file: FileNow, against: Path | None) -> None:
        """Look at a file, beside another one or alone."""
        if self._handle is not None:
            self._handle.cancel()
        self._handle = self._tasks.run(
            lambda handle: look_at_file(run, file, against, handle.is_cancelled),
            self.looked.emit,
            lambda error: self.said.emit(str(error), "bad"),
            key=_LOOK,
        )

    def leave(self) -> None:
        """Give up the look."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def folder_before(self, run: RunFolder) -> str:
        """Return where the last copy was sent to, "" where none was."""
        home = home_of(run)
        return (load_preferences(home.preferences).models_folder or "") if home else ""

    def send(self, run: RunFolder, path: Path, folder: Path) -> None:
        """Send a copy, and remember where to."""
        home = home_of(run)

        def work(handle: TaskHandle) -> Path:
            copy = send_copy(path, folder, _telling(handle), handle.is_cancelled)
            if home is not None:
                change_preferences(home.preferences, models_folder=str(folder))
            return copy

        def done(copy: Path) -> None:
            self._over(_("Copied and read back: {file}").format(file=copy), "good")

        self._begin(_("Copying"), work, done)

    def hash_beside(self, path: Path) -> None:
        """Write the file's SHA-256 beside it."""

        def work(handle: TaskHandle) -> str:
            found = write_checksum(path, _telling(handle), handle.is_cancelled)
            return found.sha256

        def done(digest: str) -> None:
            text = _("{digest} stands in {file} now.")
            self._over(text.format(digest=digest, file=checksum_file(path).name), "good")

        self._begin(_("Reading"), work, done)

    def _begin(self, words: str, work: Callable[[TaskHandle], T], done: Callable[[T], None]) -> None:
        """Do one thing at a time: what is being copied is not given up for something else."""
        if self._busy:
            return

        def tell(_text: str, at: int, total: int) -> None:
            self.working.emit(f"{words} {100 * at // max(1, total)} %")

        self._busy = True
        self.working.emit(f"{words} …")
        self._tasks.run(work, done, self._failed, progress=tell)

    def _over(self, sentence: str, tone: str) -> None:
        self._busy = False
        self.working.emit("")
        self.said.emit(sentence, tone)

    def _failed(self, error: PreflightError) -> None:
        self._over(str(error), "bad")


def _telling(handle: TaskHandle) -> Progress:
    return lambda done, total: handle.progress("", done, total)
