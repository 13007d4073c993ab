"""The GPU that a run's training steps take most of, and what they take there: one answer for all who ask."""

from __future__ import annotations

from typing import NamedTuple

from gui.engine.hardware.memory.observations import MOST_GIB, MeasuredStep
from gui.engine.quantities import GIB
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.measured_memory import GpuMemory, PhasePeaks, measured_memory, most_known
from gui.engine.trainer.shortage import MemoryShortage

FULL_SHARE = 0.97
"""Beyond this part of the GPU a run may have needed more than it got."""


class TrainedGpu(NamedTuple):
    """A GPU, and what training takes there.

    Attributes:
        gpu: The GPU.
        peaks: Of the training steps.
        spilled: Whether the run's memory went over into the RAM.
        alone: Whether no other GPU trains.
    """

    gpu: GpuMemory
    peaks: PhasePeaks
    spilled: bool
    alone: bool

    @property
    def at_limit(self) -> bool:
        """Whether training may need more than it got."""
        full = self.gpu.total and self.peaks.used and self.peaks.used > FULL_SHARE * self.gpu.total
        return self.spilled or self.peaks.short or bool(full)

    def step(self, shortage: MemoryShortage | None = None) -> MeasuredStep:
        """Return the figures as learning takes them.

        Args:
            shortage: What was said where memory ran out in a training step; it tells of one GPU only.
        """
        said = shortage if shortage and self.alone else MemoryShortage()
        peaks = self.peaks
        return MeasuredStep(
            allocated=_gib(most_known((peaks.allocated, said.tensors))),
            reserved=_gib(peaks.reserved),
            process=_gib(most_known((peaks.process, said.needed if said.in_use else None))),
            censored=self.at_limit or shortage is not None,
        )


def trained_gpu(run: RunFolder, *, untold: bool = False) -> TrainedGpu | None:
    """Return the GPU that a run trains on; of several the one that it takes most of.

    Args:
        run: Its folder; it may still train.
        untold: Whether a GPU counts of which nobody told yet what training takes.

    Returns:
        None before anybody told.
    """
    memory = measured_memory(run)
    found = [
        (gpu, peaks) for gpu in memory.gpus if (peaks := gpu.phase("training")) and (peaks.told or untold)
    ]
    if not found:
        return None
    gpu, peaks = max(found, key=lambda pair: pair[1].process or pair[1].reserved or 0)
    return TrainedGpu(gpu, peaks, memory.spilled, alone=len(found) == 1)


def _gib(count: int | None) -> float | None:
    """Return GiB; None for nothing, and for more than any memory is: whoever told it was mistaken."""
    return count / GIB if count and count <= MOST_GIB * GIB else None
