"""Gives memory back to the system, and keeps Python from looking through all of it at the wrong moment."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys
from collections.abc import Iterator

USUAL_COLLECTIONS = gc.get_threshold()
"""Python's own thresholds; those of the moment may be of another one who goes without."""

NEVER = 1_000_000


def give_back_memory() -> None:
    """Give freed memory back after much work; does nothing where the C library cannot.

    glibc keeps what a thread has freed for that thread: after a look at 100,000 images that is 30 MB.
    """
    if not sys.platform.startswith("linux"):
        return
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def keep_for_good() -> None:
    """Leave out of all further collections what is there now, such as imported modules and open pages."""
    gc.collect()
    gc.freeze()


@contextlib.contextmanager
def no_full_collections() -> Iterator[None]:
    """Go without full collections for a while: with very many objects each stops all threads for 100 ms.

    What is freed without them, and what came lately, still is.
    """
    gc.set_threshold(*USUAL_COLLECTIONS[:2], NEVER)
    try:
        yield
    finally:
        gc.set_threshold(*USUAL_COLLECTIONS)
