"""Holds what a loss curve has been like, in little room and with little work a step.

Single steps of diffusion are noise: each draws its own timestep, and a batch of one varies twentyfold. What
can be spoken of are levels, the means of many steps, and how sure they are.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from gui.engine.runs.loss_limits import SpikeLimits

MOST_LEVELS = 64
"""So many are held; then two become one, and new ones take twice as many steps."""

FEWEST_BEFORE = 100
"""So many steps are needed to know what is usual."""


class Level(NamedTuple):
    """The mean of some steps one after the other.

    Attributes:
        first: The first step.
        last: The last one.
        steps: How many.
        mean: Of their losses.
        spread: Sum of the squares of what they differ from it.
    """

    first: int
    last: int
    steps: int
    mean: float
    spread: float

    @property
    def variance(self) -> float:
        """Of a single step."""
        return self.spread / (self.steps - 1) if self.steps > 1 else 0.0

    def and_then(self, other: Level) -> Level:
        """Return both as one (Chan, Golub, LeVeque 1979)."""
        steps = self.steps + other.steps
        gap = other.mean - self.mean
        return Level(
            self.first,
            other.last,
            steps,
            self.mean + gap * other.steps / steps,
            self.spread + other.spread + gap * gap * self.steps * other.steps / steps,
        )


class Spike(NamedTuple):
    """A step that stands out.

    Attributes:
        step: Which.
        loss: Its own.
        usual: The median of the steps before.
    """

    step: int
    loss: float
    usual: float


def joined(levels: Sequence[Level]) -> Level:
    """Return several levels, at least one, as a single one."""
    whole = levels[0]
    for level in levels[1:]:
        whole = whole.and_then(level)
    return whole


UPPER_QUARTILE = 0.6745
"""So many deviations above the middle of a normal distribution a quarter begins."""


class LossCurve:
    """Takes the losses of steps, in order.

    Args:
        limits: When a step stands out.
    """

    def __init__(self, limits: SpikeLimits) -> None:
        self._limits = limits
        self._levels: list[Level] = []
        self._open: Level | None = None
        self._span = 1
        self._recent: deque[float] = deque()
        self._sorted: list[float] = []
        self.spikes: list[Spike] = []
        self.steps = 0

    @property
    def levels(self) -> tuple[Level, ...]:
        """The whole ones, the oldest first: all of the same length."""
        return tuple(self._levels)

    @property
    def last_step(self) -> int:
        """The newest step that was taken."""
        newest = self._open or (self._levels[-1] if self._levels else None)
        return newest.last if newest else 0

    def add(self, step: int, loss: float) -> None:
        """Take the loss of a step; one that is no finite number is none."""
        if not math.isfinite(loss) or step <= self.last_step:
            return
        self.steps += 1
        single = Level(step, step, 1, self._without_spike(step, loss), 0.0)
        self._open = single if self._open is None else self._open.and_then(single)
        if self._open.steps < self._span:
            return
        self._levels.append(self._open)
        self._open = None
        if len(self._levels) == MOST_LEVELS:
            pairs = zip(self._levels[::2], self._levels[1::2], strict=True)
            self._levels = [first.and_then(second) for first, second in pairs]
            self._span *= 2

    def _far(self, usual: float) -> float:
        """Return the loss that lies too many deviations above the median for a curve as noisy as this."""
        upper = self._sorted[3 * len(self._sorted) // 4]
        return usual * math.exp(min(self._limits.deviations * math.log(upper / usual) / UPPER_QUARTILE, 700))

    def _without_spike(self, step: int, loss: float) -> float:
        """Note a step that stands out, and return the loss that counts: it must not pass for usual."""
        limits, before = self._limits, self._sorted
        if len(before) >= FEWEST_BEFORE:
            usual = before[len(before) // 2]
            if usual > 0 and loss > max(limits.largest * before[-1], limits.usual * usual, self._far(usual)):
                if len(self.spikes) < limits.most:
                    self.spikes.append(Spike(step, loss, usual))
                loss = before[-1]
        self._recent.append(loss)
        insort(before, loss)
        if len(self._recent) > limits.window:
            del before[bisect_left(before, self._recent.popleft())]
        return loss
