"""Finds the cheapest changes with which a plan fits the GPU, and what room that is left is good for.

A plan fits when what it will hardly exceed (``high``) and the reserve are free. The steps are taken in the
order of their cost (``ladder``), only where they help; then what is not needed after all is dropped again,
the dearest first, and what goes by degrees is taken as mildly as will do.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.hardware.memory.forecasts import MemoryForecast
from gui.engine.hardware.memory.ladder import Confidence, Option, Step, Ways, ladder
from gui.engine.hardware.memory.question import MemoryQuestion
from gui.engine.hardware.memory.room import Room
from gui.engine.texts import _

Ask = Callable[[MemoryQuestion], MemoryForecast]

NOTICEABLE_GIB = 0.05
"""A step that saves less is none."""

OTHERS_GIB = 2.0
"""What other programs may hold of a GPU without being worth a word (T15)."""

LARGEST_BATCH = 64
"""No larger batch is proposed."""


class Advice(Document):
    """One piece of advice.

    Attributes:
        id: Its name: a step of the ladder, ``others``, ``larger-batch`` or ``no-checkpointing``.
        changes: Target to value, as a fix has them; empty for what is done outside of the plan.
        saves_gib: What it saves of the phase of which it saves most, after the advice before it.
        cost: What it costs in speed or quality.
        confidence: How sure the saving is.
        reason: Why.
        source: Where this is from.
    """

    id: str
    changes: dict[str, Any] = Field(default_factory=dict)
    saves_gib: float
    cost: str
    confidence: Confidence
    reason: str = ""
    source: str = ""


class Advised(Document):
    """A set of advice.

    Attributes:
        advice: In the order of cost; each counts after the ones before it.
        fits: Whether the plan fits with all of it; None when that is not known.
        before_gib: What the plan will hardly exceed, GiB; None when not known.
        after_gib: The same with all advice.
        unknown: Why nothing can be advised; None when it can.
    """

    advice: tuple[Advice, ...] = ()
    fits: bool | None = None
    before_gib: float | None = None
    after_gib: float | None = None
    unknown: str | None = None

    @property
    def changes(self) -> dict[str, Any]:
        """All changes together."""
        return {target: value for each in self.advice for target, value in each.changes.items()}


def high_of(forecast: MemoryForecast) -> float:
    """Return what no phase will hardly exceed, GiB."""
    return max((phase.high for phase in forecast.phases), default=0.0)


def advise(question: MemoryQuestion, room: Room, ways: Ways, ask: Ask) -> Advised:
    """Return the cheapest set of changes with which a plan fits.

    Args:
        question: The plan as it is.
        room: What memory there is.
        ways: What can be changed.
        ask: Forecasts a question.
    """
    first = ask(question)
    if first.unknown is not None:
        return Advised(unknown=first.unknown)
    search = _Search(question, room, ways, ask)
    others = tuple(_others(high_of(first), room))
    if others:
        search = replace(search, room=room.model_copy(update={"free": room.total}))
    chosen = search.relaxed(search.pruned(search.climbed()))
    told = tuple(search.told(chosen))
    after = search.high(chosen)
    return Advised(
        advice=(*others, *told), fits=after <= search.room.usable, before_gib=high_of(first), after_gib=after
    )


def _others(high: float, room: Room) -> list[Advice]:
    """Other programs are named first where the plan would fit without them (T15)."""
    held = room.total - room.free
    if high <= room.usable or held < OTHERS_GIB or high > room.total - room.reserve:
        return []
    return [
        Advice(
            id="others",
            saves_gib=held,
            cost=_("None for the training."),
            confidence="high",
            reason=_("Other programs hold {gib:.1f} GiB of the GPU; close them.").format(gib=held),
            source="T15",
        )
    ]


@dataclass(frozen=True)
class _Search:
    """Looks for steps; a choice is a step's id and which of its options, the mildest being 0.

    Each option saves at least what the one before it does, so that the mildest that will do
    is found by halving.
    """

    question: MemoryQuestion
    room: Room
    ways: Ways
    ask: Ask

    def climbed(self) -> dict[str, int]:
        """Return steps with which it fits, or all that help: always the cheapest that saves something."""
        chosen: dict[str, int] = {}
        while (now := self._excess(self.applied(chosen)[-1].question)) > 0:
            step = self._next(chosen, now)
            if step is None:
                break
            chosen[step[0]] = step[1]
        return chosen

    def _next(self, chosen: dict[str, int], now: float) -> tuple[str, int] | None:
        question = self.applied(chosen)[-1].question
        for step in ladder():
            if step.id in chosen:
                continue
            options = list(step.options(question, self.ways))
            level = bisect_left(options, True, key=lambda option: self._excess(option.question) == 0)
            if level < len(options):
                return step.id, level
            if options and self._excess(options[-1].question) < now - NOTICEABLE_GIB:
                return step.id, len(options) - 1
        return None

    def _excess(self, question: MemoryQuestion) -> float:
        """Return by how much all phases together may not fit, GiB: each has to be brought down."""
        return sum(max(0.0, phase.high - self.room.usable) for phase in self.ask(question).phases)

    def pruned(self, chosen: dict[str, int]) -> dict[str, int]:
        """Return the choice without what it fits without, the dearest first."""
        if self.high(chosen) > self.room.usable:
            return chosen
        for step in reversed(ladder()):
            fewer = {name: level for name, level in chosen.items() if name != step.id}
            if step.id in chosen and self.high(fewer) <= self.room.usable:
                chosen = fewer
        return chosen

    def relaxed(self, chosen: dict[str, int]) -> dict[str, int]:
        """Return the choice with each step as mild as will do."""
        if self.high(chosen) > self.room.usable:
            return chosen
        for name in list(chosen):
            fits = partial(self._fits_at, dict(chosen), name)
            chosen[name] = bisect_left(range(chosen[name]), True, key=fits)
        return chosen

    def _fits_at(self, chosen: dict[str, int], name: str, level: int) -> bool:
        return self.high(chosen | {name: level}) <= self.room.usable

    def applied(self, chosen: Mapping[str, int]) -> list[Option]:
        """Return the questions on the way, the plan as it is first; steps come in the ladder's order."""
        return [option for _step, option in self._steps(chosen)]

    def _steps(self, chosen: Mapping[str, int]) -> list[tuple[Step | None, Option]]:
        way: list[tuple[Step | None, Option]] = [(None, Option(self.question, {}))]
        for step in ladder():
            if step.id not in chosen:
                continue
            options = list(step.options(way[-1][1].question, self.ways))
            if options:
                way.append((step, options[min(chosen[step.id], len(options) - 1)]))
        return way

    def high(self, chosen: Mapping[str, int]) -> float:
        """Return what the plan will hardly exceed with a choice of steps, GiB."""
        return high_of(self.ask(self.applied(chosen)[-1].question))

    def told(self, chosen: Mapping[str, int]) -> list[Advice]:
        """Return the choice as advice."""
        way = self._steps(chosen)
        asked = [self.ask(option.question) for _step, option in way]
        return [
            Advice(
                id=step.id,
                changes=dict(option.changes),
                saves_gib=_saved(before, after),
                cost=step.cost(),
                confidence=step.confidence,
                reason=step.by_hand() if step.by_hand else "",
                source=step.source,
            )
            for (step, option), (before, after) in zip(way[1:], pairwise(asked), strict=True)
            if step is not None
        ]


