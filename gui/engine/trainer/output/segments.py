"""Cuts a stream of bytes into lines and bars, wherever the stream itself was cut.

A line ends at a line feed or a carriage return. A bar ends at its closing bracket, since its
redraw has no terminator and what follows may be a log record glued to it (trainer-output 3.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gui.engine.trainer.output.bars import Bar, match_bar

LONGEST_LINE = 1 << 16
"""Bytes of a line that are kept; the rest of a longer one is passed over."""


class Line(NamedTuple):
    """One line of text, or what is left of it behind a bar.

    Attributes:
        raw: Its bytes without the line end.
        glued: Whether a bar stands before it, so that its first column is unknown.
    """

    raw: bytes
    glued: bool


_BLANK = Line(b"", glued=False)


class Segmenter:
    """Turns chunks into lines and bars; what is not decided yet is carried, 64 KiB at most.

    Attributes:
        line: The number of the line, from 1, in which the last given piece stands.
    """

    def __init__(self) -> None:
        self.line = 1
        self._carry = bytearray()
        self._glued = False
        self._returned = False

    def feed(self, data: bytes) -> Iterator[Line | Bar]:
        """Give the lines and bars that the data completes, in order."""
        if b"\n" not in data and b"\r" not in data:
            if b"]" in data:
                data = bytes(self._carry) + data
                self._carry.clear()
                yield from self._open_end(data)
            else:
                self._carry += data[: LONGEST_LINE - len(self._carry)]
            return
        rows = data.split(b"\n")
        rows[0] = bytes(self._carry) + rows[0]
        self._carry.clear()
        rest = rows.pop()
        for row in rows:
            yield from self._row(row)
            self.line += 1
        if b"\r" in rest:
            *redraws, rest = rest.split(b"\r")
            yield from self._redraws(redraws)
        yield from self._open_end(rest)

    def finish(self) -> Iterator[Line | Bar]:
        """Give the last line, which nothing ended."""
        last = bytes(self._carry)
        self._carry.clear()
        yield from self._segment(last)

    def _row(self, row: bytes) -> Iterator[Line | Bar]:
        """Give the pieces of a row that a line feed ended."""
        if b"\r" in row:
            *redraws, row = row.split(b"\r")
            yield from self._redraws(redraws)
        if row or self._glued:
            yield from self._segment(row)
        elif not self._returned:
            yield _BLANK
        self._returned = False

    def _redraws(self, redraws: list[bytes]) -> Iterator[Line | Bar]:
        """Give the pieces that carriage returns ended."""
        for redraw in redraws:
            yield from self._segment(redraw)
            self._returned = True

    def _segment(self, raw: bytes) -> Iterator[Line | Bar]:
        """Give the bars and then the text of one complete line or redraw."""
        glued = self._glued
        self._glued = False
        at = 0
        while found := match_bar(raw, at):
            bar, at = found
            glued = True
            yield bar
        if at < len(raw):
            yield Line(raw[at : at + LONGEST_LINE], glued)

    def _open_end(self, rest: bytes) -> Iterator[Bar]:
        """Give the bars whose closing bracket has come, and carry only what follows them."""
        at = 0
        while found := match_bar(rest, at):
            bar, at = found
            self._glued = True
            yield bar
        self._carry += rest[at : at + LONGEST_LINE]
