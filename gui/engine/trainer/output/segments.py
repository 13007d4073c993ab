"""Cuts a stream of bytes into lines and bars, wherever the stream itself was cut.

A line ends at a line feed or a carriage return. A bar ends at its closing bracket, since its
redraw has no terminator and what follows may be a log record glued to it (trainer-output 3.2).
"""

from __future__ import annotations

from collections.abc import Callable

from gui.engine.trainer.output.bars import LONGEST_BAR, TRAINING_BAR, Bar, match_bar
from gui.engine.trainer.output.phrases import LOUD, may_matter, starts_telling

LONGEST_LINE = 1 << 16
"""Bytes of a line that are kept; the rest of a longer one is passed over."""


class Segmenter:
    """Cuts chunks into lines and bars; what is not decided yet is carried, 64 KiB at most.

    Args:
        on_line: Called with each line of text without its end, and whether a bar stands before it,
            so that its first column is unknown.
        on_steps: Called with each redraw of the training bar: done, total, rate, postfix.
        on_bar: Called with each redraw of another bar.

    Attributes:
        line: The number of the line, from 1, in which the piece just given stands.
        attentive: Whether every line is wanted, or only those that ``may_matter``. To be set by who
            is called.
    """

    def __init__(
        self,
        on_line: Callable[[bytes, bool], None],
        on_steps: Callable[[int, int | None, bytes, bytes | None], None],
        on_bar: Callable[[Bar], None],
    ) -> None:
        self.line = 1
        self.attentive = True
        self._on_line = on_line
        self._on_steps = on_steps
        self._on_bar = on_bar
        self._carry = bytearray()
        self._glued = False
        self._returned = False

    def feed(self, data: bytes) -> None:
        """Give the lines and bars that the data completes, in order."""
        if b"\n" not in data and b"\r" not in data:
            if b"]" in data:
                data = bytes(self._carry) + data
                self._carry.clear()
                self._open_end(data)
            else:
                self._carry += data[: LONGEST_LINE - len(self._carry)]
            return
        rows = data.split(b"\n")
        rows[0] = bytes(self._carry) + rows[0]
        self._carry.clear()
        rest = rows.pop()
        if rows:
            self._row(rows[0])
            self._further_rows(rows[1:], quiet=not any(word in data for word in LOUD))
        if b"\r" in rest:
            *redraws, rest = rest.split(b"\r")
            self._redraws(redraws)
        self._open_end(rest)

    def finish(self) -> None:
        """Give the last line, which nothing ended."""
        last = bytes(self._carry)
        self._carry.clear()
        self._segment(last)

    def _further_rows(self, rows: list[bytes], *, quiet: bool) -> None:
        """Give the pieces of rows that no chunk has cut.

        Args:
            rows: What line feeds ended.
            quiet: Whether only its start can make a row matter.
        """
        first = self.line
        for number, row in enumerate(rows, first):
            if quiet and not self.attentive and not starts_telling(row):
                continue
            self.line = number
            self._row(row)
        self.line = first + len(rows)

    def _row(self, row: bytes) -> None:
        """Give the pieces of one row that a line feed ended."""
        if b"\r" in row:
            *redraws, row = row.split(b"\r")
            self._redraws(redraws)
        if self._glued or b"]" in row or len(row) > LONGEST_LINE:
            self._segment(row)
        elif (row or not self._returned) and (self.attentive or may_matter(row)):
            self._on_line(row, False)
        self._returned = False
        self.line += 1

    def _redraws(self, redraws: list[bytes]) -> None:
        """Give the pieces that carriage returns ended."""
        for redraw in redraws:
            self._returned = self._returned or self._glued or bool(redraw)
            self._segment(redraw)

    def _segment(self, raw: bytes) -> None:
        """Give the bars and then the text of one complete line or redraw."""
        at = self._bars(raw)
        glued, self._glued = self._glued, False
        if at < len(raw):
            text = raw[at : at + LONGEST_LINE]
            if self.attentive or may_matter(text):
                self._on_line(text, glued)

    def _open_end(self, rest: bytes) -> None:
        """Give the bars whose closing bracket has come, and carry only what follows them."""
        at = self._bars(rest)
        self._carry += rest[at : at + LONGEST_LINE]

    def _bars(self, raw: bytes) -> int:
        """Give the bars at the start of a piece; return where they end."""
        at, end = 0, len(raw)
        while at < end:
            match = TRAINING_BAR.match(raw, at, at + LONGEST_BAR)
            if match is not None:
                at = match.end()
                done, total, rate, postfix = match.groups()
                self._on_steps(int(done), int(total), rate, postfix)
            elif found := match_bar(raw, at):
                bar, at = found
                if bar.name == "steps":
                    self._on_steps(bar.done, bar.total, bar.rate, bar.postfix)
                else:
                    self._on_bar(bar)
            else:
                break
            self._glued = True
        return at
