"""Writes a file's SHA-256 beside it, as ``sha256sum`` does: anybody can see later that it is whole."""

from __future__ import annotations

from pathlib import Path

from gui.engine.documents import read_text, write_atomically
from gui.engine.errors import CannotRead, CannotWrite
from gui.engine.runs.hashes import FileHash, hash_file
from gui.engine.texts import _
from gui.engine.trainer.tensor_scan import CancelledAsk, Progress

ENDING = ".sha256"


def checksum_file(path: Path) -> Path:
    """Return where a file's hash stands."""
    return path.with_name(path.name + ENDING)


def write_checksum(
    path: Path, progress: Progress | None = None, cancelled: CancelledAsk | None = None
) -> FileHash:
    """Hash a file and write that beside it; what stands there already is only compared.

    Args:
        path: The file.
        progress: Told bytes done and bytes in all.
        cancelled: Asked whether to give up.

    Raises:
        CannotRead: The file cannot be read.
        CannotWrite: Nothing can be written beside it, or another hash stands there: the file has changed.
        Cancelled: ``cancelled`` said so.
    """
    found = hash_file(path, progress, cancelled)
    place = checksum_file(path)
    known = known_checksum(path)
    if known is not None and known != found.sha256:
        raise CannotWrite(
            place, _("another hash stands there: the file has changed since, or the hash is another file's")
        )
    if known is None:
        write_atomically(place, f"{found.sha256}  {path.name}\n")
    return found


def known_checksum(path: Path) -> str | None:
    """Return the hash that stands beside a file, None where none does."""
    try:
        words = read_text(checksum_file(path)).split()
    except CannotRead:
        return None
    return words[0].lower() if words and len(words[0]) == 64 else None
