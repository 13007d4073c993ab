"""What this machine learns from what a run that is over has measured of its GPU's memory."""

from __future__ import annotations

from collections.abc import Sequence

from gui.engine.errors import NewerDocument
from gui.engine.hardware.host import operating_system
from gui.engine.hardware.memory.figures import load_figures
from gui.engine.hardware.memory.learning import learn
from gui.engine.hardware.memory.observations import Machine, Observation, observe
from gui.engine.runs.folder import RunFolder, home_of
from gui.engine.runs.records import Manifest
from gui.engine.runs.status import GpuNow
from gui.engine.runs.trained_gpu import trained_gpu
from gui.engine.runs.where_short import where_short
from gui.engine.trainer.shortage import MemoryShortage

LEAST_STEPS = 2
"""The optimizer's state comes with the first step, so the true peak is in the second."""


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
        What was learned; None where there is nothing: no forecast, no GPU, hardly a step, or figures that a
        newer version of this program keeps. A run whose memory ran out within a step tells a lower bound,
        however early that was.

    Raises:
        CannotWrite: It cannot be kept.
        CannotRead: What is assumed of machines cannot be read.
    """
    home = home_of(run)
    if manifest.memory is None or manifest.practice or home is None:
        return None
    short = _short_step(run)
    trained = trained_gpu(run, untold=short is not None)
    if trained is None or (steps < LEAST_STEPS and short is None):
        return None
    uuid = trained.gpu.uuid
    name = next((each.name for each in gpus if each.uuid == uuid), "")
    machine = Machine(gpu=uuid, name=name, torch=manifest.torch or "", driver=manifest.driver or "")
    seen = observe(
        manifest.memory,
        trained.step(short),
        machine,
        run=run.name,
        at=manifest.created_at,
        source="rehearsal" if manifest.rehearsal else "run",
    )
    if seen is not None:
        prior = load_figures().prior(operating_system())
        try:
            learn(home, machine, seen, prior)
        except NewerDocument:
            return None  # that version has its own way to learn
    return seen


def _short_step(run: RunFolder) -> MemoryShortage | None:
    """Return what was said where memory ran out in a training step, which is a lower bound."""
    phase, shortage = where_short(run)
    return shortage if phase == "step" else None
