"""Reads of a log of any length what may tell the cause: start, end, and where something failed between."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from gui.engine.documents import reason_of
from gui.engine.errors import CannotRead
from gui.engine.trainer.output import read_log
from gui.engine.trainer.output.reading import encoding_of

HEAD_BYTES = 4 << 20
TAIL_BYTES = 8 << 20
BLOCK_BYTES = 1 << 18
_MOST_FIRST, _MOST_LAST, _MOST_BROKEN = 6, 10, 2
_FAILURES = (
    b"Traceback (most recent call last)",
    b"Error: ",
    b": error: ",
    b"ERROR ",
    b"out of memory",
    b"\nKilled",
    b"No data found",
)
_BROKEN_LOSSES = (b"loss=nan", b"loss=inf")


def pieces_of(path: Path) -> Iterator[bytes | int]:
    """Give a log's bytes as UTF-8, and for what is left out the number of its line feeds.

    A log of up to 12 MiB comes whole. Of a longer one come the start, the end, and the places between at
    which something failed: the first and the last of them, since some fail again and again.

    Raises:
        CannotRead: The log cannot be read.
    """
    try:
        size = path.stat().st_size
        if size <= HEAD_BYTES + TAIL_BYTES:
            yield from read_log(path)
            return
        with path.open("rb") as stream:
            yield from _LongLog(stream, size).pieces()
    except OSError as error:
        raise CannotRead(path, reason_of(error)) from error


class _LongLog:
    """A log of which only parts are read closely.

    Args:
        stream: The open file.
        size: Its length in bytes.
    """

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        mark, self._encoding = encoding_of(stream.read(4))
        self._begin = len(mark)
        # Whole units of two bytes, so that a block of UTF-16 is never cut inside a character.
        self._head_end = self._begin + HEAD_BYTES // 2 * 2
        blocks = max(0, size - self._head_end - TAIL_BYTES) // BLOCK_BYTES
        self._feeds: list[int] = []
        self._tail_begin = self._head_end + blocks * BLOCK_BYTES
        self._chosen = self._choose(blocks)

    def pieces(self) -> Iterator[bytes | int]:
        yield from self._read(self._begin, self._head_end)
        following = 0
        for number in self._chosen:
            if number > following:
                yield sum(self._feeds[following:number])
            start = self._head_end + number * BLOCK_BYTES
            yield from self._read(start, start + BLOCK_BYTES)
            following = number + 1
        if following < len(self._feeds):
            yield sum(self._feeds[following:])
        self._stream.seek(self._tail_begin)
        while data := self._stream.read(BLOCK_BYTES):
            yield self._as_utf8(data)

    def _read(self, begin: int, end: int) -> Iterator[bytes]:
        self._stream.seek(begin)
        for at in range(begin, end, BLOCK_BYTES):
            yield self._as_utf8(self._stream.read(min(BLOCK_BYTES, end - at)))

    def _choose(self, blocks: int) -> list[int]:
        """Look through the middle, cheaply, and return the numbers of the blocks worth reading."""
        self._stream.seek(self._head_end)
        first: list[int] = []
        broken: list[int] = []
        last: deque[int] = deque(maxlen=_MOST_LAST)
        for number in range(blocks):
            data = self._as_utf8(self._stream.read(BLOCK_BYTES))
            self._feeds.append(data.count(b"\n"))
            if any(word in data for word in _FAILURES):
                (first if len(first) < _MOST_FIRST else last).append(number)
            elif len(broken) < _MOST_BROKEN and any(word in data for word in _BROKEN_LOSSES):
                broken.append(number)
        # A traceback may end in the block after the one in which it begins.
        found = {*first, *broken, *last}
        return sorted(each for each in found | {number + 1 for number in found} if each < blocks)

    def _as_utf8(self, data: bytes) -> bytes:
        if self._encoding is None:
            return data
        return data.decode(self._encoding, "replace").encode("utf-8", "replace")
