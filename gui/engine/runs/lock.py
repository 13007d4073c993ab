"""One supervisor a run: a lock that its holder cannot forget, since it dies with the process."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from gui.engine.documents import reason_of
from gui.engine.errors import AlreadySupervised, CannotWrite
from gui.engine.file_lock import is_locked, try_lock

LOOKED_AT_SECONDS = 1.0
"""Whoever looks whether the holder of a lock lives holds it for a moment."""


class SupervisorLock:
    """Held from ``take`` until ``release`` or the end of the process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None

    def take(self, patience_seconds: float = 0.0) -> None:
        """Take the lock.

        Args:
            patience_seconds: How long to try: somebody may just be looking whether it is held.

        Raises:
            AlreadySupervised: Another process holds it.
            CannotWrite: The folder cannot be written.
        """
        until = time.monotonic() + patience_seconds
        while True:
            try:
                file = self._path.open("a+b")
            except OSError as error:
                raise CannotWrite(self._path, reason_of(error)) from error
            if try_lock(file):
                break
            file.close()
            if time.monotonic() >= until:
                raise AlreadySupervised(self._path.parent, _holder(self._path))
            time.sleep(0.05)
        self._file = file
        _sign(file)

    def is_in_place(self) -> bool:
        """Whether the held file is still the one that others find; a folder can be deleted or moved."""
        try:
            return self._file is not None and os.path.samestat(
                os.fstat(self._file.fileno()), self._path.stat()
            )
        except OSError:
            return False

    def take_anew(self) -> None:
        """Hold the file that is in its place now, and let go of the one that was.

        Raises:
            AlreadySupervised: Another process holds it.
            CannotWrite: The folder cannot be written.
        """
        before, self._file = self._file, None
        try:
            self.take(LOOKED_AT_SECONDS)
        finally:
            if before is not None:
                before.close()

    def release(self) -> None:
        """Give the lock back; nothing happens when it is not held."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Self:
        self.take()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def is_held(path: Path) -> bool:
    """Whether a supervisor lives that holds this lock."""
    return is_locked(path)


def _sign(file: BinaryIO) -> None:
    """Leave the process number for a message; a full disk does not matter here."""
    with contextlib.suppress(OSError):
        file.truncate(0)
        file.write(b"%d\n" % os.getpid())
        file.flush()


def _holder(path: Path) -> int | None:
    try:
        return int(path.read_text("ascii"))
    except (OSError, ValueError):
        return None
