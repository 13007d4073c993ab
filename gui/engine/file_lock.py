"""Locks a file in a way that its holder cannot forget: the lock dies with the process."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_AT = 1 << 30
"""Windows locks bytes, and locked ones cannot be read: this one is far behind any content."""

PATIENCE_SECONDS = 2.0
"""Another program holds the file for milliseconds; one that hangs while it does must hold up nobody."""


def is_locked(path: Path) -> bool:
    """Whether a living process holds the lock of a file; one that is not there is not held."""
    for mode in ("r+b", "rb"):  # network drives lock only what can be written; a disk may be read only
        try:
            with path.open(mode) as file:
                return not try_lock(file)
        except FileNotFoundError:
            return False
        except OSError:
            continue
    return True


if os.name == "nt":  # pragma: no cover - not this system
    import msvcrt

    def try_lock(file: BinaryIO) -> bool:
        """Lock an open file unless somebody else holds it; closing the file gives it back."""
        file.seek(_AT)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        return True

else:
    import fcntl

    def try_lock(file: BinaryIO) -> bool:
        """Lock an open file unless somebody else holds it; closing the file gives it back."""
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


@contextlib.contextmanager
def held(path: Path) -> Iterator[None]:
    """Keep other programs from changing the file at the same time, so that no change is lost."""
    with contextlib.ExitStack() as stack:
        # Where this cannot be done, writing the file itself says why.
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            file = stack.enter_context(path.with_name(f".{path.name}.lock").open("a+b"))
            give_up = time.monotonic() + PATIENCE_SECONDS
            while not try_lock(file) and time.monotonic() < give_up:
                time.sleep(0.01)
        yield
