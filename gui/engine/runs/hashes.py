"""Hashes of model files, by which a run's record names them and by which sites find them."""

from __future__ import annotations

import hashlib
from pathlib import Path

from gui.engine.documents import Document, reason_of
from gui.engine.errors import Cancelled, CannotRead
from gui.engine.trainer.tensor_scan import CancelledAsk, Progress

CHUNK_BYTES = 4 << 20
AUTOV2_LENGTH = 10


class FileHash(Document):
    """The hash of a file's bytes.

    Attributes:
        sha256: In full, as 64 hexadecimal digits.
        size_bytes: Of the file.
    """

    sha256: str
    size_bytes: int

    @property
    def autov2(self) -> str:
        """The short form that Civitai and the WebUIs call AutoV2: the first ten digits."""
        return self.sha256[:AUTOV2_LENGTH].upper()


def hash_file(
    path: Path, progress: Progress | None = None, cancelled: CancelledAsk | None = None
) -> FileHash:
    """Hash a file, piece by piece.

    Args:
        path: The file.
        progress: Told bytes done and bytes in all, after each piece.
        cancelled: Asked before each piece whether to give up.

    Raises:
        CannotRead: The system does not let the file be read, or it is a folder.
        Cancelled: ``cancelled`` said so.
    """
    digest = hashlib.sha256()
    buffer = memoryview(bytearray(CHUNK_BYTES))
    done = 0
    try:
        with path.open("rb", buffering=0) as file:
            total = path.stat().st_size
            while count := file.readinto(buffer):
                if cancelled is not None and cancelled():
                    raise Cancelled
                digest.update(buffer[:count])
                done += count
                if progress is not None:
                    progress(done, max(total, done))
    except OSError as error:
        raise CannotRead(path, reason_of(error)) from error
    return FileHash(sha256=digest.hexdigest(), size_bytes=done)
