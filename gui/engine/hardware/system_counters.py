"""Chooses who counts what each process holds of a GPU on this system."""

from __future__ import annotations

from gui.engine.hardware.host import operating_system
from gui.engine.hardware.process_counters import ProcessCounters


def system_counters() -> ProcessCounters | None:
    """Return the counters of this system, None where it has none."""
    if operating_system() != "windows":
        return None
    from gui.engine.hardware.windows_counters import WindowsCounters

    return WindowsCounters()
