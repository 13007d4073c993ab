"""Sends a copy of a model file to a folder, such as an image program's; nothing there is overwritten."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from gui.engine.documents import reason_of
from gui.engine.errors import Cancelled, CannotRead, CannotWrite
from gui.engine.runs.hashes import CHUNK_BYTES, hash_file
from gui.engine.texts import _
from gui.engine.trainer.tensor_scan import CancelledAsk, Progress

PASSES = 2
"""Once to copy, once to read the copy back."""


def send_copy(
    path: Path, folder: Path, progress: Progress | None = None, cancelled: CancelledAsk | None = None
) -> Path:
    """Copy a file and read the copy back.

    Args:
        path: The file.
        folder: Where to; it must be there.
        progress: Told bytes done and bytes in all, both passes counted.
        cancelled: Asked whether to give up.

    Returns:
        The copy; one of the same content that is there already is left as it is.

    Raises:
        CannotWrite: The folder is not there, the disk is full, or the copy came out different.
        CannotRead: The file cannot be read.
        Cancelled: ``cancelled`` said so.
    """
    if not folder.is_dir():
        raise CannotWrite(folder, _("there is no such folder"))
    if not path.is_file():
        raise CannotRead(path, _("it is no longer there") if not path.exists() else _("it is a folder"))
    target = folder / path.name
    temporary: Path | None = None
    try:
        if _is_there(path, target, cancelled):
            return target
        size = _fitting_size(path, folder)
        handle, name = tempfile.mkstemp(dir=folder, prefix=".", suffix=".tmp")
        temporary = Path(name)
        digest = _copied(path, handle, _doubled(progress, 0, size), cancelled)
        if hash_file(temporary, _doubled(progress, size, size), cancelled).sha256 != digest:
            raise CannotWrite(target, _("what was written is not what was read; the disk may be failing"))
        shutil.copystat(path, temporary)
        return _named(temporary, path, folder)
    except OSError as error:
        raise CannotWrite(target, reason_of(error)) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def _is_there(path: Path, target: Path, cancelled: CancelledAsk | None) -> bool:
    """Whether a file of the same content bears the name already."""
    if not target.is_file() or target.stat().st_size != path.stat().st_size:
        return False
    return hash_file(target, None, cancelled).sha256 == hash_file(path, None, cancelled).sha256


def _fitting_size(path: Path, folder: Path) -> int:
    """Return the file's size; refuse it where there is no room."""
    size = path.stat().st_size
    if shutil.disk_usage(folder).free < size:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return size


def _copied(path: Path, handle: int, progress: Progress, cancelled: CancelledAsk | None) -> str:
    """Copy into an open file; return the hash of what was read."""
    digest = hashlib.sha256()
    done = 0
    with os.fdopen(handle, "wb") as target, path.open("rb") as source:
        while piece := source.read(CHUNK_BYTES):
            if cancelled is not None and cancelled():
                raise Cancelled
            digest.update(piece)
            target.write(piece)
            done += len(piece)
            progress(done, done)
        target.flush()
        os.fsync(target.fileno())
    return digest.hexdigest()


def _doubled(progress: Progress | None, before: int, size: int) -> Progress:
    def tell(done: int, _of_this: int) -> None:
        if progress is not None:
            progress(before + done, PASSES * size)

    return tell


def _named(temporary: Path, path: Path, folder: Path) -> Path:
    """Give the copy the first name that is free, in one step over nothing."""
    number = 1
    while True:
        name = path.name if number == 1 else f"{path.stem} ({number}){path.suffix}"
        target = folder / name
        try:
            _take_name(temporary, target)
        except FileExistsError:
            number += 1
        else:
            return target


def _take_name(temporary: Path, target: Path) -> None:
    """Name a file without ever replacing another.

    Raises:
        FileExistsError: There is one of that name.
    """
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):  # no hard links there, as on FAT and many network drives
        with target.open("xb"):
            pass
        temporary.replace(target)
