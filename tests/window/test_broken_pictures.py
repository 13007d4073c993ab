"""Samples that are no pictures, or too large to be read into memory."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest
from PySide6.QtCore import QSize

from gui.engine.errors import CannotRead
from gui.window.pages.run.samples import read_picture


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _claims(path: Path, width: int, height: int) -> Path:
    """Write a small file that says of itself that it is large."""
    head = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + head + _chunk(b"IDAT", zlib.compress(b"")) + _chunk(b"IEND", b""))
    return path


def test_that_a_picture_too_large_for_memory_is_refused_in_words(qapp, tmp_path):
    huge = _claims(tmp_path / "huge.png", 20_000, 20_000)
    with pytest.raises(CannotRead, match="20,000 × 20,000 pixels are too many to show"):
        read_picture(huge, QSize(144, 144))


def test_that_an_empty_file_and_a_lost_one_are_told_apart(qapp, tmp_path):
    empty = tmp_path / "empty.png"
    empty.write_bytes(b"")
    with pytest.raises(CannotRead) as told:
        read_picture(empty, QSize(144, 144))
    assert "no longer there" not in str(told.value)
    with pytest.raises(CannotRead, match="no longer there"):
        read_picture(tmp_path / "gone.png", QSize(144, 144))
