"""Tells when a training has fallen silent or has slowed down, by its own usual pace.

Fed with looks at the run and their times; it reads no clock and writes nothing. Time in which the
machine slept, or the run was paused, does not count: whoever looks was asleep too, so that a long gap
between two looks is the sign of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass
from statistics import median
from typing import Literal, NamedTuple

from gui.engine.trainer.events import PhaseName

SLEEP_SECONDS = 10.0
"""Looks come many times a second; after a longer gap the machine was asleep, or as good as that."""

SILENT_SECONDS = 120.0
"""So long a training with a known pace may say nothing, at least: a loader may start its workers, a
disk may wake up."""

SILENT_STEPS = 10
"""… and as long as so many usual steps."""

EPOCH_SECONDS = 300.0
"""Before an epoch's first step: on Windows each worker starts a Python of its own (several minutes on
a slow disk)."""

PATIENCE_SECONDS: dict[PhaseName, float] = {
    "loading": 900.0,
    "caching-latents": 600.0,
    "caching-text": 600.0,
    "training": 900.0,
    "validating": 600.0,
    "sampling": 600.0,
    "saving": 600.0,
    "done": 600.0,
}
"""So long each phase may say nothing; ``training`` while its pace is not known, since the first steps
may compile kernels. Models load from network drives, and full models are saved onto them."""

BLOCK_STEPS = 5
BLOCK_SECONDS = 30.0
"""Steps are judged in blocks of at least so many and so long, each by its median: one step that waited
for a disk is no slowness, and neither are some of a large bucket."""

KNOWN_BLOCKS = 3
"""The usual pace is known after so many blocks."""

SLOWER = 3.0
"""A block with steps so many times as long as usual tells that the run has slowed down."""

RECOVERED = 2.0
"""Below this the run counts as fast again."""

_MOST_BLOCKS = 500
_MOST_AT_ONCE = 200

PaceKind = Literal["stalled", "slowed"]


class Look(NamedTuple):
    """A run at one moment.

    Attributes:
        now: Seconds on any clock that never goes back.
        phase: What the trainer is doing; None while it loads.
        step: Steps done, None before the first.
        epoch: The epoch, None before the first.
        log_bytes: How much the trainer has printed.
        halted: Whether the run is paused.
    """

    now: float
    phase: PhaseName | None = None
    step: int | None = None
    epoch: int | None = None
    log_bytes: int = 0
    halted: bool = False


@dataclass(frozen=True)
class PaceChange:
    """Something is wrong with the pace, or no longer.

    Attributes:
        kind: ``stalled``: nothing was heard; ``slowed``: steps take far longer than usual.
        over: Whether it is over.
        seconds: How long nothing was heard, or what a step takes now.
        usual_seconds: What a step usually takes, None where that is not known.
    """

    kind: PaceKind
    over: bool
    seconds: float
    usual_seconds: float | None = None


class _Block(NamedTuple):
    """Steps in a row: the median of their seconds, and how many they are."""

    seconds: float
    steps: int


class Pace:
    """Looks at one run, in the order of time."""

    def __init__(self) -> None:
        self._last: Look | None = None
        self._awake = 0.0
        self._heard_at = 0.0
        self._stalled = False
        self._step_at = 0.0
        self._clean = False
        self._epoch_fresh = True
        self._block: list[float] = []
        self._blocks: deque[_Block] = deque(maxlen=_MOST_BLOCKS)
        self._latest: _Block | None = None
        self._slow = False

    @property
    def usual_seconds(self) -> float | None:
        """What a step usually takes; None while too few have been seen."""
        if self._blocks:
            return _median_step(self._blocks)
        return median(self._block) if len(self._block) >= BLOCK_STEPS else None

    @property
    def recent_seconds(self) -> float | None:
        """What a step takes now; None while none has been timed."""
        if self._block:
            return median(self._block)
        return self._latest.seconds if self._latest else None

    def look(self, look: Look) -> list[PaceChange]:
        """Take the next look.

        Returns:
            What has changed since the one before, mostly nothing.
        """
        last, self._last = self._last, look
        if last is None:
            return []
        gap = look.now - last.now
        lost = gap > SLEEP_SECONDS or look.halted or last.halted
        if not lost:
            self._awake += max(0.0, gap)
        elif look.halted:
            self._heard_at = self._awake
        return [*self._listen(look, last), *self._time(look, last, lost=lost)]

    def _listen(self, look: Look, last: Look) -> list[PaceChange]:
        silent = self._awake - self._heard_at
        if look.log_bytes != last.log_bytes or look.step != last.step:
            self._heard_at = self._awake
            if self._stalled:
                self._stalled = False
                return [PaceChange("stalled", over=True, seconds=silent, usual_seconds=self.usual_seconds)]
        elif not self._stalled and not look.halted and silent > self._patience(look):
            self._stalled = True
            return [PaceChange("stalled", over=False, seconds=silent, usual_seconds=self.usual_seconds)]
        return []

    def _patience(self, look: Look) -> float:
        phase, usual = look.phase or "loading", self.usual_seconds
        if phase != "training" or usual is None:
            return PATIENCE_SECONDS[phase]
        least = EPOCH_SECONDS if self._epoch_fresh else SILENT_SECONDS
        return max(least, SILENT_STEPS * usual)

    def _time(self, look: Look, last: Look, *, lost: bool) -> list[PaceChange]:
        """Take the time of the steps that nothing came between."""
        changes: list[PaceChange] = []
        done = (look.step or 0) - (last.step or 0)
        if done > 0:
            if self._clean and not lost:
                each = (self._awake - self._step_at) / done
                self._block += [each] * min(done, _MOST_AT_ONCE)
                changes = self._judge()
            self._step_at = self._awake
            self._clean, self._epoch_fresh = True, False
        if look.epoch != last.epoch:
            self._clean, self._epoch_fresh = False, True
        if lost or done < 0 or look.phase != "training":
            self._clean = False
        return changes

    def _judge(self) -> list[PaceChange]:
        """Judge the block of steps once it is full."""
        if len(self._block) < BLOCK_STEPS or sum(self._block) < BLOCK_SECONDS:
            return []
        block = self._latest = _Block(median(self._block), len(self._block))
        self._block.clear()
        usual = _median_step(self._blocks) if len(self._blocks) >= KNOWN_BLOCKS else 0.0
        was_slow = self._slow
        if usual > 0:
            self._slow = block.seconds > (RECOVERED if was_slow else SLOWER) * usual
        if not self._slow:
            self._blocks.append(block)
        if self._slow == was_slow:
            return []
        return [PaceChange("slowed", over=was_slow, seconds=block.seconds, usual_seconds=usual)]


def _median_step(blocks: Collection[_Block]) -> float:
    """Return the median of all steps, each taken for its block's median."""
    left = sum(block.steps for block in blocks) / 2
    for block in sorted(blocks):
        left -= block.steps
        if left <= 0:
            break
    return block.seconds
