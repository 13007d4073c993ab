"""Where a loss began to run away before it broke down: what was saved since is finite, but lost."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable

from gui.engine.runs.metrics import AnyRow, StepRow

RUNAWAY = 10.0
"""So many times its usual size a loss is beyond what timesteps and images make of it."""

_FEW = 4


def ran_away_at(rows: Iterable[AnyRow], broke: int) -> int | None:
    """Return the first of the steps right before a breakdown whose losses are all far beyond the usual.

    Args:
        rows: Of ``metrics.jsonl``.
        broke: The first step whose loss was no number.

    Returns:
        The step; None where the loss broke down out of the blue.
    """
    losses = {row.step: loss for row in rows if isinstance(row, StepRow) and (loss := _loss(row)) is not None}
    before = sorted(step for step in losses if step < broke)
    if len(before) < _FEW:
        return None
    # The lower quartile, since most of a short run may have been on its way already.
    usual = statistics.quantiles([losses[step] for step in before], n=4)[0]
    first = None
    for step in reversed(before):
        if losses[step] <= RUNAWAY * usual:
            break
        first = step
    return first


def _loss(row: StepRow) -> float | None:
    loss = row.loss if row.loss is not None else row.avr_loss
    return loss if loss is not None and math.isfinite(loss) else None
