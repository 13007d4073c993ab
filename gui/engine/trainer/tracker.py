"""Reads the figures that the trainer's tracker writes, while it writes them.

TensorBoard's event file is a row of records: length (8 bytes), masked CRC-32C of the length (4),
the record, its masked CRC-32C (4). A record is a protocol buffer ``Event``. Only scalars are read;
the standard library is enough (trainer-facts 7.5; tensorflow/core/lib/io/record_writer.cc).
"""

from __future__ import annotations

import os
import re
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

_NAME = re.compile(r"(?:^|\.)tfevents\.(\d{9,12})\b")
_HEADER = struct.Struct("<QI")
_DEEPEST = 5
_MOST_FILES = 64
_LOOK_SECONDS = 1.0
_FIRST_LOOK_SECONDS = 0.1
_LONGEST_SCALAR = 1 << 16
_LONGEST_RECORD = 1 << 34
_MOST_BYTES = 1 << 20
_MOST_TRIES = 50


class TrackerPoint(NamedTuple):
    """One figure.

    Attributes:
        step: The step (for ``…/epoch_average`` and its like the epoch).
        tag: What it is, such as ``loss/current``, ``loss/average`` or ``lr/unet``.
        value: The figure; may be nan or infinite.
        wall_time: When it was written, in seconds since 1970.
    """

    step: int
    tag: str
    value: float
    wall_time: float


@dataclass
class _File:
    path: Path
    at: int = 0
    tries: int = 0
    broken: bool = False


class TrackerReader:
    """Follows the event files below a folder.

    A record that is half written waits for its rest. A damaged record is passed over when its
    length can be trusted, else its file is given up.

    Args:
        folder: The trainer's ``--logging_dir`` or a folder below it; it may not be there yet.
        since: Only files begun at or after this time, in seconds since 1970, are read, so that other
            runs' files in the same folder are not. None: the folder's newest run.
    """

    def __init__(self, folder: Path, since: float | None = None) -> None:
        self._folder = folder
        self._since = since
        self._files: dict[Path, _File] = {}
        self._look_at = 0.0

    def read(self) -> list[TrackerPoint]:
        """Return the figures that came since the last call, file by file in the order of writing."""
        now = time.monotonic()
        if now >= self._look_at:
            self._look_at = now + (_LOOK_SECONDS if self._files else _FIRST_LOOK_SECONDS)
            self._look()
        points: list[TrackerPoint] = []
        for file in self._files.values():
            if not file.broken:
                points.extend(_read_on(file))
        return points

    def _look(self) -> None:
        """Find new files."""
        found = sorted(_event_files(self._folder, _DEEPEST))
        if self._since is not None:
            chosen = [path for began, path in found if began >= int(self._since)]
        else:
            newest = self._run_of(found[-1][1]) if found else None
            chosen = [path for _began, path in found if self._run_of(path) in (newest, None)]
        for path in chosen[-_MOST_FILES:]:
            self._files.setdefault(path, _File(path))

    def _run_of(self, path: Path) -> str | None:
        """Return the sub-folder of one run: the trainer makes one by the time, with further ones in it."""
        parts = path.relative_to(self._folder).parts
        return parts[0] if len(parts) > 1 else None


