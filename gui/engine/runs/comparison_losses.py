"""Puts the losses of runs side by side: means over stretches of equal length."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from gui.engine.runs.comparison_models import LossTable
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.metrics import StepRow, read_metrics

STRETCHES = 10


class LossCurve(NamedTuple):
    """The losses of a run.

    Attributes:
        steps: Step numbers, rising.
        losses: The step's own loss, the trainer's moving mean where no own ones are known.
        images_per_step: None where it is not known.
    """

    steps: Sequence[int]
    losses: Sequence[float]
    images_per_step: int | None


def loss_curve(run: RunFolder, images_per_step: int | None) -> LossCurve:
    """Read the finite losses of a run."""
    own: dict[int, float] = {}
    means: dict[int, float] = {}
    for row in read_metrics(run.metrics):
        if isinstance(row, StepRow):
            for known, loss in ((own, row.loss), (means, row.avr_loss)):
                if loss is not None and math.isfinite(loss):
                    known[row.step] = loss
    chosen = sorted((own or means).items())
    return LossCurve([step for step, _loss in chosen], [loss for _step, loss in chosen], images_per_step)


def loss_tables(curves: Sequence[LossCurve]) -> tuple[LossTable, ...]:
    """Return the table by steps, and that by images where a step has not as many images in each run."""
    tables = [_table(curves, "steps", [1 for _curve in curves])]
    counts = [curve.images_per_step for curve in curves]
    known = [count for count in counts if count is not None]
    if len(known) == len(counts) and len(set(known)) > 1:
        tables.append(_table(curves, "images", known))
    return tuple(table for table in tables if table.ends)


def _table(curves: Sequence[LossCurve], by: Literal["steps", "images"], each: Sequence[int]) -> LossTable:
    last = max(
        (curve.steps[-1] * count for curve, count in zip(curves, each, strict=True) if curve.steps), default=0
    )
    if last <= 0:
        return LossTable(by=by, ends=(), losses=())
    width = _round_width(last / STRETCHES)
    ends = tuple(range(width, last + width, width))
    losses = tuple(_means(curve, count, width, len(ends)) for curve, count in zip(curves, each, strict=True))
    return LossTable(by=by, ends=ends, losses=losses)


def _means(curve: LossCurve, count: int, width: int, stretches: int) -> tuple[float | None, ...]:
    sums, numbers = [0.0] * stretches, [0] * stretches
    for step, loss in zip(curve.steps, curve.losses, strict=True):
        place = (max(step, 1) * count - 1) // width
        sums[place] += loss
        numbers[place] += 1
    return tuple(total / number if number else None for total, number in zip(sums, numbers, strict=True))


def _round_width(least: float) -> int:
    """Return the next round number: 1, 2 or 5 of a power of ten."""
    if least <= 1:
        return 1
    power = 10 ** math.floor(math.log10(least))
    return next(int(power * factor) for factor in (1, 2, 5, 10) if power * factor >= least)
