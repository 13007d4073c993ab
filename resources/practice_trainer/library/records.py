"""Log records as the trainer's terminal handler writes them.

Time, level, message wrapped in its column, file and line on the first row only; the time is blank
when it is that of the record before. On a pipe the width is 80 cells unless ``COLUMNS`` says
otherwise, long words are cut in the middle, East Asian characters take two cells.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import time
import unicodedata
from typing import TextIO

DEFAULT_WIDTH = 80
TIME_WIDTH = 19
LEVEL_WIDTH = 8
INDENT = TIME_WIDTH + 1 + LEVEL_WIDTH + 1
_WORD = re.compile(r"\s*\S+\s*")


def cells(text: str) -> int:
    """Return how many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(_cells_of(character) for character in text)


def _cells_of(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _pieces(word: str, width: int) -> list[str]:
    """Cut one long word into pieces that fill the width."""
    pieces, piece, used = [], "", 0
    for character in word:
        needed = _cells_of(character)
        if used + needed > width and piece:
            pieces.append(piece)
            piece, used = "", 0
        piece += character
        used += needed
    return [*pieces, piece]


def wrap(text: str, width: int) -> list[str]:
    """Wrap one line of text at words; a word longer than the width begins a row and is cut."""
    rows, row, used = [], "", 0
    for word in _WORD.findall(text):
        needed = cells(word.rstrip())
        if used + needed <= width:
            row += word
            used += cells(word)
            continue
        if row:
            rows.append(row)
        if needed > width:
            *full, row = _pieces(word, width)
            rows += full
        else:
            row = word
        used = cells(row)
    return [*(line.rstrip() for line in rows), row.rstrip()]


def terminal_width() -> int:
    """Return the width that records are made for."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        return DEFAULT_WIDTH


class RecordHandler(logging.Handler):
    """Writes records in columns.

    Attributes:
        stream: Where to; ``sys.stderr`` of the moment when None.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__()
        self.stream = stream
        self._last_time = ""

    def rows(self, record: logging.LogRecord, width: int) -> list[str]:
        """Return the rows of one record, each padded to the width."""
        source = f"{record.filename}:{record.lineno}"
        room = max(1, width - INDENT - 1 - len(source))
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record.created))
        shown = " " * TIME_WIDTH if stamp == self._last_time else stamp
        self._last_time = stamp
        message = [
            row for line in record.getMessage().expandtabs(8).split("\n") for row in (wrap(line, room))
        ]
        padded = [row + " " * (room - cells(row)) for row in message]
        first = f"{shown} {record.levelname:<{LEVEL_WIDTH}} {padded[0]} {source}"
        return [first, *(" " * INDENT + row + " " * (1 + len(source)) for row in padded[1:])]

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record at once, straight after whatever stands on the line."""
        stream = self.stream or sys.stderr
        stream.write("".join(f"{row}\n" for row in self.rows(record, terminal_width())))
        stream.flush()


def setup_logging(
    level: str | None = None, file: str | None = None, *, simple: bool = False, again: bool = False
) -> None:
    """Install the handler that the arguments ask for.

    Args:
        level: A level's name; INFO when None.
        file: Write records there instead of to the terminal; an old file is overwritten.
        simple: Bare messages on stdout.
        again: Replace what was installed before; otherwise the first choice stays.
    """
    root = logging.getLogger()
    if root.handlers and not again:
        return
    for handler in list(root.handlers):
        root.removeHandler(handler)
    chosen: logging.Handler
    if file:
        chosen = logging.FileHandler(file, mode="w", encoding="utf-8")
    elif simple:
        chosen = logging.StreamHandler(sys.stdout)
    else:
        chosen = RecordHandler()
    root.addHandler(chosen)
    root.setLevel(level or "INFO")