def _event_files(folder: Path, depth: int) -> Iterator[tuple[int, Path]]:
    """Give the event files below a folder with the time at which each was begun, by its name."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        name = _NAME.search(entry.name)
        if name is not None:
            yield int(name[1]), Path(entry.path)
        elif depth > 0 and _is_folder(entry):
            yield from _event_files(Path(entry.path), depth - 1)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _read_on(file: _File) -> list[TrackerPoint]:
    points: list[TrackerPoint] = []
    try:
        with file.path.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            if size <= file.at:
                return points
            stream.seek(file.at)
            until = file.at + _MOST_BYTES
            while file.at < until and _take_record(file, stream, size, points):
                file.tries = 0
    except OSError:
        return points
    return points


def _take_record(file: _File, stream: BinaryIO, size: int, points: list[TrackerPoint]) -> bool:
    """Read one record; False when it is not complete yet or the file is given up."""
    head = stream.read(_HEADER.size)
    if len(head) < _HEADER.size:
        return False
    length, check = _HEADER.unpack(head)
    if check != masked_crc32c(head[:8]) or length > _LONGEST_RECORD:
        # Zeros may stand for bytes still on their way on a network disk: look again a while.
        file.tries += 1
        file.broken = file.tries > _MOST_TRIES
        return False
    end = file.at + _HEADER.size + length + 4
    if end > size:
        return False
    if length <= _LONGEST_SCALAR:
        body = stream.read(length + 4)
        if len(body) < length + 4:
            return False
        data, check = body[:length], int.from_bytes(body[length:], "little")
        if check == masked_crc32c(data):
            points.extend(_scalars(data))
        elif file.tries < _MOST_TRIES:
            file.tries += 1
            return False
    else:
        stream.seek(end)
    file.at = end
    return True


def _make_table() -> tuple[int, ...]:
    table = []
    for value in range(256):
        for _bit in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)  # noqa: PLW2901
        table.append(value)
    return tuple(table)


_TABLE = _make_table()


def masked_crc32c(data: bytes) -> int:
    """Return the masked CRC-32C (Castagnoli) that guards a record."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _scalars(data: bytes) -> Iterator[TrackerPoint]:
    """Read an ``Event``: wall_time = 1, step = 2, summary = 5."""
    wall_time, step, summaries = 0.0, 0, []
    for number, value in _fields(data):
        if number == 1 and isinstance(value, bytes) and len(value) == 8:
            wall_time = struct.unpack("<d", value)[0]
        elif number == 2 and isinstance(value, int):
            step = value if value < 1 << 63 else value - (1 << 64)
        elif number == 5 and isinstance(value, bytes):
            summaries.append(value)
    for summary in summaries:
        for number, value in _fields(summary):
            if number == 1 and isinstance(value, bytes):
                yield from _scalar(value, step, wall_time)


def _scalar(data: bytes, step: int, wall_time: float) -> Iterator[TrackerPoint]:
    """Read a ``Summary.Value``: tag = 1, simple_value = 2, tensor = 8."""
    tag, figure = "", None
    for number, value in _fields(data):
        if not isinstance(value, bytes):
            continue
        if number == 1:
            tag = value.decode("utf-8", "replace")
        elif number == 2 and len(value) == 4:
            figure = _float32(value)
        elif number == 8:
            figure = _tensor(value)
    if tag and figure is not None:
        yield TrackerPoint(step, tag, figure, wall_time)


def _tensor(data: bytes) -> float | None:
    """Read a ``TensorProto`` of one float: dtype = 1 (DT_FLOAT), tensor_content = 4, float_val = 5."""
    kind, figure = 0, None
    for number, value in _fields(data):
        if number == 1 and isinstance(value, int):
            kind = value
        elif number in (4, 5) and isinstance(value, bytes) and len(value) == 4:
            figure = _float32(value)
    return figure if kind == 1 else None


def _float32(raw: bytes) -> float:
    """Return the shortest decimal that stands for the same 32-bit number: 0.12, not 0.119999997."""
    value = float(struct.unpack("<f", raw)[0])
    for digits in (6, 7, 8):
        short = float(f"{value:.{digits}g}")
        if abs(short) < 3.4e38 and struct.pack("<f", short) == raw:
            return short
    return value


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Give the fields of a protocol buffer; what cannot be read ends it."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield number, value
            continue
        if wire == 2:
            length, at = _varint(data, at)
        else:
            length = {1: 8, 5: 4}.get(wire, len(data) + 1)
        if at + length > len(data):
            return
        yield number, data[at : at + length]
        at += length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Read a number of seven bits a byte; a cut one ends the data."""
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    return 0, len(data)
