"""Appends lines to ``events.jsonl`` and ``metrics.jsonl`` so that a full disk loses nothing but time.

A line is on the disk as a whole or not at all; what cannot be written waits in memory and goes
first when there is room again.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from pathlib import Path
from typing import BinaryIO

from gui.engine.documents import Document, iterate_json_lines, reason_of
from gui.engine.runs.events import LOG_EVENT, RUN_WORDS, RunEvent, parse_event
from gui.engine.trainer.events import TrainerEvent

_FULL_LINES = 1000
"""So many lines are written without waiting for ``flush``."""

_WAITING_LINES = 20_000
"""Most lines that wait for room; older ones are dropped then, the newest matter most."""


class Lines:
    """An append-only file of JSON lines with one writer.

    Attributes:
        problem: Why the last write failed, None when it did not.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._good = 0
        self._waiting: deque[bytes] = deque(maxlen=_WAITING_LINES)
        self.problem: str | None = None

    def add(self, document: Document) -> None:
        """Take one line; ``flush`` writes it."""
        self._waiting.append(document.model_dump_json(by_alias=True).encode("utf-8") + b"\n")
        if len(self._waiting) >= _FULL_LINES and self.problem is None:
            self.flush()

    def flush(self) -> bool:
        """Write what waits.

        Returns:
            Whether nothing waits any more.
        """
        if not self._waiting:
            return True
        try:
            file = self._file or self._open()
            data = b"".join(self._waiting)
            _write_all(file, data)
        except OSError as error:
            self.problem = reason_of(error)
            self._take_back()
            return False
        self._good += len(data)
        self._waiting.clear()
        self.problem = None
        return True

    def close(self) -> None:
        """Write what waits, if that can be done, and let go of the file."""
        self.flush()
        self.begin_anew()

    def begin_anew(self) -> None:
        """Let go of the file and write what comes into the one that is in its place then."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self) -> BinaryIO:
        """Open for appending, behind the last whole line: a writer that died may have left a part."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.touch()
        file = self._path.open("r+b", buffering=0)
        try:
            self._good = _end_of_last_line(file)
            file.truncate(self._good)
            file.seek(self._good)
        except OSError:
            file.close()
            raise
        self._file = file
        return file

    def _take_back(self) -> None:
        if self._file is None:
            return
        try:
            self._file.truncate(self._good)
            self._file.seek(self._good)
        except OSError:
            self._file.close()
            self._file = None


def _write_all(file: BinaryIO, data: bytes) -> None:
    """Write all of it; a nearly full disk takes a part first and says so only at the next try."""
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def _end_of_last_line(file: BinaryIO, block: int = 65536) -> int:
    """Return the offset behind the last line feed, 0 when there is none."""
    end = file.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - block)
        file.seek(start)
        at = file.read(end - start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0


class EventJournal:
    """Writes ``events.jsonl``; after an adoption it knows which trainer events are in it already."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines = Lines(path)
        self._known: Counter[int] = Counter()

    @property
    def problem(self) -> str | None:
        """Why the last write failed, None when it did not."""
        return self._lines.problem

    def remember_written(self) -> None:
        """Learn what a supervisor before this one wrote, so that re-reading the log repeats nothing."""
        if not self._path.is_file():
            return
        for row in iterate_json_lines(self._path):
            event = parse_event(row) if row.get("event") not in RUN_WORDS else None
            if event is not None:
                self._known[_key(event)] += 1

    def forget_written(self) -> None:
        """The log has been re-read to where the last supervisor was: all that comes now is new."""
        self._known.clear()

    def add(self, event: TrainerEvent | RunEvent) -> None:
        """Take an event that is new for certain."""
        self._lines.add(event)

    def add_read(self, event: TrainerEvent) -> bool:
        """Take an event that was read from the log, unless it is written already.

        Returns:
            Whether it is new.
        """
        if self._known:
            key = _key(event)
            if self._known[key] > 0:
                self._known[key] -= 1
                return False
        self._lines.add(event)
        return True

    def begin_anew(self) -> None:
        """Write what comes into the file that is in its place then."""
        self._lines.begin_anew()

    def flush(self) -> bool:
        """Write what waits; return whether nothing waits any more."""
        return self._lines.flush()

    def close(self) -> None:
        """Write what waits and let go of the file."""
        self._lines.close()


def _key(event: TrainerEvent | RunEvent) -> int:
    """Return what is the same whenever these bytes are read: all but times and the tracker's figures."""
    return hash(LOG_EVENT.dump_json(event, exclude={"t", "rate", "loss"}))
