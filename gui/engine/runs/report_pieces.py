"""Reads bounded pieces of the files in a run's folder, whatever lies there under their names."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO, NamedTuple

from gui.engine.documents import reason_of
from gui.engine.errors import CannotRead
from gui.engine.runs.log_levels import plain_bytes
from gui.engine.texts import _

_MOST_REDRAWS = 12
"""Of a bar that is drawn over and over, so many states are kept: the first ones and the last ones."""
_FIRST_REDRAWS = 2

_LONGEST_START = 1 << 16
"""In so many bytes after a cut a line's end is looked for."""


class Piece(NamedTuple):
    """What was read of a file.

    Attributes:
        start: Its first bytes; all of them where nothing was left out.
        end: Its last bytes, from the beginning of a line; empty where nothing was left out.
        left_out: Bytes between them.
        size: Bytes of the whole file.
    """

    start: bytes
    end: bytes
    left_out: int
    size: int


def is_plain_file(path: Path) -> bool:
    """Whether a path is a file of its own: no link, pipe, device or folder."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def read_piece(path: Path, first_bytes: int, last_bytes: int) -> Piece:
    """Read the beginning and the end of a file of any size.

    Raises:
        CannotRead: It is missing, not readable, or no plain file.
    """
    if not is_plain_file(path):
        there = path.is_symlink() or path.exists()
        raise CannotRead(path, _("it is no plain file") if there else _("it is not there"))
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        with os.fdopen(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
            # What it is now may be another thing than what was looked at.
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise CannotRead(path, _("it is no plain file"))
            return _piece(file, first_bytes, last_bytes)
    except OSError as error:
        raise CannotRead(path, reason_of(error)) from error


def _piece(file: BinaryIO, first_bytes: int, last_bytes: int) -> Piece:
    size = os.fstat(file.fileno()).st_size
    if size <= first_bytes + last_bytes:
        return Piece(file.read(first_bytes + last_bytes), b"", 0, size)
    start = _whole_lines(file.read(first_bytes))
    file.seek(size - last_bytes)
    end = _after_cut(file.read(last_bytes))
    return Piece(start, end, size - len(start) - len(end), size)


def _whole_lines(data: bytes) -> bytes:
    """Leave out a last line that goes on: half a token would not be known as one."""
    return data[: max(data.rfind(b"\n"), data.rfind(b"\r")) + 1]


def _after_cut(data: bytes) -> bytes:
    """Leave out a first line of which the beginning is missing; of an endless one, its next words."""
    ends = [data.find(end, 0, _LONGEST_START) for end in (b"\n", b"\r")]
    found = [end for end in ends if end >= 0]
    return data[min(found) + 1 :] if found else data[_LONGEST_START:]


def log_text(piece: Piece, most_letters: int) -> str:
    """Return output as a text: bars cut down to a few of their states, colours taken out.

    Args:
        piece: What was read.
        most_letters: More than that is left out before the last ones.
    """
    start, end = _readable(piece.start), _readable(piece.end)
    if piece.left_out:
        start += _gap(piece.left_out)
    whole = start + end
    if len(whole) <= most_letters:
        return whole
    first = most_letters // 5
    cut = len(whole) - (most_letters - first)
    begin = whole.find("\n", cut) + 1 or cut
    left_out = begin - first
    return whole[:first].rpartition("\n")[0] + _gap(left_out) + whole[begin:]


def _gap(left_out: int) -> str:
    return "\n" + _("… {count} bytes are left out here …").format(count=f"{left_out:,}") + "\n"


def _readable(data: bytes) -> str:
    lines: list[str] = []
    for line in data.split(b"\n"):
        states = [state for state in line.split(b"\r") if state.strip()]
        if len(states) > _MOST_REDRAWS:
            between = len(states) - _MOST_REDRAWS
            more = _("… {count} states of a bar are left out here …").format(count=f"{between:,}")
            last = states[_FIRST_REDRAWS - _MOST_REDRAWS :]
            states = [*states[:_FIRST_REDRAWS], more.encode("utf-8"), *last]
        lines += [plain_bytes(state).decode("utf-8", "replace") for state in states] or [""]
    return "\n".join(lines)
