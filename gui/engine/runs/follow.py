"""Looks at a run from outside, as every viewer does: its status, and what happened since last time."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import BinaryIO

from gui.engine.runs.events import RunEvent, parse_event
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.start import read_status
from gui.engine.runs.status import RunStatus
from gui.engine.trainer.events import TrainerEvent


class Follower:
    """Follows one run.

    Args:
        run: The folder.
        from_now: Leave out what happened before; else all of it is given first.
    """

    def __init__(self, run: RunFolder, *, from_now: bool = False) -> None:
        self._run = run
        self._tail = LineTail(run.events)
        if from_now:
            self._tail.skip()

    def status(self) -> RunStatus | None:
        """Return what is true now, None before anything was written.

        Raises:
            NewerDocument: A newer version of this program wrote it.
        """
        return read_status(self._run)

    def events(self, most_bytes: int = -1) -> list[TrainerEvent | RunEvent]:
        """Return what happened since the last call.

        Args:
            most_bytes: Read no more than that of the file at once; the rest comes with the next calls.
        """
        found = []
        for line in self._tail.read(most_bytes):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            event = parse_event(row) if isinstance(row, dict) else None
            if event is not None:
                found.append(event)
        return found

    def at_end(self) -> bool:
        """Whether all that has happened by now was given."""
        return self._tail.at_end()

    def close(self) -> None:
        """Let go of the files."""
        self._tail.close()


class LineTail:
    """Reads the lines that are added to a file; a line that is still being written waits for its end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._rest = b""

    def skip(self) -> None:
        """Leave out what is there now."""
        file = self._opened()
        if file is not None:
            file.seek(0, 2)

    def read(self, most_bytes: int = -1) -> list[bytes]:
        """Return the lines that are new.

        Args:
            most_bytes: Read no more than that at once; the rest comes with the next calls.
        """
        file = self._opened()
        if file is None:
            return []
        *lines, self._rest = (self._rest + file.read(most_bytes)).split(b"\n")
        return lines

    def at_end(self) -> bool:
        """Whether all that is there now was read."""
        try:
            return self._file is None or self._file.tell() >= os.fstat(self._file.fileno()).st_size
        except OSError:
            return True

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _opened(self) -> BinaryIO | None:
        if self._file is not None and not self._is_in_place(self._file):
            # The run's folder was taken away and written anew.
            self.close()
            self._rest = b""
        if self._file is None:
            try:
                self._file = self._path.open("rb")
            except OSError:
                return None
        return self._file

    def _is_in_place(self, file: BinaryIO) -> bool:
        try:
            return os.path.samestat(os.fstat(file.fileno()), self._path.stat())
        except OSError:
            return True  # there is no other one yet
