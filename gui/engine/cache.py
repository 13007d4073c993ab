"""The cache as a whole: how large it is, and how it is emptied. All of it can be made again."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from gui.engine.documents import reason_of
from gui.engine.errors import Cancelled, CannotWrite
from gui.engine.paths import Home


def folder_size(folder: Path, cancelled: Callable[[], bool] | None = None) -> int:
    """Return what the files below a folder hold, in bytes; nothing outside it is followed.

    Args:
        folder: Which; one that is not there holds nothing.
        cancelled: Asked at each folder; True ends the counting.

    Raises:
        Cancelled: The caller asked for it.
    """
    total = 0
    for place, _folders, names in os.walk(folder):
        if cancelled is not None and cancelled():
            raise Cancelled
        for name in names:
            # Files come and go while they are counted.
            with contextlib.suppress(OSError):
                total += Path(place, name).lstat().st_size
    return total


def clear_cache(home: Home) -> int:
    """Remove everything in the cache; links are removed, not what they lead to.

    Args:
        home: Whose cache.

    Returns:
        How many bytes became free.

    Raises:
        CannotWrite: Something could not be removed; all the rest is gone.
    """
    freed = 0
    kept: OSError | None = None
    for place, folders, names in os.walk(home.cache, topdown=False):
        for name in (*names, *folders):
            path = Path(place, name)
            try:
                freed += _remove(path)
            except FileNotFoundError:
                continue
            except OSError as error:
                # A folder that is not empty is so because of what could not be removed before.
                kept = kept or error
    if kept is not None:
        raise CannotWrite(kept.filename or home.cache, reason_of(kept)) from kept
    return freed


def _remove(path: Path) -> int:
    """Remove a file, a link or an empty folder; return how much it held."""
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
        return 0
    size = path.lstat().st_size
    path.unlink()
    return size