def _saved(before: MemoryForecast, after: MemoryForecast) -> float:
    """Return what a step saves of the phase of which it saves most; of the peak, where a phase is gone."""
    left = {phase.name: phase.high for phase in after.phases}
    apart = [phase.high - left[phase.name] for phase in before.phases if phase.name in left]
    return max(*apart, high_of(before) - high_of(after))


def spend(question: MemoryQuestion, room: Room, ways: Ways, ask: Ask) -> Advised:
    """Return what room that is left is good for: no checkpointing, or a larger batch.

    Args:
        question: The plan as it is.
        room: What memory there is.
        ways: What can be changed.
        ask: Forecasts a question.
    """
    first = ask(question)
    if first.unknown is not None:
        return Advised(unknown=first.unknown)
    before = high_of(first)
    found: list[Advice] = []
    faster = question.model_copy(update={"checkpointing": False})
    if question.checkpointing and not question.fp8 and _fits(faster, room, ask):
        found.append(
            Advice(
                id="no-checkpointing",
                changes={"gradient_checkpointing": None},
                saves_gib=before - high_of(ask(faster)),
                cost=_("More memory, a quarter to half of the time less; the result is the same."),
                confidence="medium",
                reason=_("It fits without checkpointing."),
                source="§5.2 4",
            )
        )
    found += _larger(question, room, ways, ask)
    return Advised(advice=tuple(found), fits=before <= room.usable, before_gib=before, after_gib=before)


def _larger(question: MemoryQuestion, room: Room, ways: Ways, ask: Ask) -> list[Advice]:
    batch = question.batch
    while batch * 2 <= LARGEST_BATCH and _fits(question.model_copy(update={"batch": batch * 2}), room, ask):
        batch *= 2
    if batch == question.batch:
        return []
    larger = question.model_copy(update={"batch": batch})
    times = batch / question.batch
    reason = _(
        "{batch} images at once fit. With as many steps multiply the learning rate by up to {root:.2f} "
        "(the root of {times:g}; some take {times:g}); Prodigy and D-Adaptation stay at 1."
    ).format(batch=batch, root=times**0.5, times=times)
    return [
        Advice(
            id="larger-batch",
            changes={ways.batch_target: batch},
            saves_gib=high_of(ask(question)) - high_of(ask(larger)),
            cost=_("More memory; each step takes longer, each image less."),
            confidence="medium",
            reason=reason,
            source="§5.3",
        )
    ]


def _fits(question: MemoryQuestion, room: Room, ask: Ask) -> bool:
    forecast = ask(question)
    return forecast.unknown is None and high_of(forecast) <= room.usable
