"""Follows what the trainer says: its log and its tracker become events, figures and guard decisions."""

from __future__ import annotations

import math
from typing import Protocol

from gui.engine.runs.counting import Counting
from gui.engine.runs.guard import Decision, Guard
from gui.engine.runs.ledger import Ledger
from gui.engine.runs.logreader import LogReader
from gui.engine.runs.stepjoin import StepJoin
from gui.engine.runs.thinning import Thinner
from gui.engine.trainer.events import LossNonfinite, Saved, Setting, Step, TrainerEvent
from gui.engine.trainer.output import Tally
from gui.engine.trainer.tracker import TrackerPoint

TRACKER_SECONDS = 0.1

_AT_ONCE = 1000
"""Events that are held in memory when a long log is read to its end."""


class Tracker(Protocol):
    """What reads a tracker's files."""

    def read(self) -> list[TrackerPoint]:
        """Return the points that are new since the last call."""


class TrainerWatch:
    """Reads what is new, some twenty times a second.

    Args:
        ledger: Where it is written down.
        reader: The log.
        tracker: The tracker's files, None where there are none.
        join: Brings both together.
        guard: Judges losses.
        counting: Says how a trainer counts that goes on from a state.

    Attributes:
        tally: What the output adds up to.
        saving: The newest announced save that the trainer has not gone on from.
        guarding: Whether decisions are made; not for a training that ended unseen.
    """

    def __init__(
        self,
        ledger: Ledger,
        reader: LogReader,
        tracker: Tracker | None,
        join: StepJoin,
        guard: Guard,
        *,
        counting: Counting,
    ) -> None:
        self._ledger = ledger
        self._reader = reader
        self._tracker = tracker
        self._tracker_due = 0.0
        self._join = join
        self._guard = guard
        self._counting = counting
        self._thinner = Thinner()
        self._own: tuple[int, float] | None = None
        self._replaying = reader.catching_up
        self.tally = Tally()
        self.saving: Saved | None = None
        self.guarding = True

    @property
    def catching_up(self) -> bool:
        """Whether it still reads what a supervisor before this one may have read."""
        return self._reader.catching_up

    @property
    def recovered(self) -> bool:
        """Whether a loss was not finite, and the newest step's own loss is."""
        first = self.tally.first_nonfinite_step
        if first is None or self._own is None:
            return False
        step, loss = self._own
        return step >= max(first, (self.tally.last_step or 0) - 1) and math.isfinite(loss)

    @property
    def nonfinite(self) -> bool:
        """Whether a loss was not finite and has not recovered."""
        return self.tally.first_nonfinite_step is not None and not self.recovered

    def pump(self) -> Decision | None:
        """Read what is new and write it down.

        Returns:
            The guard's decision to stop, where it made one.
        """
        stop = None
        for event in self._reader.read(self._ledger.t()):
            stop = self._take(event) or stop
        stop = self._read_tracker() or stop
        stop = self._decided(self._guard.tick(self._ledger.now())) or stop
        # What was there before waits for nothing: its losses are there too, and it is told from new events.
        self._give(all_of_them=self._replaying)
        if self._replaying and not self._reader.catching_up:
            self._replaying = False
            self._ledger.journal.forget_written()
        self._ledger.board.put(
            log_bytes=self._reader.position, learning_rates=dict(self._join.learning_rates)
        )
        return stop

    def finish(self) -> None:
        """Read what is left, when nobody writes any more."""
        for count, event in enumerate(self._reader.finish(self._ledger.t()), start=1):
            self._take(event)
            if count % _AT_ONCE == 0:
                self._read_tracker(at_once=True)
                self._give(all_of_them=True)
        self._read_tracker(at_once=True)
        self._give(all_of_them=True)
        self._reader.close()
        self._ledger.board.put(log_bytes=self._reader.position)

    def accept(self) -> bool:
        """Go on whatever the loss is; return whether there was anything to accept."""
        return self._guard.accept()

    def _take(self, event: TrainerEvent) -> Decision | None:
        now = self._ledger.now()
        self.tally.add(event)
        if isinstance(event, LossNonfinite):
            self._ledger.board.take(event)
            self._ledger.journal.add_read(event)
            return self._decided(self._guard.bar_nonfinite(event.step, event.value, now))
        self._join.add(event, now)
        if isinstance(event, Saved):
            self.saving = event
        elif isinstance(event, Step):
            self.saving = None
            self._guard.step_done(event.step, now)
        elif isinstance(event, Setting):
            self._counting.take(event)
        return None

    def _read_tracker(self, *, at_once: bool = False) -> Decision | None:
        now = self._ledger.now()
        if self._tracker is None or (now < self._tracker_due and not at_once):
            return None
        self._tracker_due = now + TRACKER_SECONDS
        stop = None
        for step, loss in self._join.learn(self._counting.of_run(self._tracker.read())):
            self._own_loss_seen(step, loss)
            stop = self._decided(self._guard.own_loss(step, loss, now)) or stop
        return stop

    def _own_loss_seen(self, step: int, loss: float) -> None:
        """Say it when the step's own loss stops being a number."""
        was_bad = self._own is not None and not math.isfinite(self._own[1])
        self._own = (step, loss)
        if not math.isfinite(loss) and not was_bad:
            event = LossNonfinite(step=step, source="tracker", value=loss)
            self.tally.add(event)
            self._ledger.board.take(event)
            self._ledger.say_once(event)

    def _decided(self, decision: Decision | None) -> Decision | None:
        """Write a decision down; return it when it means to stop."""
        if decision is None or not self.guarding:
            return None
        self._ledger.say_once(decision.event)
        self._ledger.board.changed = True
        return decision if decision.stop else None

    def _give(self, *, all_of_them: bool) -> None:
        """Write down the events whose waiting is over, and the rows of steps."""
        now = self._ledger.now()
        journal, board = self._ledger.journal, self._ledger.board
        for event in self._join.events(now, all_of_them=all_of_them):
            board.take(event)
            if self._thinner.keep(event):
                journal.add_read(event)
        for row in self._join.rows(now, all_of_them=all_of_them):
            self._ledger.row(row)
        for validation in self._join.validations():
            self._ledger.row(validation.model_copy(update={"t": self._ledger.t()}))
