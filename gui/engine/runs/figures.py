"""How figures of a run are written for people: losses, speeds, lengths of time, sizes."""

from __future__ import annotations

from gui.engine.quantities import HOUR, MINUTE, exact
from gui.engine.texts import _

duration = exact
"""A length of time, coarse where it is long."""


def figure(value: float) -> str:
    """Return a loss as people read it."""
    return f"{value:.4g}"


def speed(rate: float) -> str:
    """Return a speed, given in steps a second; slow steps are told in seconds each."""
    if rate >= 1:
        return _("{rate:.2f} steps a second").format(rate=rate)
    return _("{seconds:.1f} s a step").format(seconds=1 / rate)


def size(count: int) -> str:
    """Return a file's size, given in bytes."""
    value = float(count)
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"


def clock_time(t: float | None) -> str:
    """Return seconds since the trainer's start as ``mm:ss`` or ``h:mm:ss``; empty where not known."""
    if t is None:
        return ""
    whole = max(0, int(t))
    if whole < HOUR:
        return f"{whole // MINUTE:02d}:{whole % MINUTE:02d}"
    return f"{whole // HOUR}:{whole % HOUR // MINUTE:02d}:{whole % MINUTE:02d}"
