"""Hashes of model files, by which a run's record names them and by which sites find them."""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

from pydantic import ValidationError

from gui.engine.documents import Document, read_json, reason_of, write_atomically
from gui.engine.errors import Cancelled, CannotRead, CannotWrite
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


class _Remembered(FileHash):
    """A hash beside what the file was when it was made.

    Attributes:
        path: The file.
        changed_ns: When it was changed, as the system counts.
    """

    path: str
    changed_ns: int


def cached_hash(
    path: Path,
    cache: Path,
    progress: Progress | None = None,
    cancelled: CancelledAsk | None = None,
) -> FileHash:
    """Hash a file, unless it was hashed before and has not changed since.

    Args:
        path: The file.
        cache: The folder of remembered hashes; a cache that cannot be written is no error.
        progress: As of ``hash_file``; not told where the hash is known.
        cancelled: As of ``hash_file``.

    Raises:
        CannotRead: The system does not let the file be read, or it is a folder.
        Cancelled: ``cancelled`` said so.
    """
    place = path.absolute()
    try:
        before = place.stat()
    except (OSError, ValueError) as error:
        raise CannotRead(path, reason_of(error) if isinstance(error, OSError) else str(error)) from error
    name = hashlib.sha256(str(place).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    file = cache / f"{name}.json"
    wanted = (str(place), before.st_size, before.st_mtime_ns)
    with contextlib.suppress(CannotRead, ValidationError):
        known = _Remembered.model_validate(read_json(file))
        if (known.path, known.size_bytes, known.changed_ns) == wanted:
            return FileHash(sha256=known.sha256, size_bytes=known.size_bytes)
    found = hash_file(place, progress, cancelled)
    after = place.stat()
    if (after.st_size, after.st_mtime_ns, found.size_bytes) == (*wanted[1:], before.st_size):
        entry = _Remembered(path=wanted[0], changed_ns=wanted[2], **found.model_dump())
        with contextlib.suppress(CannotWrite):
            write_atomically(file, entry.model_dump_json(), durable=False)
    return found
