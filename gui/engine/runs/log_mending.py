"""Makes a log that went through other programs what the trainer wrote: prefixes off, cut lines whole.

GUIs, containers, journals and ``ts`` put words before every line; a terminal of 80 columns breaks long
lines where it ends. Both hide what is looked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gui.engine.trainer.output.records import cells

_LEVEL = rb"(?:INFO|WARNING|ERROR|CRITICAL|DEBUG)"
_DAY = rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
_MONTH = rb"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,6})?"
_PREFIX = (
    rb"(?:"
    # kohya_ss: "12:10:11-123456 INFO     "
    rb"\d\d:\d\d:\d\d-\d{6} (?:INFO {5}|WARNING {2}|ERROR {4}|CRITICAL |DEBUG {4}|" + _LEVEL + rb" )"
    # journal and syslog: "Nov 30 00:19:32 host python[12]: "
    rb"|(?:<\d{1,3}>)?(?:"
    + _MONTH
    + rb"|"
    + _DAY
    + rb") (?!"
    + _LEVEL
    + rb" )[\w.\-]{1,64} [\w./@\-]{1,64}\[\d+\]: "
    # fluxgym and tmux: "[2024-08-20 22:01:11] [INFO] ", "[22:01:11] "
    rb"|\[(?:" + _DAY + rb"|\d\d:\d\d:\d\d(?:[.,]\d{1,6})?)\] (?:\[" + _LEVEL + rb"\] ?)?"
    # Kubernetes, docker logs -t, ts; a record's own time stays
    rb"|(?:" + _DAY + rb"|" + _MONTH + rb"|\d\d:\d\d:\d\d(?:[.,]\d{1,6})?) (?:std(?:out|err) [FP] )?"
    rb"(?!" + _LEVEL + rb"(?: |$))"
    # docker compose: "trainer-1  | "
    rb"|[A-Za-z0-9][\w.\-]{0,60} {1,20}\|(?: |$)"
    rb")"
)
_STRIPPED = re.compile(_PREFIX)
_ANY_PREFIX = re.compile(rb"^" + _PREFIX, re.MULTILINE)
_MOST_PREFIXES = 3

_WIDTHS = (80, 100, 120, 132)
"""How wide terminals are whose users copy out of them."""
_MOST_JOINED = 100
_SAMPLE = 1 << 16
_LONGEST = 1 << 16
_RECORD_ROW = re.compile(r"(?:.*\s{2}$| {20,}\S|.* [\w.\-]+\.pyx?:\d+$)")
_BEGINS = re.compile(
    r"Traceback \(most|\s+File \"|\s*(?:\d{4}-\d\d-\d\d [\d:]{8} )?" + _LEVEL.decode() + r" "
)


class Mended(NamedTuple):
    """A piece of the log.

    Attributes:
        data: Its bytes.
        joined: How many line ends were taken out of it.
    """

    data: bytes
    joined: int = 0


class LogMender:
    """Takes a log in chunks and gives it mended; at most 64 KiB wait."""

    def __init__(self) -> None:
        self._waiting = b""
        self._width: int | None = None
        self._prefixes_first = True
        self._decided = False
        self._inside_line = False

    def feed(self, data: bytes) -> Iterator[Mended]:
        """Give what the next bytes settle."""
        data = self._waiting + data
        self._waiting = b""
        if not self._decided:
            if len(data) < _SAMPLE:
                self._waiting = data
                return
            self._decide(data)
        end = data.rfind(b"\n") + 1
        if len(data) - end > _LONGEST:
            end = len(data)
        self._waiting = data[end:]
        yield from self._mended(data[:end])

    def finish(self) -> Iterator[Mended]:
        """Give the rest."""
        data, self._waiting = self._waiting, b""
        if not self._decided:
            self._decide(data)
        yield from self._mended(data)

    def _decide(self, data: bytes) -> None:
        """Find the width at which lines were cut: with their prefixes on, or before they got them."""
        self._decided = True
        self._width = _width_of(data.split(b"\n"))
        self._prefixes_first = self._width is None
        if self._width is None and _ANY_PREFIX.search(data):
            self._width = _width_of(_without_prefixes(data).split(b"\n"), at_least=2)

    def _mended(self, data: bytes) -> Iterator[Mended]:
        if not data:
            return
        head = b""
        if self._inside_line:
            cut = data.find(b"\n") + 1 or len(data)
            head, data = data[:cut], data[cut:]
            yield Mended(head)
        self._inside_line = not (data or head).endswith(b"\n")
        if self._width is None:
            yield Mended(_without_prefixes(data))
        elif self._prefixes_first:
            yield from _joined(_without_prefixes(data), self._width)
        else:
            for piece in _joined(data, self._width):
                yield Mended(_without_prefixes(piece.data), piece.joined)


def _without_prefixes(data: bytes) -> bytes:
    if _ANY_PREFIX.search(data) is None:
        return data
    return b"\n".join(map(_without_prefix, data.split(b"\n")))


def _without_prefix(row: bytes) -> bytes:
    for _each in range(_MOST_PREFIXES):
        match = _STRIPPED.match(row)
        if match is None:
            break
        row = row[match.end() :]
    return row


def _width_of(lines: list[bytes], at_least: int = 1) -> int | None:
    """Return the width at which the lines were cut; None where they are whole."""
    rows = [line.rstrip(b"\r").decode("utf-8", "replace") for line in lines]
    longest = max(map(len, rows))
    widest = max(map(cells, rows))
    for width in {longest, widest}.intersection(_WIDTHS):
        if sum(_is_full(row, width) for row in rows) >= at_least:
            return width
    return None


def _is_full(row: str, width: int) -> bool:
    """Whether the row goes to the edge, and is not one that the trainer's logger laid out so."""
    return width in (len(row), cells(row)) and not _RECORD_ROW.match(row)


def _joined(data: bytes, width: int) -> Iterator[Mended]:
    """Put rows that go to the edge together with those after them."""
    rows = data.split(b"\n")
    last = rows.pop()
    whole: list[bytes] = []
    at = 0
    while at < len(rows):
        row, first = rows[at], at
        text = row.rstrip(b"\r").decode("utf-8", "replace")
        while _is_full(text, width) and at + 1 < len(rows) and at - first < _MOST_JOINED:
            following = rows[at + 1].rstrip(b"\r").decode("utf-8", "replace")
            if not following or _BEGINS.match(following) or _STRIPPED.match(rows[at + 1]):
                break
            row, text, at = row.rstrip(b"\r") + rows[at + 1], following, at + 1
        at += 1
        whole.append(row)
        if at - first > 1:
            yield Mended(b"\n".join(whole) + b"\n", at - first - 1)
            whole = []
    yield Mended(b"\n".join([*whole, last]))
