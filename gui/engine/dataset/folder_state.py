"""Tells whether the files of a dataset are other ones than before, without opening any."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from gui.engine.dataset.listing import OWN

CACHES = (".npz", ".safetensors")
"""What trainers write beside images; new ones make no other dataset."""


def folders_changed(folders: Iterable[Path]) -> tuple[int, ...]:
    """Return when names were added to folders or taken out of them last, nanoseconds; cheap.

    Args:
        folders: Which; one that is not there has -1.
    """
    return tuple(map(_changed, folders))


def state_of_folders(folders: Iterable[Path]) -> str:
    """Return what folders are known by: names, sizes and times of all files but caches.

    Args:
        folders: Which, without the folders in them.
    """
    state = hashlib.sha256()
    for folder in folders:
        state.update(os.fsencode(folder) + b"\0" + _state(folder))
    return state.hexdigest()


def _state(folder: Path) -> bytes:
    """Return a sum over all files: in whatever order a system lists them, and without sorting 200,000."""
    total = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.name.startswith(OWN) and not entry.name.endswith(CACHES):
                    total += int.from_bytes(hashlib.sha256(_line(entry)).digest(), "big")
    except OSError:
        return b"gone"
    return b"%x" % total


def _line(entry: os.DirEntry[str]) -> bytes:
    try:
        status = entry.stat()
    except OSError:
        return os.fsencode(entry.name)
    return os.fsencode(entry.name) + f"\0{status.st_size} {status.st_mtime_ns}\n".encode("ascii")


def _changed(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except (OSError, ValueError):
        return -1
