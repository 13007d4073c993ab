"""Works out what a step needs beside weights, gradients and states, from the traced rows of a table.

A traced peak is taken apart into what is known exactly (weights, adapter, states, gradients, the copies
that autocast makes) and the rest, the activations; they rise with the places of the network: batch times
(pixels or tokens). Three of them count, since the peak can be in three places: when the forward pass
ends, when the backward pass begins, and when it ends and all gradients are there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log2
from statistics import median

from gui.engine.hardware.memory.curves import Point, beyond, rising
from gui.engine.hardware.memory.figures import FamilyFigures, MemoryFigures
from gui.engine.hardware.memory.question import MemoryQuestion
from gui.engine.hardware.memory.tables import WEIGHTS, StepRow
from gui.engine.quantities import GIB

Reading = Callable[["StepNeeds"], float | None]


@dataclass(frozen=True)
class Activations:
    """What a step needs beside weights, gradients and states, GiB.

    Attributes:
        forward: When the forward pass ends.
        early: When the backward pass begins.
        late: When it ends.
        spare: What the allocator holds beyond what is live.
        distance: Doublings between the question and the nearest traced places.
        guessed: What of it is estimated, not traced.
        rows: The rows that stand nearest.
    """

    forward: float
    early: float
    late: float
    spare: float
    distance: float = 0.0
    guessed: float = 0.0
    rows: tuple[StepRow, ...] = ()


@dataclass(frozen=True)
class StepNeeds:
    """A traced row taken apart, GiB; None for what it does not show."""

    row: StepRow
    places: float
    forward: float
    early: float | None
    late: float | None
    spare: float


def places(width: int, height: int, batch: int, text_tokens: int, figures: FamilyFigures) -> float:
    """Return how many places of the network a batch takes."""
    image = (width / figures.patch_px) * (height / figures.patch_px)
    return batch * (image + (text_tokens if figures.text else 0))


def taken_apart(row: StepRow, figures: FamilyFigures) -> StepNeeds:
    """Return what a traced row tells of activations.

    Gradients beyond the adapter's are those of embeddings, which stay from the first step on.
    """
    setting, result = row.setting, row.result
    second = "backward_2" in result.phases
    forward = result.phases["forward_2" if second else "forward_1"]
    backward = result.phases["backward_2" if second else "backward_1"]
    left_over = max(0, result.gradients - result.adapter) if setting.kind == "lora" else 0
    base = result.weights + result.adapter + (result.optimizer_state + left_over if second else 0)
    copies = _copies(row)
    rest = backward - base - (0 if setting.checkpointing else copies)
    gradients = result.gradients - left_over
    at_the_end = gradients > rest / 2
    return StepNeeds(
        row=row,
        places=places(setting.width_px, setting.height_px, setting.batch, setting.text_tokens, figures),
        forward=max(0, forward - base - copies) / GIB,
        early=None if at_the_end else max(0, rest) / GIB,
        late=max(0, rest - gradients) / GIB if at_the_end else None,
        spare=(result.reserved - result.peak) / GIB,
    )


def _copies(row: StepRow) -> float:
    """Return the bytes of the bf16 copies that autocast makes of trained fp32 weights."""
    setting, result = row.setting, row.result
    if not setting.autocast:
        return 0
    if setting.kind == "lora":
        return min(result.gradients, result.adapter) / 2 if setting.adapter == "fp32" else 0
    return result.weights / 2 if setting.weights == "fp32" else 0


def activations_for(
    question: MemoryQuestion, rows: Sequence[StepRow], family: FamilyFigures, figures: MemoryFigures
) -> Activations | None:
    """Return what the question's step needs; None when no row is like it.

    Args:
        question: What is asked.
        rows: The traced steps of the family.
        family: The shape of its network.
        figures: What no trace shows.
    """
    pool, missing = _pool(question, rows)
    if not pool:
        return None
    needs = [taken_apart(row, family) for row in pool]
    text = max(row.setting.text_tokens for row in pool)
    asked = places(question.width_px, question.height_px, question.batch, text, family)
    nearest = min(needs, key=lambda need: abs(log2(need.places / asked)))
    at = _Asked(asked, *_parted(question, needs))
    share = figures.model.late if question.checkpointing else figures.model.late_stored
    forward = at.value(lambda need: need.forward) or 0.0
    early = at.value(lambda need: need.early) or forward
    late = at.value(lambda need: need.late)
    found = Activations(
        forward=forward,
        early=early,
        late=early * share if late is None else min(late, early),
        spare=at.value(lambda need: need.spare) or 0.0,
        distance=_outside(needs, asked),
        rows=(nearest.row,),
    )
    return _estimated(found, question, missing, family, figures)


@dataclass(frozen=True)
class _Asked:
    """Reads one figure off all rows, at the place that is asked for.

    Attributes:
        place: The places that the question takes.
        alike: Rows that are set up like the question.
        others: The rest.
    """

    place: float
    alike: Sequence[StepNeeds]
    others: Sequence[StepNeeds]

    def value(self, reading: Reading) -> float | None:
        """Return the figure at the question's place, by a line through the rows that show it.

        At each place rows that are set up like the question count alone; where there is none, the others
        do, shifted by what they differ from those elsewhere.
        """
        alike, others = _points(self.alike, reading), _points(self.others, reading)
        if not alike and not others:
            return None
        shift = _shift(alike, rising(others)) if others else 0.0
        known = {place for place, _value in alike}
        shifted = [(place, max(value + shift, value / 2)) for place, value in others if place not in known]
        return beyond(rising(alike + shifted), self.place)


def _parted(question: MemoryQuestion, needs: Sequence[StepNeeds]) -> tuple[list[StepNeeds], list[StepNeeds]]:
    """Return the rows that are set up like a question, and the others."""
    alike: list[StepNeeds] = []
    others: list[StepNeeds] = []
    for need in needs:
        (alike if _alike(question, need.row) else others).append(need)
    return alike, others


def _points(needs: Sequence[StepNeeds], reading: Reading) -> list[Point]:
    return [(need.places, value) for need in needs if (value := reading(need)) is not None]


def _shift(alike: list[Point], others: list[Point]) -> float:
    """Return by how much rows like the question lie above the others, GiB: copies of layers, for instance."""
    apart = [value - beyond(others, place) for place, value in alike]
    return median(apart) if apart else 0.0


def _pool(question: MemoryQuestion, rows: Sequence[StepRow]) -> tuple[list[StepRow], tuple[str, ...]]:
    """Return the rows that can tell of a question, and what they have not."""
    missing: list[str] = []
    pool = [row for row in rows if row.setting.checkpointing == question.checkpointing]
    for name, fits in _likenesses(question):
        kept = [row for row in pool if fits(row)]
        if not kept:
            missing.append(name)
        pool = kept or pool
    return pool, tuple(missing)


def _likenesses(question: MemoryQuestion) -> tuple[tuple[str, Callable[[StepRow], bool]], ...]:
    """What decides about activations, the most important first."""
    single = not question.half
    copied = not question.checkpointing and question.weight_bytes == 1
    return (
        ("single", lambda row: (row.setting.weights == "fp32" and not row.setting.autocast) == single),
        ("scores", lambda row: row.setting.attention == question.attention),
        ("copies", lambda row: (not row.setting.checkpointing and row.setting.weights == "fp8") == copied),
    )


def _alike(question: MemoryQuestion, row: StepRow) -> bool:
    setting = row.setting
    half = "bf16" if question.full_half else "fp32"
    if (setting.kind == "full") != (question.kind == "full"):
        return False
    if setting.weights != WEIGHTS[question.weight_bytes]:
        return False
    if question.kind == "full":
        return setting.fused_backward == question.optimizer.fused
    return setting.adapter == half and setting.text_encoders == question.trains_text


def _outside(needs: Sequence[StepNeeds], asked: float) -> float:
    """Return the doublings between a place and the traced range."""
    low, high = min(need.places for need in needs), max(need.places for need in needs)
    return max(0.0, log2(low / asked), log2(asked / high))


def _estimated(
    found: Activations,
    question: MemoryQuestion,
    missing: tuple[str, ...],
    family: FamilyFigures,
    figures: MemoryFigures,
) -> Activations:
    """Add what the rows have not, by what is known of it."""
    model, more, working, times = figures.model, 0.0, 0.0, 1.0
    if "single" in missing and not question.half:
        times = model.single
    if "scores" in missing and question.attention == "none":
        kept, most = _scores(question, family)
        working = most * model.scores_working / GIB
        more = 0.0 if question.checkpointing else kept * model.scores_kept / GIB
    if "copies" in missing and question.weight_bytes == 1 and not question.checkpointing:
        more += model.fp8_copies * 2 * found.rows[0].result.weights / GIB / _bytes_of(found.rows[0])
    stored = 1 - model.offloaded if question.offloads and question.checkpointing else 1.0
    extra = max(more, working)
    return Activations(
        forward=found.forward * times * stored + extra,
        early=found.early * times * stored + extra,
        late=found.late * times + (working if question.checkpointing else 0.0),
        spare=found.spare * times,
        distance=found.distance,
        guessed=extra + found.forward * (times - 1),
        rows=found.rows,
    )


def _bytes_of(row: StepRow) -> int:
    return next(each for each, kept in WEIGHTS.items() if kept == row.setting.weights)


def _scores(question: MemoryQuestion, family: FamilyFigures) -> tuple[float, float]:
    """Return how many scores of attention all layers have, and the largest layer."""
    layers = [
        (question.batch * heads * ((question.width_px / scale) * (question.height_px / scale)) ** 2, count)
        for scale, heads, count in family.heads
    ]
    return sum(each * count for each, count in layers), max((each for each, _count in layers), default=0.0)
