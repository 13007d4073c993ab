"""Decides what a loss that is not finite means, by the plan's policy.

The bar's moving mean never recovers from one bad step (trainer-facts 9), so only the step's own
loss, from the tracker, tells a single skipped fp16 step from a dead model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from gui.engine.preferences import NonfinitePolicy
from gui.engine.runs.events import Guarded
from gui.engine.runs.status import GuardNow
from gui.engine.texts import _

CONFIRM_STEPS = 3
"""So many steps in a row whose own loss is not finite confirm it: the fp16 scaler halves its scale
at each skipped step, and a model that is whole comes back at once."""

TRACKER_PATIENCE_SECONDS = 2.0
"""How long a step's own loss may lag behind the bar; the trainer writes it within milliseconds."""


@dataclass(frozen=True)
class Decision:
    """What the guard wants.

    Attributes:
        stop: Whether the run has to be stopped.
        event: What to write down and show.
    """

    stop: bool
    event: Guarded


class Guard:
    """Fed with what is seen, answers with decisions.

    Args:
        policy: As the plan asks.
        has_tracker: Whether the trainer writes a tracker's log that can be read.
    """

    def __init__(self, policy: NonfinitePolicy, *, has_tracker: bool) -> None:
        self._policy = policy
        self._acts_as: NonfinitePolicy = "stop" if policy == "confirm" and not has_tracker else policy
        self._state: Literal["quiet", "watching", "warned", "stopped"] = "quiet"
        self._accepted = False
        self._sentence = "" if self._acts_as == policy else self.fallback_sentence()
        self._value: float = math.nan
        self._said_of: int | None = None
        self._first_bad = 0
        self._last_bad = 0
        self._in_a_row = 0
        self._done_step = 0
        self._heard_step = 0
        self._unheard_since: float | None = None

    def now(self) -> GuardNow:
        """Return the guard's part of the status."""
        return GuardNow(
            policy=self._policy,
            acts_as=self._acts_as,
            state=self._state,
            accepted=self._accepted,
            asks=self._state in ("watching", "warned") and not self._accepted,
            step=self._said_of,
            sentence=self._sentence,
        )

    @staticmethod
    def fallback_sentence() -> str:
        """Say why ``confirm`` cannot be done."""
        return _(
            "The guard stops at the first loss that is not a number: to confirm it, the step's own loss "
            "is needed, which only a tracker log tells (log_with tensorboard), and this run writes none."
        )

    def accept(self) -> bool:
        """Go on whatever the loss is from now on; return whether there was anything to accept."""
        changed = self._state in ("watching", "warned") and not self._accepted
        self._accepted = self._accepted or changed
        return changed

    def bar_nonfinite(self, step: int, value: float | None, now: float) -> Decision | None:
        """The bar's mean is not finite.

        Args:
            step: The step whose bar it was.
            value: nan, inf or -inf.
            now: Seconds on any steady clock.
        """
        self.step_done(step, now)
        self._value = math.nan if value is None else value
        if self._accepted or self._state != "quiet":
            return None
        if self._acts_as == "confirm":
            return self._watch(step)
        if self._acts_as == "warn":
            self._state = "warned"
            text = _("The loss is {value} since step {step}. What is saved from now on may be ruined.")
            return self._say("warn", step, text)
        return self._stop(step, _("The loss is {value} at step {step}: the training is stopped."))

    def own_loss(self, step: int, loss: float, now: float) -> Decision | None:
        """The tracker told a step's own loss; several calls for one step are batches of it."""
        self._heard_step = max(self._heard_step, step)
        self._unheard_since = None if self._heard_step >= self._done_step else now
        if math.isfinite(loss):
            return self._own_finite(step)
        if step != self._last_bad:
            self._in_a_row = self._in_a_row + 1 if step == self._last_bad + 1 else 1
            self._last_bad = step
        if self._acts_as != "confirm":
            return self.bar_nonfinite(step, loss, now)
        self._value = loss
        if self._accepted or self._state == "stopped":
            return None
        if self._in_a_row >= CONFIRM_STEPS:
            text = _("The loss stayed {value} for {count} steps up to step {step}: the training is stopped.")
            return self._stop(step, text)
        return None if self._state == "watching" else self._watch(step)

    def step_done(self, step: int, now: float) -> None:
        """A step is over."""
        self._done_step = max(self._done_step, step)
        if self._done_step > self._heard_step and self._unheard_since is None:
            self._unheard_since = now

    def tick(self, now: float) -> Decision | None:
        """Look whether the tracker, on which a confirmation waits, has fallen silent."""
        silent = self._unheard_since is not None and now - self._unheard_since >= TRACKER_PATIENCE_SECONDS
        if self._state != "watching" or self._accepted or not silent:
            return None
        self._acts_as = "stop"
        text = _(
            "The loss is {value} since step {step}, and the tracker log that could tell whether it stays so "
            "is silent: the training is stopped."
        )
        return self._stop(self._first_bad, text)

    def _own_finite(self, step: int) -> Decision | None:
        if self._state != "watching" or step < self._first_bad or step == self._last_bad:
            return None
        self._state = "quiet"
        text = _(
            "The loss of step {step} is a number again: single steps were skipped, the training goes on. "
            "The trainer's own mean stays at nan from here, which means nothing."
        )
        return self._say("recovered", step, text)

    def _watch(self, step: int) -> Decision:
        self._state = "watching"
        self._first_bad = step
        text = _("The loss is {value} at step {step}. Waiting for the next steps to confirm it.")
        return self._say("watch", step, text)

    def _stop(self, step: int, text: str) -> Decision:
        self._state = "stopped"
        return self._say("stop", step, text)

    def _say(self, action: Literal["stop", "watch", "warn", "recovered"], step: int, text: str) -> Decision:
        value = self._value
        word = "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
        self._said_of = step
        self._sentence = text.format(value=word, step=step, count=self._in_a_row)
        event = Guarded(action=action, step=step, sentence=self._sentence)
        return Decision(stop=action == "stop", event=event)
