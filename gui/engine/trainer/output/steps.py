"""Makes step events of the redraws of the training bar, and thins out the other bars.

The trainer draws each step number first with the previous loss (``update``), then with its own
(``set_postfix``), and the last one again when the bar closes. tqdm leaves out a first redraw that
comes within 0.1 s of the one before, never a second. With gradient accumulation the micro-batches
between two steps redraw the old number with a new loss (trainer-output 3.1, 3.6).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

from gui.engine.trainer.events import LossNonfinite, Progress, Step
from gui.engine.trainer.output.bars import Bar, loss_of, steps_per_second

_WINDOW = 10
_MOST_NAMES = 64

StepEvent = Step | LossNonfinite | Progress


class StepCounter:
    """Follows the training bar and gives one event a step number.

    Attributes:
        epoch: The epoch last announced.
        interrupted: Whether the trainer broke off after the last new number.
    """

    def __init__(self) -> None:
        self.epoch: int | None = None
        self._number = -1
        self._total: int | None = None
        self._given = True
        self._postfix: bytes | None = None
        self._loss: float | None = None
        self._rate = b""
        self.interrupted = False
        self._nonfinite = False
        self._times: deque[tuple[float, int]] = deque(maxlen=_WINDOW)

    def redraw(
        self, done: int, total: int | None, rate: bytes, postfix: bytes | None, t: float | None
    ) -> Sequence[StepEvent]:
        """Take one redraw; give the step that it settles and a loss that is no number.

        A new bar, at 0, gives a ``Progress``: it tells the total before the first step is done.

        Args:
            done: Steps done.
            total: Steps expected, None where the bar does not know.
            rate: The bar's rate as printed.
            postfix: What follows the rate, None where nothing does.
            t: Seconds since the start, None where unknown.
        """
        if done == self._number and self._given and postfix == self._postfix:
            return ()
        events: list[StepEvent] = []
        first_draw = done != self._number
        if first_draw:
            self._next(done, total, t, events)
        changed = postfix != self._postfix
        if changed:
            self._postfix = postfix
            self._loss = loss_of(postfix)
        self._rate = rate
        step = done + 1
        if not self._given and postfix is not None and (changed or not first_draw):
            step = done
            events.append(self._settle(None if self.interrupted and not changed else self._loss, t))
        if changed and self._loss is not None:
            self._judge(step, self._loss, t, events)
        return events

    def interrupt(self) -> None:
        """Note that the trainer broke off: a further redraw only closes the bar."""
        self.interrupted = True

    def pause(self) -> None:
        """Forget step times, so that sampling and saving do not count as slow steps."""
        self._times.clear()

    def finish(self, t: float | None) -> list[Step]:
        """Give the last step if it was drawn once only: done, but its loss was never shown."""
        return [] if self._given else [self._settle(None, t)]

    def _next(self, done: int, total: int | None, t: float | None, events: list[StepEvent]) -> None:
        """Turn to another number: the next step, or a new bar when it is a lower one."""
        if not self._given:
            # Drawn once: its first redraw was left out and its own loss reads like the one before.
            events.append(self._settle(None if done < self._number else self._loss, t))
        if done < self._number:
            self._postfix = None
            self._nonfinite = False
            self._times.clear()
        self._number = done
        self._total = total
        self._given = done == 0
        self.interrupted = False
        if done == 0:
            events.append(Progress(t=t, name="steps", done=0, total=total))

    def _settle(self, loss: float | None, t: float | None) -> Step:
        self._given = True
        return Step(
            t=t,
            step=self._number,
            total=self._total,
            avr_loss=loss,
            rate=self._rate_now(t),
            epoch=self.epoch,
        )

    def _rate_now(self, t: float | None) -> float | None:
        if t is not None:
            self._times.append((t, self._number))
            began, first = self._times[0]
            if t > began and self._number > first:
                return (self._number - first) / (t - began)
        return steps_per_second(self._rate)

    def _judge(self, step: int, loss: float, t: float | None, events: list[StepEvent]) -> None:
        """Tell of a loss that is no number, once until a finite one comes.

        Args:
            step: The step whose loss it is: a redraw of a step that has its loss shows a micro-batch
                of the next one.
            loss: The loss.
            t: Seconds since the start.
            events: Where the event goes.
        """
        finite = math.isfinite(loss)
        if not finite and not self._nonfinite:
            events.append(LossNonfinite(t=t, step=step, value=loss))
        self._nonfinite = not finite


class ProgressGate:
    """Lets a bar through at its start and whenever its percentage grows.

    What passes depends on the output alone: some hundred events a bar, however often it is drawn.
    """

    def __init__(self) -> None:
        self._last: dict[str, tuple[int | None, int]] = {}

    def admit(self, bar: Bar, t: float | None) -> Progress | None:
        """Return the event of a redraw, None where it says nothing new."""
        mark = _mark(bar)
        total, last = self._last.get(bar.name, (-1, -1))
        if total == bar.total and mark <= last and not (bar.done == 0 and last > 0):
            return None
        if len(self._last) >= _MOST_NAMES and bar.name not in self._last:
            self._last.clear()
        self._last[bar.name] = (bar.total, mark)
        return Progress(t=t, name=bar.name, done=bar.done, total=bar.total)


def _mark(bar: Bar) -> int:
    """Return the percentage, or without a total a figure that grows with every tenth more."""
    if bar.total:
        return 100 * bar.done // bar.total
    return int(math.log(bar.done + 1, 1.1))
