"""What a loss curve tells of a training: rising, swinging, stuck, spikes, too low, turned on validation.

Quiet by nature: nothing is said that noise could have made, nor of levels where the loss is another one than
the guides speak of. Each piece of advice says how sure it is. Source: T1, T18.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from gui.engine.documents import Document, read_text
from gui.engine.errors import PreflightError
from gui.engine.plan.plan_file import parse_plan
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.launched import LaunchedSettings, launched_settings
from gui.engine.runs.loss_curve import Level, LossCurve, joined
from gui.engine.runs.loss_limits import LossLimits, loss_limits
from gui.engine.runs.metrics import AnyRow, StepRow, ValidationRow
from gui.engine.texts import _

AdviceId = Literal["overfit", "rising", "spikes", "swinging", "stuck", "too-low", "best-window"]
Confidence = Literal["high", "medium", "low"]

SMOOTHED_STEPS = 25
"""So many steps a level must have for its swinging to count."""

AVERAGE_FACTOR = 1.4
"""By so much more a difference must be where only the bar's moving mean is known, whose noise is not."""


class LossAdvice(Document):
    """Something that a curve tells.

    Attributes:
        id: What.
        confidence: How sure it is.
        sentence: For the user: what is seen, and what it usually means.
        step: Where on the curve, None where it is about all of it.
        steps: More places.
    """

    id: AdviceId
    confidence: Confidence
    sentence: str
    step: int | None = None
    steps: tuple[int, ...] = ()


