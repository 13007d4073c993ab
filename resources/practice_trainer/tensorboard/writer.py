"""Writes scalars to an event file: records with checksums around small protobuf messages."""

from __future__ import annotations

import os
import socket
import struct
import time
from pathlib import Path

_POLYNOMIAL = 0x82F63B78
_MASK_DELTA = 0xA282EAD8


def _table() -> list[int]:
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _table()


def masked_crc(data: bytes) -> int:
    """Return the CRC-32C of some bytes, rotated and shifted as record files want it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


def _varint(value: int) -> bytes:
    out = bytearray()
    value &= 0xFFFFFFFFFFFFFFFF
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def event(wall_time: float, step: int = 0, *, scalar: tuple[str, float] | None = None) -> bytes:
    """Return one Event message: a scalar at a step, or the file's first one that names the version."""
    message = b"\x09" + struct.pack("<d", wall_time)
    if step:
        message += b"\x10" + _varint(step)
    if scalar is None:
        return message + _field(3, b"brain.Event:2")
    tag, value = scalar
    content = _field(1, tag.encode()) + b"\x15" + struct.pack("<f", value)
    return message + _field(5, _field(1, content))


class EventFileWriter:
    """One event file in a folder.

    Attributes:
        path: The file.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        name = f"events.out.tfevents.{int(time.time())}.{socket.gethostname()}.{os.getpid()}.0"
        self.path = folder / name
        self._file = self.path.open("ab")
        self._write(event(time.time()))
        self.flush()

    def _write(self, message: bytes) -> None:
        length = struct.pack("<Q", len(message))
        self._file.write(length + struct.pack("<I", masked_crc(length)))
        self._file.write(message + struct.pack("<I", masked_crc(message)))

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        """Write one figure."""
        self._write(event(time.time(), step, scalar=(tag, value)))

    def flush(self) -> None:
        """Hand everything written so far to the system."""
        self._file.flush()

    def close(self) -> None:
        """End the file."""
        self._file.close()
