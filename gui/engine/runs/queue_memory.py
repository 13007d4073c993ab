"""Waits until a GPU has the memory that a plan of the queue is expected to need."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from gui.engine.hardware.gpu import GpuMonitor, GpuSample
from gui.engine.hardware.memory.room import Room
from gui.engine.patience import within
from gui.engine.quantities import GIB
from gui.engine.texts import _

IDLE_SHARE = 0.9
"""So much of a card is free when nobody uses it: a desktop never lets go of all."""

PATIENCE_SECONDS = 10.0
"""A driver that hangs must not hold up the queue for good."""


def what_is_missing(gpus: GpuMonitor, indices: Sequence[int], needed_gib: float | None) -> str:
    """Return what is waited for, in words; empty when there is enough, or nobody can tell.

    Args:
        gpus: Looks at the GPUs.
        indices: Of the GPUs that are wanted; empty is the first one.
        needed_gib: What the plan is expected to need at its peak; None when that is not known, which
            waits until nobody else uses the GPU.
    """
    try:
        samples = within(PATIENCE_SECONDS, gpus.sample)
    except TimeoutError:
        return ""
    wanted = [sample for sample in samples if sample.index in (indices or (0,))]
    short = {sample.index: gib for sample in wanted if (gib := _waits_for(sample, needed_gib)) is not None}
    if not short:
        return ""
    numbers = " + ".join(map(str, short))
    if needed_gib is None:
        text = _("It waits until nobody else uses GPU {numbers}; what it needs cannot be foreseen.")
        return text.format(numbers=numbers)
    text = _(
        "It waits until GPU {numbers} has {gib:.1f} GiB free: what it is expected to need, and a reserve."
    )
    return text.format(numbers=numbers, gib=max(short.values()))


def _waits_for(sample: GpuSample, needed_gib: float | None) -> float | None:
    """Return how many GiB have to be free; None where there is enough, or nobody can tell."""
    if sample.total_bytes is None or sample.free_bytes is None:
        return None
    total, free = sample.total_bytes / GIB, sample.free_bytes / GIB
    wanted = IDLE_SHARE * total
    if needed_gib is not None:
        system = "windows" if sys.platform == "win32" else None
        # More than an idle card has will never be free: preflight says what to do about that.
        wanted = min(needed_gib + Room.of(total, total, system).reserve, wanted)
    return wanted if free < wanted else None
