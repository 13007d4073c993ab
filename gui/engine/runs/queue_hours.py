"""Hours of the day at which items of the queue may start, by the clock on the wall.

A moment is kept as the user meant it, without an offset, and compared anew at each look: so a clock that
is set, a machine that slept, and the days on which clocks are changed need no special care. An hour that
comes twice is the first of the two; one that does not exist passes with the change.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from gui.engine.errors import WrongUsage
from gui.engine.texts import _

_HOUR = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")


def next_moment(hour: str, now: datetime) -> datetime:
    """Return when an hour comes next.

    Args:
        hour: ``HH:MM``.
        now: Local time.

    Raises:
        WrongUsage: It is no hour.
    """
    found = _HOUR.fullmatch(hour.strip())
    if found is None:
        raise WrongUsage(_("“{text}” is no hour of the day; write 02:00 for instance").format(text=hour))
    moment = now.replace(hour=int(found[1]), minute=int(found[2]), second=0, microsecond=0)
    return moment if moment > now else moment + timedelta(days=1)


def has_come(moment: datetime | None, now: float) -> bool:
    """Whether a local time is there.

    Args:
        moment: Without an offset; None has always come.
        now: Seconds since 1970.
    """
    if moment is None:
        return True
    try:
        return now >= moment.timestamp()
    except (OverflowError, OSError, ValueError):  # a year that the system's clock cannot count
        return True


def hour_words(moment: datetime, now: datetime) -> str:
    """Return a moment in words, as short as it can be: ``02:00``, ``tomorrow 02:00``, a date.

    Args:
        moment: Local time.
        now: Likewise.
    """
    hour, days = f"{moment:%H:%M}", (moment.date() - now.date()).days
    if days == 0:
        return hour
    return _("tomorrow {hour}").format(hour=hour) if days == 1 else f"{moment:%Y-%m-%d} {hour}"
