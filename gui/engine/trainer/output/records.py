"""The trainer's log records as rich lays them out, and their text put together again.

Columns of a row (trainer-output 3.2): 0–18 the time, blank when it is the one before; from 20 the
level in eight; from 29 the message, wrapped; at the right edge of the first row ``file.py:line``.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

MESSAGE_COLUMN = 29
_ROW = re.compile(
    r"\s{0,40}(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:,\d{1,6})? )?"
    r"(?:(INFO|WARNING|ERROR|CRITICAL|DEBUG)\s*$|(INFO {4}|WARNING |ERROR {3}|CRITICAL|DEBUG {3}) (.*))"
)
_SOURCE = re.compile(r"[\w.\-]+\.pyx?:\d+")
_MOST_ROWS = 400
_LONGEST_ROW = 4000
_GUI_PREFIX = re.compile(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] \[[A-Z]+\] ?")


@dataclass
class Record:
    """One log record while its rows come in.

    Attributes:
        level: INFO, WARNING, ERROR, CRITICAL or DEBUG.
        line: The number of the line of its first row.
        source: ``file.py:line``, None where the row does not show it.
        width: Cells of the message column; None where unknown.
        rows: The rows of the message, without their padding.
    """

    level: str
    line: int
    source: str | None
    width: int | None
    rows: list[str] = field(default_factory=list)

    def message(self) -> str:
        """Put the message together: cut words are joined, spaces lost at wraps are put back."""
        text = self.rows[0]
        last = self.rows[0]
        for row in self.rows[1:]:
            text += _joint(last, row, self.width) + row
            last = row
        return text.strip()


def without_gui_prefix(text: str) -> str:
    """Take off the ``[time] [INFO] `` that some GUIs put before every line (cases.md, fact 6)."""
    return _GUI_PREFIX.sub("", text, count=1)


def begin_record(text: str, line: int) -> Record | None:
    """Read the first row of a record; None when the line is none."""
    match = _ROW.match(text)
    if match is None:
        return None
    if match[1]:
        return Record(match[1], line, None, None, [""])
    level, rest = match[2].strip(), match[3][:_LONGEST_ROW].rstrip()
    words, _space, source = rest.rpartition(" ")
    if not _SOURCE.fullmatch(source):
        return Record(level, line, None, None, [rest])
    return Record(level, line, source, cells(rest) - len(source) - 1, [words.rstrip()])


def continue_record(record: Record, text: str) -> bool:
    """Add a further row to the record; False when the line is not one of it."""
    if not text.startswith(" " * MESSAGE_COLUMN) or _ROW.match(text):
        return False
    if len(record.rows) < _MOST_ROWS:
        record.rows.append(text[MESSAGE_COLUMN:_LONGEST_ROW].rstrip())
    return True


def cells(text: str) -> int:
    """Return the width of a text on a terminal: two cells for a wide character."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _joint(row: str, following: str, width: int | None) -> str:
    """Say what stood between two rows: nothing in a cut word, a space at a wrap, else a line end."""
    word = following.lstrip().split(" ", 1)[0]
    if width is None:
        return " "
    filled = cells(row)
    if following.startswith(" ") or not following or not row:
        return "\n"
    cut = filled == width or (filled == width - 1 and cells(word[:1]) == 2)
    if cut and " " not in row.strip():
        return ""
    return " " if filled + 1 + cells(word) > width else "\n"
