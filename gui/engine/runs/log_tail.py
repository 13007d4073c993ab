"""Follows a log as it grows, shrinks, is replaced or taken away, and searches it meanwhile."""

from __future__ import annotations

import os
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from gui.engine.runs.log_index import LogIndex
from gui.engine.runs.log_levels import Level
from gui.engine.runs.log_text import READ_BYTES, LogText, Needle, needle_of

CHUNK_BYTES = 1 << 17
_SEARCH_BYTES = 1 << 18
_SEARCH_LINES = 20_000


@dataclass(frozen=True)
class LogState:
    """What is known of a log at one moment; its lines below ``lines`` do not change any more.

    Attributes:
        generation: Another one after the file was cut or replaced.
        index: Of its lines.
        lines: Complete lines.
        loud: How many of them warn or tell errors.
        errors: How many tell errors.
        open_line: Begin, end and level of the line that is still being written.
        there: Whether the file is there.
        left_bytes: Not read yet.
        needle: What was searched for.
        matches: Numbers of the lines that hold it, in order; complete once ``searched`` is true.
        found: How many of ``matches`` are valid.
        searched: Whether all lines have been searched.
    """

    generation: int
    index: LogIndex
    lines: int = 0
    loud: int = 0
    errors: int = 0
    open_line: tuple[int, int, Level] | None = None
    there: bool = False
    left_bytes: int = 0
    needle: str = ""
    matches: array[int] = field(default_factory=lambda: array("Q"))
    found: int = 0
    searched: bool = True


class LogTail:
    """Reads what is new in a log, and keeps the index of its lines.

    Args:
        path: The log; it may not be there yet.
        secrets: Tokens to hide.
    """

    def __init__(self, path: Path, secrets: Sequence[str] = ()) -> None:
        self._path = path
        self._secrets = tuple(secrets)
        self._file: BinaryIO | None = None
        self._identity: tuple[int, int] | None = None
        self._text: LogText | None = None
        self._generation = 0
        self._index = LogIndex()
        self._there = False
        self._size = 0
        self._needle: Needle | None = None
        self._matches = array("Q")
        self._searched = 0

    def poll(self, budget_seconds: float = 0.05) -> bool:
        """Read and search what is new.

        Args:
            budget_seconds: After this time the rest is left to the next call.

        Returns:
            Whether there is more to do at once.
        """
        until = time.monotonic() + budget_seconds
        self._look()
        while self._file is not None and self._index.size < self._size:
            data = self._read(self._file)
            if not data:
                break
            self._index.feed(data)
            if time.monotonic() >= until:
                return True
        while self._needle and self._text and self._searched < self._index.lines:
            self._search(self._needle, self._text)
            if time.monotonic() >= until:
                return True
        return False

    def search(self, text: str) -> None:
        """Search for another text, from the first line; an empty one ends the search."""
        self._needle = needle_of(text) if text else None
        self._matches = array("Q")
        self._searched = 0

    def state(self) -> LogState:
        """Return what is known now."""
        index = self._index
        return LogState(
            self._generation,
            index,
            index.lines,
            len(index.loud),
            len(index.errors),
            index.open_line(),
            self._there,
            max(0, self._size - index.size),
            self._needle.text if self._needle else "",
            self._matches,
            len(self._matches),
            self._needle is None or self._searched >= index.lines,
        )

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
        if self._text is not None:
            self._text.close()
        self._file = self._text = None

    def _look(self) -> None:
        """See how long the file is, and whether it still is the one that was read."""
        try:
            found = self._path.stat()
        except OSError:
            self._there = False
            self._size = self._index.size
            return
        self._there = True
        if self._file is not None:
            other = (found.st_dev, found.st_ino) != self._identity
            if other or found.st_size < self._index.size:
                self._begin_anew()
        if self._file is None:
            self._open()
        self._size = found.st_size if self._file is not None else self._index.size

    def _open(self) -> None:
        try:
            self._file = self._path.open("rb", buffering=0)
            self._text = LogText(self._path, self._secrets)
            status = os.fstat(self._file.fileno())
            self._identity = (status.st_dev, status.st_ino)
        except OSError:
            self.close()
            self._there = False

    def _begin_anew(self) -> None:
        self.close()
        self._generation += 1
        self._index = LogIndex()
        self._matches = array("Q")
        self._searched = 0

    def _read(self, file: BinaryIO) -> bytes:
        try:
            file.seek(self._index.size)
            return file.read(CHUNK_BYTES) or b""
        except OSError:
            return b""

    def _search(self, needle: Needle, text: LogText) -> None:
        """Search the next lines, as they are shown: what is hidden or cut away is not found."""
        first, index = self._searched, self._index
        start = index.start(first)
        last = min(index.line_at(start + _SEARCH_BYTES - 1), index.lines, first + _SEARCH_LINES)
        if last <= first:
            last = first + 1
            if needle.within(text.line(*index.span(first))):
                self._matches.append(first)
        else:
            self._search_block(needle, text, start, index.start(last))
        self._searched = last

    def _search_block(self, needle: Needle, text: LogText, start: int, end: int) -> None:
        data = text.read(start, end - start)
        at = 0
        while (hit := needle.pattern.search(data, at)) is not None:
            line = self._index.line_at(start + hit.start())
            begin, end = self._index.span(line)
            shown = text.shown(data[begin - start : end - start][:READ_BYTES], end - begin)
            if needle.within(shown):
                self._matches.append(line)
            at = end + 1 - start
