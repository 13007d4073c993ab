"""Reads recorded output in chunks: a file or a stream, also in the UTF-16 that PowerShell writes."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from gui.engine.documents import reason_of
from gui.engine.errors import CannotRead

CHUNK_BYTES = 1 << 16

_MARKS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"), (codecs.BOM_UTF8, None))


def read_log(path: Path) -> Iterator[bytes]:
    """Give a log's bytes in chunks, as UTF-8.

    Raises:
        CannotRead: It is missing, a folder, or not readable.
    """
    try:
        with path.open("rb") as stream:
            yield from as_utf8(read_stream(stream))
    except OSError as error:
        raise CannotRead(path, reason_of(error)) from error


def read_stream(stream: BinaryIO) -> Iterator[bytes]:
    """Give what a stream holds, as soon as it comes."""
    read = getattr(stream, "read1", stream.read)
    while chunk := read(CHUNK_BYTES):
        yield chunk


def encoding_of(start: bytes) -> tuple[bytes, str | None]:
    """Return the byte order mark and the UTF-16 encoding of a log, None for one that is UTF-8.

    Args:
        start: Its first four bytes, or more. Without a mark every other one of them is zero in UTF-16.
    """
    for mark, name in _MARKS:
        if start.startswith(mark):
            return mark, name
    if len(start) >= 4 and start[0] and not start[1] and start[2] and not start[3]:
        return b"", "utf-16-le"
    if len(start) >= 4 and not start[0] and start[1] and not start[2] and start[3]:
        return b"", "utf-16-be"
    return b"", None


def as_utf8(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Take a byte order mark off, and turn UTF-16 (``trainer > log.txt`` in PowerShell) into UTF-8."""
    rest = iter(chunks)
    start = b""
    for chunk in rest:
        start += chunk
        if len(start) >= 4:
            break
    mark, encoding = encoding_of(start)
    start = start[len(mark) :]
    if encoding is None:
        yield start
        yield from rest
        return
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    yield decoder.decode(start).encode("utf-8", "replace")
    for chunk in rest:
        yield decoder.decode(chunk).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")
