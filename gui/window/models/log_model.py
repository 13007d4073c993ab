"""The log of a run for the window: rows of it by number, read when they are seen."""

from __future__ import annotations

import contextlib
import threading
import time
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from PySide6.QtCore import QObject, Qt, Signal

from gui.engine.runs.log_index import LogIndex
from gui.engine.runs.log_levels import ERROR, WARNING, Level
from gui.engine.runs.log_tail import LogState, LogTail
from gui.engine.runs.log_text import LogText
from gui.engine.texts import _

Shown = Literal["all", "warnings", "errors"]

_POLL_SECONDS = 0.1
_TELL_SECONDS = 0.05
_BURST_SECONDS = 0.01
_REST_SECONDS = 0.002
_KEPT_LINES = 2000
MOST_COPIED_CHARACTERS = 32 * 1024 * 1024


class LogLine(NamedTuple):
    """A line as it is shown.

    Attributes:
        number: From 1, in the whole log.
        text: Its text.
        level: 0 plain, 1 warning, 2 error.
    """

    number: int
    text: str
    level: Level


class LogModel(QObject):
    """Rows of a log, all or those that warn, while it is written.

    A thread reads, indexes and searches; this side reads the few lines that are seen. Memory is eight
    bytes a line, whatever is in them.

    Args:
        path: The log; it may not be there yet.
        secrets: Tokens to hide beside what looks like one.
    """

    changed = Signal(bool)
    """There are other rows; true when they are other ones than before, not only more of them."""

    copied = Signal(str)
    """The text that `copy` was asked for."""

    _told = Signal(object)

    def __init__(self, path: Path, secrets: Sequence[str] = (), parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = path
        self._secrets = tuple(secrets)
        self._state = LogState(0, LogIndex())
        self._shown: Shown = "all"
        self._text: LogText | None = None
        self._kept: dict[int, str] = {}
        self._told.connect(self._take, Qt.ConnectionType.QueuedConnection)
        self._thread = _Reader(path, self._secrets, self)
        self._thread.start()

    def close(self) -> None:
        """Stop reading and let go of the file."""
        self._thread.stop()
        if self._text is not None:
            self._text.close()
            self._text = None

    @property
    def state(self) -> LogState:
        """What is known of the log."""
        return self._state

    @property
    def shown(self) -> Shown:
        """Which rows there are."""
        return self._shown

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self._complete() + self._has_open_row()

    def counts(self) -> tuple[int, int]:
        """Return how many lines warn, and how many tell errors."""
        return self._state.loud - self._state.errors, self._state.errors

    def problem(self) -> str:
        """Return why there is nothing (more) to read; empty where all is well."""
        if self._state.there or self._state.generation == self._state.lines == 0:
            return ""
        return _("The log is not there any more. What was read before is shown as far as possible.")

    def show(self, shown: Shown) -> None:
        """Show other rows."""
        if shown != self._shown:
            self._shown = shown
            self.changed.emit(True)

    def search(self, text: str) -> None:
        """Search for a text; an empty one ends the search."""
        self._thread.search(text)

    def line(self, row: int) -> LogLine:
        """Return a row."""
        state = self._state
        if row >= self._complete():
            begin, end, level = state.open_line or (0, 0, 0)
            return LogLine(state.lines + 1, self._read(begin, end), level)
        number = self.number_of(row)
        text = self._kept.get(number)
        if text is None:
            if len(self._kept) >= _KEPT_LINES:
                self._kept.clear()
            text = self._kept[number] = self._read(*state.index.span(number))
        return LogLine(number + 1, text, state.index.level(number))

    def number_of(self, row: int) -> int:
        """Return the number, from 0, of the line in a row."""
        if row >= self._complete():
            return self._state.lines
        if self._shown == "all":
            return row
        index = self._state.index
        return (index.errors if self._shown == "errors" else index.loud)[row]

    def row_of(self, number: int) -> int:
        """Return the row of a line, or of the first shown one behind it."""
        complete = self._complete()
        if self._shown == "all":
            return min(number, max(0, self.rows - 1))
        index = self._state.index
        numbers = index.errors if self._shown == "errors" else index.loud
        return min(bisect_left(numbers, number, 0, complete), max(0, self.rows - 1))

    def next_match(self, row: int, *, forward: bool) -> int | None:
        """Return the next row that holds the searched text, going round at the ends; None without any."""
        state = self._state
        if not state.found or not self.rows:
            return None
        number = self.number_of(row) if 0 <= row < self.rows else (-1 if forward else state.lines + 1)
        if forward:
            place = bisect_right(state.matches, number, 0, state.found)
        else:
            place = bisect_left(state.matches, number, 0, state.found) - 1
        step = 1 if forward else -1
        for _turn in range(state.found):
            match = state.matches[place % state.found]
            at = self.row_of(match)
            if self.number_of(at) == match:
                return at
            place += step
        return None

    def place_of_match(self, row: int) -> int:
        """Return the place, from 1, of a row among the matches; 0 where it is none."""
        state = self._state
        number = self.number_of(row)
        place = bisect_left(state.matches, number, 0, state.found)
        return place + 1 if place < state.found and state.matches[place] == number else 0

    def copy(self, first: int, last: int) -> None:
        """Gather the text of rows; `copied` brings it."""
        self._thread.copy(self._state, self._shown, first, last)

    def _complete(self) -> int:
        state = self._state
        return {"all": state.lines, "warnings": state.loud, "errors": state.errors}[self._shown]

    def _has_open_row(self) -> bool:
        least = {"all": 0, "warnings": WARNING, "errors": ERROR}[self._shown]
        return self._state.open_line is not None and self._state.open_line[2] >= least

    def _read(self, begin: int, end: int) -> str:
        if self._text is None:
            try:
                self._text = LogText(self._path, self._secrets)
            except OSError:
                return ""
        return self._text.line(begin, end)

    def _take(self, state: LogState) -> None:
        other = state.generation != self._state.generation
        if other:
            self._kept.clear()
            if self._text is not None:
                self._text.close()
                self._text = None
        self._state = state
        self.changed.emit(other)


class _Reader(threading.Thread):
    """Reads the log; tells what it knows at most twenty times a second."""

    def __init__(self, path: Path, secrets: Sequence[str], model: LogModel) -> None:
        super().__init__(name=f"log {path.name}", daemon=True)
        self._path = path
        self._secrets = secrets
        self._model = model
        self._wake = threading.Event()
        self._ends = threading.Event()
        self._lock = threading.Lock()
        self._needle: str | None = None
        self._copies: list[tuple[LogState, Shown, int, int]] = []

    def stop(self) -> None:
        """End, and wait for it."""
        self._ends.set()
        self._wake.set()
        if self.is_alive():
            self.join(5)

    def search(self, text: str) -> None:
        """Search for another text."""
        with self._lock:
            self._needle = text
        self._wake.set()

    def copy(self, state: LogState, shown: Shown, first: int, last: int) -> None:
        """Gather text."""
        with self._lock:
            self._copies.append((state, shown, first, last))
        self._wake.set()

    def run(self) -> None:
        """Follow the log until told to end."""
        tail = LogTail(self._path, self._secrets)
        told: LogState | None = None
        quiet_until = 0.0
        while not self._ends.is_set():
            needle, copies = self._wishes()
            if needle is not None:
                tail.search(needle)
            more = tail.poll(_BURST_SECONDS)
            state = tail.state()
            if state != told and not (more and time.monotonic() < quiet_until):
                told, quiet_until = state, time.monotonic() + _TELL_SECONDS
                self._tell(state)
            for copy in copies:
                self._copy(*copy)
            # While there is much to read the window needs the processor as well.
            self._wake.wait(_REST_SECONDS if more else _POLL_SECONDS)
            self._wake.clear()
        tail.close()

    def _tell(self, state: LogState) -> None:
        # A window that is closing may be gone already.
        with contextlib.suppress(RuntimeError):
            self._model._told.emit(state)

    def _wishes(self) -> tuple[str | None, list[tuple[LogState, Shown, int, int]]]:
        with self._lock:
            needle, self._needle = self._needle, None
            copies, self._copies = self._copies, []
        return needle, copies

    def _copy(self, state: LogState, shown: Shown, first: int, last: int) -> None:
        try:
            reader = LogText(self._path, self._secrets)
        except OSError:
            return
        index, lines, size = state.index, [], 0
        complete = {"all": state.lines, "warnings": state.loud, "errors": state.errors}[shown]
        for row in range(first, last + 1):
            if row >= complete:
                begin, end, _level = state.open_line or (0, 0, 0)
            else:
                number = row if shown == "all" else (index.errors if shown == "errors" else index.loud)[row]
                begin, end = index.span(number)
            lines.append(reader.line(begin, end))
            size += len(lines[-1])
            if self._ends.is_set() or size > MOST_COPIED_CHARACTERS:
                break
        reader.close()
        with contextlib.suppress(RuntimeError):
            self._model.copied.emit("\n".join(lines))
