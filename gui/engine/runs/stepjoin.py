"""Brings a step and its own loss together: the bar tells the one, the tracker's file the other.

The trainer writes the tracker's point within milliseconds after the bar, so a step is held for a
moment, and what comes after it waits too. A loss that is not finite is not given to this class: it
never waits.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from gui.engine.runs.metrics import StepRow, ValidationRow
from gui.engine.trainer.events import Step, TrainerEvent
from gui.engine.trainer.tracker import TrackerPoint

EVENT_PATIENCE_SECONDS = 0.3
ROW_PATIENCE_SECONDS = 3.0

_LOSS_TAGS = ("loss/current", "loss")
_LR_PREFIX = "lr/"
_STEP_VALIDATION, _EPOCH_VALIDATION = "loss/validation/step_average", "loss/validation/epoch_average"
"""The one is counted by steps, the other by epochs (train_network.py; trainer-output 3.5)."""


@dataclass
class _Known:
    """What the tracker told about one step."""

    loss: float | None = None
    lr: dict[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class _Held:
    event: TrainerEvent
    since: float


class StepJoin:
    """Holds steps until their loss is known or the patience is over.

    Args:
        has_tracker: Whether there is anything to wait for.
        rows_done: The last step that has its row in ``metrics.jsonl`` already.
    """

    def __init__(self, *, has_tracker: bool, rows_done: int = 0) -> None:
        self._patience = (EVENT_PATIENCE_SECONDS, ROW_PATIENCE_SECONDS) if has_tracker else (0.0, 0.0)
        self._known: dict[int, _Known] = {}
        self._events: deque[_Held] = deque()
        self._rows: deque[tuple[Step, float]] = deque()
        self._rows_done = rows_done
        self._lr: dict[str, float | None] = {}
        self._newest_step = rows_done
        self._validations: list[ValidationRow] = []

    @property
    def learning_rates(self) -> dict[str, float | None]:
        """The newest ones, by the tracker's own names."""
        return _named(self._lr)

    def learn(self, points: Sequence[TrackerPoint]) -> list[tuple[int, float]]:
        """Take what the tracker told.

        Returns:
            Step and own loss of each point that is one, in order.
        """
        losses = []
        for point in points:
            if point.tag in _LOSS_TAGS:
                losses.append((point.step, point.value))
            if point.tag in (_STEP_VALIDATION, _EPOCH_VALIDATION):
                self._validated(point)
                continue
            if point.step <= self._rows_done:
                continue
            known = self._known.setdefault(point.step, _Known())
            if point.tag in _LOSS_TAGS and (known.loss is None or math.isfinite(known.loss)):
                # Of a step's several batches one that is not finite is the one that matters.
                known.loss = point.value
            elif point.tag.startswith(_LR_PREFIX):
                name = point.tag.removeprefix(_LR_PREFIX)
                known.lr[name] = self._lr[name] = point.value
        return losses

    def validations(self) -> list[ValidationRow]:
        """Return the validations that were told since the last call."""
        told, self._validations = self._validations, []
        return told

    def add(self, event: TrainerEvent, now: float) -> None:
        """Take one event of the log, in order."""
        if isinstance(event, Step):
            self._newest_step = event.step
        self._events.append(_Held(event, now))

    def events(self, now: float, *, all_of_them: bool = False) -> list[TrainerEvent]:
        """Return the events whose waiting is over, in order.

        Args:
            now: Seconds on any steady clock.
            all_of_them: Wait no longer, as at the end.
        """
        ready: list[TrainerEvent] = []
        while self._events:
            held = self._events[0]
            event = held.event
            if isinstance(event, Step):
                known = self._known.get(event.step)
                loss = known.loss if known else None
                if loss is None and not all_of_them and now - held.since < self._patience[0]:
                    break
                event = event.model_copy(update={"loss": loss})
                self._rows.append((event, held.since))
            ready.append(event)
            self._events.popleft()
        return ready

    def rows(self, now: float, *, all_of_them: bool = False) -> list[StepRow]:
        """Return the rows whose waiting is over, in order; each step gets one."""
        ready = []
        while self._rows:
            event, since = self._rows[0]
            known = self._known.get(event.step, _Known())
            if known.loss is None and not all_of_them and now - since < self._patience[1]:
                break
            self._rows.popleft()
            self._forget_until(event.step)
            if event.step > self._rows_done:
                self._rows_done = event.step
                ready.append(_row(event, known))
        return ready

    def _validated(self, point: TrackerPoint) -> None:
        """Keep a validation at its step; one that an adopted run had before is no news."""
        step = point.step if point.tag == _STEP_VALIDATION else self._newest_step
        if step >= self._rows_done:
            self._validations.append(ValidationRow(step=step, loss=point.value))

    def _forget_until(self, step: int) -> None:
        """Drop what is no longer asked for; points come in the order of steps."""
        while self._known and (oldest := next(iter(self._known))) <= step:
            del self._known[oldest]


def _row(event: Step, known: _Known) -> StepRow:
    loss = event.loss if known.loss is None else known.loss
    return StepRow(
        t=event.t, step=event.step, loss=loss, avr_loss=event.avr_loss, lr=_named(known.lr), rate=event.rate
    )


def _named(rates: dict[str, float | None]) -> dict[str, float | None]:
    """Leave out ``group0`` and its like where the rates have names too (trainer-facts 7.5)."""
    named = {name: rate for name, rate in rates.items() if not name.startswith("group")}
    return named or rates
