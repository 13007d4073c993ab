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


def as_utf8(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Take a byte order mark off, and turn UTF-16 (``trainer > log.txt`` in PowerShell) into UTF-8."""
    rest = iter(chunks)
    start = b""
    for chunk in rest:
        start += chunk
        if len(start) >= 3:
            break
    encoding: str | None = None
    for mark, name in _MARKS:
        if start.startswith(mark):
            start, encoding = start[len(mark) :], name
            break
    if encoding is None:
        yield start
        yield from rest
        return
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    yield decoder.decode(start).encode("utf-8", "replace")
    for chunk in rest:
        yield decoder.decode(chunk).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")
