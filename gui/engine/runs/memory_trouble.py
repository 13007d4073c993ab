"""Judges the memory of one GPU while a run trains on it: nearly full, spilling over, taken by others.

Fed with looks in the order of time; it reads no clock and writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from gui.engine.quantities import GIB, MIB

FULL_SHARE = 0.02
"""Less room than this share of the GPU is nearly none …"""
FULL_SHARE_WDDM = 0.05
"""… and on Windows, where CUDA begins to spill instead of failing, less than this."""
FULL_SECONDS = 5.0
"""So long it must last: allocating passes through full now and then."""
AT_EASE = 2.0
"""With so many times that room all is well again."""

SPILL_BYTES = 200 * MIB
SPILL_FROM = 0.95
"""Shared memory that grows by so much while so much of the GPU is taken is spilled memory; what grows
before is pinned RAM, which loaders and swapped blocks use on purpose."""
SPILL_SLOWER = 2.5
"""Steps so many times as long as the run's own median, with full memory, are the other sign of it."""
SPILL_OVER = 1.5

OTHERS_BYTES = 512 * MIB
"""Another program that takes so much more than before is worth a word …"""
OTHERS_MOST_BYTES = 2 * GIB
"""… and so is what was there before the run, from here on (T15)."""
OTHERS_LOOKS = 2

MemoryTroubleKind = Literal["memory-full", "memory-spill", "gpu-others"]


class MemoryLook(NamedTuple):
    """One GPU at one moment; bytes, None where not told.

    Attributes:
        now: Seconds on any clock that never goes back.
        total: Its memory.
        used: Taken by everybody.
        free: Not taken.
        shared: RAM that the GPU uses for the run.
        others: Taken by other programs.
        spare: What torch has taken and does not use even at its peak: it is had without asking the driver.
        wddm: Whether Windows keeps the memory.
        step_seconds: What a step takes now.
        usual_seconds: What one usually takes in this run.
    """

    now: float
    total: int
    used: int
    free: int
    shared: int | None = None
    others: int | None = None
    spare: int = 0
    wddm: bool = False
    step_seconds: float | None = None
    usual_seconds: float | None = None

    @property
    def share(self) -> float:
        """The part of the GPU that is taken."""
        return self.used / self.total if self.total else 0.0

    @property
    def slower(self) -> float:
        """How many times as long as usual a step takes; 1 where not known."""
        if not self.step_seconds or not self.usual_seconds:
            return 1.0
        return self.step_seconds / self.usual_seconds


@dataclass(frozen=True)
class MemoryChange:
    """Something is wrong with the memory, or no longer.

    Attributes:
        kind: What.
        over: Whether it is over.
        count: Bytes: the room left, what was spilled (0 where only slow steps tell), what others hold.
    """

    kind: MemoryTroubleKind
    over: bool
    count: int


class MemoryJudge:
    """Looks at one GPU."""

    def __init__(self) -> None:
        self._on: set[MemoryTroubleKind] = set()
        self._full_since: float | None = None
        self._shared_before: int | None = None
        self._others_before: int | None = None
        self._others_seen = 0

    def has(self, kind: MemoryTroubleKind) -> bool:
        """Whether that is wrong now."""
        return kind in self._on

    def look(self, look: MemoryLook) -> list[MemoryChange]:
        """Take the next look; return what has changed, mostly nothing."""
        return [*self._full(look), *self._spill(look), *self._others(look)]

    def _full(self, look: MemoryLook) -> list[MemoryChange]:
        room = look.free + look.spare
        least = look.total * (FULL_SHARE_WDDM if look.wddm else FULL_SHARE)
        if room >= least:
            self._full_since = None
            return self._turn(
                "memory-full", on=self.has("memory-full") and room < AT_EASE * least, count=room
            )
        since = self._full_since = look.now if self._full_since is None else self._full_since
        lasting = self.has("memory-full") or look.now - since >= FULL_SECONDS
        return self._turn("memory-full", on=lasting, count=room)

    def _spill(self, look: MemoryLook) -> list[MemoryChange]:
        full, was_on = look.share >= SPILL_FROM, self.has("memory-spill")
        if look.shared is not None and (self._shared_before is None or not (full or was_on)):
            self._shared_before = look.shared
        spilled = max(0, (look.shared or 0) - (self._shared_before or 0))
        slow = look.wddm and look.slower >= (SPILL_OVER if was_on else SPILL_SLOWER)
        grown = spilled > (SPILL_BYTES // 2 if was_on else SPILL_BYTES)
        return self._turn("memory-spill", on=(full or was_on) and (grown or (slow and full)), count=spilled)

    def _others(self, look: MemoryLook) -> list[MemoryChange]:
        if look.others is None:
            return []
        before = self._others_before
        self._others_before = look.others if before is None else min(before, look.others)
        was_on = self.has("gpu-others")
        ease = 2 if was_on else 1
        grown = look.others - self._others_before >= OTHERS_BYTES // ease
        much = look.others >= OTHERS_MOST_BYTES // ease
        self._others_seen = self._others_seen + 1 if grown or much else 0
        on = bool(self._others_seen) if was_on else self._others_seen >= OTHERS_LOOKS
        return self._turn("gpu-others", on=on, count=look.others)

    def _turn(self, kind: MemoryTroubleKind, *, on: bool, count: int) -> list[MemoryChange]:
        if on == self.has(kind):
            return []
        (self._on.add if on else self._on.discard)(kind)
        return [MemoryChange(kind, over=not on, count=count)]
