"""Names the programs that hold memory of a GPU."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import psutil

from gui.engine.quantities import gib
from gui.engine.texts import _


def program_name(pid: int) -> str:
    """Return what a process is called; empty where this user may not know, or in another container."""
    try:
        return psutil.Process(pid).name()
    except (psutil.Error, OSError, ValueError, OverflowError):
        return ""


def holder_words(processes: Mapping[int, int | None], leave_out: Collection[int], most: int = 3) -> list[str]:
    """Return the programs that hold most and what they hold, for people: ``chrome (1.2 GiB)``.

    Args:
        processes: Pid to bytes, None where not told, as in ``GpuSample``.
        leave_out: Processes that are no others.
        most: How many are named.
    """
    others = [(pid, held) for pid, held in processes.items() if pid not in leave_out]
    others.sort(key=lambda pair: -(pair[1] or 0))
    named = [(program_name(pid) or _("process {pid}").format(pid=pid), held) for pid, held in others[:most]]
    return [name if held is None else f"{name} ({gib(held)})" for name, held in named]
