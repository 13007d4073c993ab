"""What memory of a GPU a plan may use."""

from __future__ import annotations

from gui.engine.documents import Document

DESKTOP_RESERVE_GIB = 1.0
"""What is left to a desktop and to spikes."""

HEADLESS_RESERVE_GIB = 0.5
"""The same where no desktop draws."""

DESKTOP_GIB = 0.25
"""Who uses more of an idle GPU is a desktop, at the least."""

RESERVE_SHARE = 0.03
"""Of the card, on large ones."""

SPILL_SHARE = 0.95
"""From here on Windows moves memory to the RAM in silence, and everything becomes many times slower."""


class Room(Document):
    """The memory of one GPU, GiB.

    Attributes:
        total: What it has.
        free: What nobody uses now.
        reserve: What should be left over.
        windows: Whether the driver spills into the RAM instead of failing.
    """

    total: float
    free: float
    reserve: float
    windows: bool = False

    @classmethod
    def of(cls, total: float, free: float, system: str | None) -> Room:
        """Return the room on a GPU.

        Args:
            total: Its memory, GiB.
            free: What nobody uses now, GiB.
            system: ``linux``, ``windows`` or ``macos``; None when not known.
        """
        desktop = system == "windows" or total - free > DESKTOP_GIB
        least = DESKTOP_RESERVE_GIB if desktop else HEADLESS_RESERVE_GIB
        return cls(
            total=total, free=free, reserve=max(least, RESERVE_SHARE * total), windows=system == "windows"
        )

    @property
    def usable(self) -> float:
        """What a plan may need at most, GiB."""
        return self.free - self.reserve
