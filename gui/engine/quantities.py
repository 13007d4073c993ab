"""How lengths of time and amounts of bytes are written for people, everywhere alike."""

from __future__ import annotations

import math

from gui.engine.texts import _

MINUTE, HOUR, DAY = 60, 3600, 86400
MIB, GIB = 1 << 20, 1 << 30


def exact(seconds: float) -> str:
    """Return a length of time that was measured, coarse where it is long: ``12 min 04 s``."""
    if not math.isfinite(seconds):
        return _("unknown")
    whole = round(seconds)
    if whole < MINUTE:
        return _("{seconds} s").format(seconds=whole)
    if whole < HOUR:
        return _("{minutes} min {seconds:02d} s").format(minutes=whole // MINUTE, seconds=whole % MINUTE)
    return _("{hours} h {minutes:02d} min").format(hours=whole // HOUR, minutes=whole % HOUR // MINUTE)


def about(seconds: float) -> str:
    """Return a length of time that was estimated: ``about 38 min``, ``about 2 h 10 min``."""
    if not math.isfinite(seconds):
        return _("unknown")
    minutes = round(seconds / MINUTE)
    if minutes < 1:
        return _("less than a minute")
    if minutes < 100:
        return _("about {minutes} min").format(minutes=minutes)
    if seconds < DAY:
        return _hours(5 * round(minutes / 5))
    return _days(round(seconds / HOUR))


def _hours(whole: int) -> str:
    hours, minutes = divmod(whole, 60)
    text = _("about {hours} h {minutes} min") if minutes else _("about {hours} h")
    return text.format(hours=hours, minutes=minutes)


def _days(whole: int) -> str:
    days, hours = divmod(whole, 24)
    text = _("about {days} d {hours} h") if hours else _("about {days} d")
    return text.format(days=days, hours=hours)


def gib(count: float) -> str:
    """Return an amount of memory or disk, given in bytes: ``3.1 GiB``; small ones in MiB."""
    if abs(count) < GIB / 10:
        digits = 1 if abs(count) < 10 * MIB else 0
        return _("{number} MiB").format(number=f"{count / MIB:.{digits}f}".removesuffix(".0"))
    return _("{number} GiB").format(number=f"{count / GIB:.1f}")


def download(megabytes: float) -> str:
    """Return an amount to fetch, given in MB of 10^6 bytes: ``203 MB``, ``2.7 GB``."""
    if megabytes >= 1000:
        return _("{number} GB").format(number=f"{megabytes / 1000:.1f}")
    return _("{number} MB").format(number=f"{megabytes:.0f}")