class LossAdviser:
    """Takes the rows of a run as they come, and says what they tell when asked.

    Args:
        settings: With what the run was launched.
        family: The plan's.
        limits: From where on something is said; None takes the program's own.
    """

    def __init__(
        self, settings: LaunchedSettings, family: str = "", limits: LossLimits | None = None
    ) -> None:
        self._limits = limits or loss_limits()
        levels = self._limits.levels
        other = any(settings.flag(name) for name in levels.other_loss)
        squared = (settings.text("loss_type") or "l2") == "l2"
        self._plain = family in levels.families and squared and not other
        self._own = LossCurve(self._limits.spike)
        self._average = LossCurve(self._limits.spike)
        self._validations: list[tuple[int, float]] = []

    def add(self, rows: Sequence[AnyRow]) -> None:
        """Take rows in order; those that are about something else are passed over."""
        for row in rows:
            if isinstance(row, StepRow):
                if row.loss is not None:
                    self._own.add(row.step, row.loss)
                elif row.avr_loss is not None:
                    self._average.add(row.step, row.avr_loss)
            elif isinstance(row, ValidationRow) and row.loss is not None and math.isfinite(row.loss):
                self._validations.append((row.step, row.loss))

    def advice(self, total: int | None = None) -> list[LossAdvice]:
        """Return what the curve tells, the most important first; nothing for a sound one.

        Args:
            total: How many steps there are to be.
        """
        found = list(self._overfit())
        if self._curve.steps >= self._limits.least_steps:
            moving = list(self._rising()) or list(self._swinging())
            still = [] if moving else [*self._stuck(), *self._too_low()]
            found += [*moving, *self._spikes(), *still]
        return [*found, *self._best_window(found, total)]

    @property
    def _curve(self) -> LossCurve:
        return self._own if self._own.steps >= self._average.steps else self._average

    def _groups(self, parts: int) -> list[Level]:
        """Return the levels put together to so many of about the same length; fewer where there are fewer."""
        levels = self._curve.levels
        size = max(1, len(levels) // parts)
        return [joined(levels[at : at + size]) for at in range(len(levels) % size, len(levels), size)]

    def _is_above(self, high: Level, low: Level, times: float) -> bool:
        """Whether one level is above another by so much, and for sure; of nothing there are no multiples."""
        if low.mean <= 0:
            return False
        if self._curve is self._average:
            return high.mean > times * AVERAGE_FACTOR * low.mean
        error = math.sqrt(high.variance / high.steps + low.variance / low.steps)
        return high.mean > times * low.mean and high.mean - low.mean > self._limits.sure * error

    def _rising(self) -> Iterator[LossAdvice]:
        groups = self._groups(8)
        if len(groups) < 4:
            return
        *before, now = groups
        lowest = min(before, key=lambda level: level.mean)
        if not self._is_above(now, lowest, self._limits.rising):
            return
        text = _(
            "The loss rises: {now:.3g} on average now, {low:.3g} around step {step}. The training is coming "
            "apart; a lower learning rate from a file of before usually helps."
        )
        yield LossAdvice(
            id="rising",
            confidence="high" if now.mean > 2 * self._limits.rising * lowest.mean else "medium",
            sentence=text.format(now=now.mean, low=lowest.mean, step=_number(lowest.last)),
            step=lowest.last,
        )

    def _swinging(self) -> Iterator[LossAdvice]:
        limits = self._limits.swinging
        levels = [level for level in self._groups(24) if level.steps >= SMOOTHED_STEPS]
        levels = levels[len(levels) // 3 :]
        if len(levels) < limits.levels or self._curve is self._average:
            return
        means = [level.mean for level in levels]
        # By what neighbours differ (von Neumann): a level that only falls or rises does not swing.
        between = sum((here - next_) ** 2 for here, next_ in pairwise(means)) / (2 * (len(means) - 1))
        by_noise = sum(level.variance / level.steps for level in levels) / len(levels)
        ordered = sorted(means)
        low, high = ordered[len(means) // 10], ordered[-1 - len(means) // 10]
        triples = zip(means, means[1:], means[2:], strict=False)
        turns = sum((here - before) * (here - after) > 0 for before, here, after in triples)
        if between < limits.noise * by_noise or high < limits.spread * low:
            return
        if turns < limits.turns * len(means):
            return
        text = _(
            "The loss swings between {low:.3g} and {high:.3g} on average: usually the learning rate is too "
            "high."
        )
        yield LossAdvice(
            id="swinging",
            confidence="high" if high > 2 * limits.spread * low else "medium",
            sentence=text.format(low=low, high=high),
            step=levels[0].first,
        )

    def _spikes(self) -> Iterator[LossAdvice]:
        spikes = self._own.spikes
        if not spikes:
            return
        worst = max(spikes, key=lambda spike: spike.loss)
        if len(spikes) == 1:
            text = _(
                "The loss of step {step} stands out: {loss:.3g}, where {usual:.3g} is usual. Often one image "
                "is the cause. The trainer does not say which it trained on then; the check of the images "
                "may know."
            )
        else:
            text = _(
                "Single losses stand out, at step {step} the most: {loss:.3g}, where {usual:.3g} is usual. "
                "Often one image is the cause. The trainer does not say which it trained on then; the check "
                "of the images may know."
            )
        yield LossAdvice(
            id="spikes",
            confidence="medium" if len(spikes) > 1 else "low",
            sentence=text.format(step=_number(worst.step), loss=worst.loss, usual=worst.usual),
            step=worst.step,
            steps=tuple(spike.step for spike in spikes),
        )

    def _stuck(self) -> Iterator[LossAdvice]:
        limits = self._limits.levels
        groups = self._groups(4)
        if not self._plain or self._curve.last_step < limits.stuck_after_steps or len(groups) < 4:
            return
        early, now = groups[1], joined(groups[2:])
        falls = now.mean < self._limits.falling * early.mean
        if now.mean <= limits.stuck or falls:
            return
        text = _(
            "After {steps} steps the loss is still {now:.3g} on average and does not fall: the learning rate "
            "may be too low, or captions and images do not fit."
        )
        yield LossAdvice(
            id="stuck",
            confidence="medium",
            sentence=text.format(steps=_number(self._curve.last_step), now=now.mean),
            step=now.first,
        )

    def _too_low(self) -> Iterator[LossAdvice]:
        limits = self._limits.levels
        groups = self._groups(6)
        if not self._plain or len(groups) < 4:
            return
        before, now = groups[-3], groups[-1]
        if now.mean >= limits.too_low or not self._is_above(before, now, 1 / self._limits.falling):
            return
        text = _(
            "The loss is down to {now:.3g} on average and falls on: the images are being learnt by heart. An "
            "earlier file may be better."
        )
        yield LossAdvice(
            id="too-low", confidence="medium", sentence=text.format(now=now.mean), step=before.last
        )

    def _overfit(self) -> Iterator[LossAdvice]:
        limits, looks = self._limits.overfit, self._validations
        if len(looks) < limits.points:
            return
        step, lowest = min(looks, key=lambda look: look[1])
        last = looks[-limits.last :]
        if any(at <= step or loss <= limits.above * lowest for at, loss in last) or last[0][1] > last[-1][1]:
            return
        groups = self._groups(8)
        falls = len(groups) >= 2 and groups[-1].mean < groups[0].mean
        text = _(
            "On images that are not trained on the loss was lowest at step {step} ({low:.3g}) and is "
            "{now:.3g} now: it learns by heart. The best file is probably one from around there."
        )
        yield LossAdvice(
            id="overfit",
            confidence="high" if falls and last[-1][1] > lowest * limits.above**2 else "medium",
            sentence=text.format(step=_number(step), low=lowest, now=last[-1][1]),
            step=step,
        )

    def _best_window(self, found: Sequence[LossAdvice], total: int | None) -> Iterator[LossAdvice]:
        """Say where the best file usually is, once the run is there and nothing tells it better."""
        limits, done = self._limits.best_window, self._curve.last_step
        if total is None or total < limits.least_steps or done < limits.to * total:
            return
        learns = any(level.mean != self._curve.levels[0].mean for level in self._curve.levels)
        if not learns or self._validations or any(advice.id == "rising" for advice in found):
            return
        first, last = round(limits.begin * total), round(limits.to * total)
        text = _(
            "The best file is often one of steps {first} to {last}: compare its samples with the last ones."
        )
        yield LossAdvice(
            id="best-window",
            confidence="low",
            sentence=text.format(first=_number(first), last=_number(last)),
            step=first,
        )


def adviser_of(run: RunFolder) -> LossAdviser:
    """Return what advises on a run, by the record of its plan as far as it can be read."""
    try:
        family = parse_plan(read_text(run.plan), run.plan).plan.family
    except PreflightError:
        family = ""
    return LossAdviser(launched_settings(run), family)


def confidence_words(confidence: Confidence) -> str:
    """Return how sure advice is, for its beginning."""
    return {"high": _("Most likely"), "medium": _("Likely"), "low": _("Perhaps")}[confidence]


def _number(step: int) -> str:
    return f"{step:,}"
