"""What this machine learns from what a run that is over has measured of its GPU's memory."""

from __future__ import annotations

from collections.abc import Sequence

from gui.engine.hardware.host import operating_system
from gui.engine.hardware.memory.figures import load_figures
from gui.engine.hardware.memory.learning import learn
from gui.engine.hardware.memory.observations import Machine, MeasuredStep, Observation, observe
from gui.engine.quantities import GIB
from gui.engine.runs.folder import RunFolder, home_of
from gui.engine.runs.measured_memory import GpuMemory, PhasePeaks, measured_memory
from gui.engine.runs.records import Manifest
from gui.engine.runs.status import GpuNow
from gui.engine.runs.where_short import where_short
from gui.engine.trainer.shortage import MemoryShortage

LEAST_STEPS = 2
"""The optimizer's state comes with the first step, so the true peak is in the second."""

FULL_SHARE = 0.97
"""Beyond this part of the GPU a run may have needed more than it got."""


def learn_from_run(
    run: RunFolder, manifest: Manifest, gpus: Sequence[GpuNow], steps: int
) -> Observation | None:
    """Learn from a run that is over.

    Args:
        run: Its folder, among the runs or rehearsals of a home.
        manifest: What it was made of, the forecast among it.
        gpus: The GPUs as last seen.
        steps: How many steps it trained.

    Returns:
        What was learned; None where there is nothing: no forecast, no GPU, or hardly a step. A run whose
        memory ran out within a step tells a lower bound, however early that was.

    Raises:
        CannotWrite: It cannot be kept.
        CannotRead: What is assumed of machines cannot be read.
    """
    home = home_of(run)
    if manifest.memory is None or manifest.practice or home is None:
        return None
    short, measured = _short_step(run), measured_memory(run)
    trained = [
        (gpu, peaks) for gpu in measured.gpus if (peaks := gpu.phase("training")) and (peaks.told or short)
    ]
    if not trained or (steps < LEAST_STEPS and short is None):
        return None
    gpu, peaks = max(trained, key=lambda pair: pair[1].process or pair[1].reserved or 0)
    name = next((each.name for each in gpus if each.uuid == gpu.uuid), "")
    machine = Machine(gpu=gpu.uuid, name=name, torch=manifest.torch or "", driver=manifest.driver or "")
    said = short if short and len(trained) == 1 else MemoryShortage()
    step = MeasuredStep(
        allocated=_gib(_most(peaks.allocated, said.tensors)),
        reserved=_gib(peaks.reserved),
        process=_gib(_most(peaks.process, said.needed if said.in_use else None)),
        censored=measured.spilled or peaks.short or short is not None or _is_full(gpu, peaks),
    )
    seen = observe(
        manifest.memory,
        step,
        machine,
        run=run.name,
        at=manifest.created_at,
        source="rehearsal" if manifest.rehearsal else "run",
    )
    if seen is not None:
        prior = load_figures().prior(operating_system())
        learn(home, machine, seen, prior)
    return seen


def _short_step(run: RunFolder) -> MemoryShortage | None:
    """Return what was said where memory ran out in a training step, which is a lower bound."""
    phase, shortage = where_short(run)
    return shortage if phase == "step" else None


def _most(*counts: int | None) -> int | None:
    return max((count for count in counts if count is not None), default=None)


def _is_full(gpu: GpuMemory, peaks: PhasePeaks) -> bool:
    return bool(gpu.total and peaks.used and peaks.used > FULL_SHARE * gpu.total)


def _gib(count: int | None) -> float | None:
    return count / GIB if count else None
