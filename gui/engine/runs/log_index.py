"""Where the lines of a log begin and which of them warn: eight bytes a line, no text in memory.

A line ends at a line feed. Of what carriage returns have overwritten (progress bars) only the last
state counts.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from itertools import accumulate, islice

from gui.engine.runs.log_levels import ERROR, HEAD_BYTES, LOUD_WORDS, PLAIN, WARNING, Block, Level, judge_line


class LogIndex:
    """Index of a growing log; what it says depends on the bytes alone, however they are cut.

    One thread feeds it. Others may ask about lines below a number of lines that they were told.

    Attributes:
        size: Bytes seen.
        loud: Numbers of the complete lines that warn or tell errors, from 0.
        errors: Numbers of the complete lines that tell errors.
    """

    def __init__(self) -> None:
        self.size = 0
        self.loud = array("Q")
        self.errors = array("Q")
        self._starts = array("Q", [0])
        self._folded = array("Q")
        self._folds = array("Q")
        self._block: Block | None = None
        self._begin_line()

    @property
    def lines(self) -> int:
        """How many lines are complete."""
        return len(self._starts) - 1

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        at = self.size
        first, *more = data.split(b"\n")
        self._go_on(first, at)
        if more:
            rest = more.pop()
            self._end_line(at + len(first))
            self._whole_lines(more, data)
            self._go_on(rest, self._starts[-1])
        self.size = at + len(data)

    def span(self, line: int) -> tuple[int, int]:
        """Return where what is seen of a complete line begins and ends."""
        place = bisect_left(self._folded, line)
        folded = place < len(self._folded) and self._folded[place] == line
        start = self._folds[place] if folded else self._starts[line]
        return start, self._starts[line + 1] - 1

    def open_line(self) -> tuple[int, int, Level] | None:
        """Return begin, end and level of what stands after the last line feed; None where nothing does."""
        if self.size == self._starts[-1]:
            return None
        return self._visible, self.size, judge_line(self._head, self._block)[0]

    def level(self, line: int) -> Level:
        """Return the level of a complete line."""
        if _holds(self.errors, line):
            return ERROR
        return WARNING if _holds(self.loud, line) else PLAIN

    def line_at(self, offset: int) -> int:
        """Return the number of the line in which a byte stands."""
        return bisect_left(self._starts, offset + 1) - 1

    def start(self, line: int) -> int:
        """Return where a line begins, with all that was overwritten in it."""
        return self._starts[line]

    def _begin_line(self) -> None:
        self._visible = self._starts[-1]
        self._head = b""
        self._returned = False

    def _go_on(self, piece: bytes, at: int) -> None:
        """Take a piece of the line that is not complete yet."""
        body = piece.rstrip(b"\r")
        if body:
            cut = body.rfind(b"\r") + 1
            if cut or self._returned:
                self._visible, self._head = at + cut, b""
            room = HEAD_BYTES - len(self._head)
            self._head += body[cut : cut + room] if room else b""
            self._returned = False
        if len(body) < len(piece):
            self._returned = True

    def _end_line(self, end: int) -> None:
        self._note(self.lines, self._head, self._visible)
        self._starts.append(end + 1)
        self._begin_line()

    def _whole_lines(self, pieces: list[bytes], data: bytes) -> None:
        """Take lines that no chunk has cut; most of them are plain, and cost next to nothing."""
        if not pieces:
            return
        first, next_line = self.lines, self.lines
        begins = accumulate((len(piece) + 1 for piece in pieces), initial=self._starts[-1])
        self._starts.extend(islice(begins, 1, None))
        for line in (*self._candidates(data, first), self.lines):
            while next_line < line and self._block is not None:
                self._whole_line(next_line, pieces[next_line - first])
                next_line += 1
            if next_line <= line < self.lines:
                self._whole_line(line, pieces[line - first])
                next_line = line + 1
        self._begin_line()

    def _candidates(self, data: bytes, first: int) -> list[int]:
        """Return the numbers of the complete lines, from ``first``, that are worth a look."""
        lines: set[int] = set()
        for word in (*LOUD_WORDS, b"\r"):
            at = data.find(word)
            while at >= 0:
                line = self.line_at(self.size + at)
                lines.add(line)
                at = data.find(word, self._starts[line + 1] - self.size) if line < self.lines else -1
        return sorted(line for line in lines if first <= line < self.lines)

    def _whole_line(self, line: int, piece: bytes) -> None:
        body = piece.rstrip(b"\r")
        cut = body.rfind(b"\r") + 1
        self._note(line, body[cut : cut + HEAD_BYTES], self._starts[line] + cut)

    def _note(self, line: int, head: bytes, visible: int) -> None:
        level, self._block = judge_line(head, self._block)
        if level:
            self.loud.append(line)
        if level == ERROR:
            self.errors.append(line)
        if visible != self._starts[line]:
            self._folded.append(line)
            self._folds.append(visible)


def _holds(numbers: array[int], number: int) -> bool:
    place = bisect_left(numbers, number)
    return place < len(numbers) and numbers[place] == number
