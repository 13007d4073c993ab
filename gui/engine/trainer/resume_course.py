"""How many steps the trainer does when it goes on, and from where it counts them: its own arithmetic.

``--resume`` brings back weights, optimizer and schedule, and never the count (trainer-facts 2.3):

* without ``--skip_until_initial_step`` steps are counted from 0 and whole epochs are trained, from the
  epoch in which the state was saved;
* with it, what was trained of that epoch is read and dropped, and the count begins with that remainder;
  beside gradient accumulation it is wrong, since micro-batches are divided by steps (line 1269);
* ``--initial_step`` and ``--initial_epoch`` win over what the state says; an ``--initial_step`` of 0 has
  all steps done anew;
* full trainings count from 0 and do all steps anew.

Source: train_network.py:978-981, 1232-1275, 1340-1358, 1401-1425 (commit 48d368fa).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple


class Course(NamedTuple):
    """What the trainer does.

    Attributes:
        steps: Optimizer steps that it does.
        counts_from: What is behind the first of them by its own count, which names files; it may be
            below 0.
        first_epoch: The epoch that it names first, from 1.
    """

    steps: int
    counts_from: int
    first_epoch: int

    @property
    def ends_at(self) -> int:
        """What its count is at the end."""
        return self.counts_from + self.steps


@dataclass(frozen=True)
class ResumeSetting:
    """What decides how a training goes on.

    Attributes:
        whole: ``max_train_steps``, or what ``max_train_epochs`` comes to.
        batches: Batches of one epoch, of one process.
        accumulation: ``gradient_accumulation_steps``.
        begins_at: The step that the state says, or ``initial_step``; 0 for none.
        skips: ``skip_until_initial_step``.
        counts: Whether the script knows of all this; full trainings do not.
    """

    whole: int
    batches: int
    accumulation: int = 1
    begins_at: int = 0
    skips: bool = False
    counts: bool = True

    @property
    def steps_per_epoch(self) -> int:
        """Optimizer steps of one whole epoch."""
        return math.ceil(self.batches / self.accumulation)

    def at(self, begins_at: int, *, skips: bool) -> ResumeSetting:
        """Return the same with another beginning."""
        return replace(self, begins_at=begins_at, skips=skips)

    def course(self) -> Course | None:
        """Return what the trainer does; None where it refuses (train_network.py:1252)."""
        if not self.counts or self.begins_at <= 0:
            return Course(self.whole, 0, 1)
        if self.begins_at >= self.whole:
            return None
        read = self.begins_at * self.accumulation if self.skips else self.begins_at
        before = read // self.steps_per_epoch
        dropped = read - before * self.batches if self.skips else 0
        epochs = max(0, math.ceil(self.whole / self.steps_per_epoch) - before)
        there = epochs * self.steps_per_epoch
        if epochs and dropped > 0:
            there -= self.steps_per_epoch - math.ceil((self.batches - dropped) / self.accumulation)
        return Course(min(there, self.whole - dropped), dropped, before + 1)
