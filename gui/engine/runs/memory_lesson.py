"""What a run that is over has measured of its GPU's memory, and what this machine learns from it.

Everything is read from the run's folder, so that it does not matter how many supervisors it had.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gui.engine.hardware.host import operating_system
from gui.engine.hardware.memory.figures import load_figures
from gui.engine.hardware.memory.learning import learn
from gui.engine.hardware.memory.observations import Machine, MeasuredStep, Observation, observe
from gui.engine.paths import Home
from gui.engine.quantities import GIB
from gui.engine.runs.events import Troubled, read_events
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.memory_hook import MemoryRow, read_memory
from gui.engine.runs.metrics import GpuRow, read_metrics
from gui.engine.runs.records import Manifest
from gui.engine.runs.status import GpuNow
from gui.engine.trainer.events import Phase

LEAST_STEPS = 2
"""The optimizer's state comes with the first step, so the true peak is in the second."""

FULL_SHARE = 0.97
"""Beyond this part of the GPU a run may have needed more than it got."""

ROW_SECONDS = 1.5
"""So far back may the peaks of a row reach: into the phase before, when it has only just changed."""

Interval = tuple[float, float]


def learn_from_run(
    run: RunFolder, manifest: Manifest, gpus: Sequence[GpuNow], steps: int
) -> Observation | None:
    """Learn from a run that is over.

    Args:
        run: Its folder, in the folder of runs of a home.
        manifest: What it was made of, the forecast among it.
        gpus: The GPUs as last seen.
        steps: How many steps it trained.

    Returns:
        What was learned; None where there is nothing: no forecast, no GPU, or hardly a step.

    Raises:
        CannotWrite: It cannot be kept.
        CannotRead: What is assumed of machines cannot be read.
    """
    if manifest.memory is None or manifest.practice or steps < LEAST_STEPS or run.path.parent.name != "runs":
        return None
    found = max(_measured(run), key=lambda pair: pair[1].process or pair[1].reserved or 0.0, default=None)
    if found is None:
        return None
    uuid, measured = found
    name = next((gpu.name for gpu in gpus if gpu.uuid == uuid), "")
    machine = Machine(gpu=uuid, name=name, torch=manifest.torch or "", driver=manifest.driver or "")
    seen = observe(manifest.memory, measured, machine, run=run.name, at=manifest.created_at)
    if seen is not None:
        prior = load_figures().prior(operating_system())
        learn(Home(run.path.parent.parent), machine, seen, prior)
    return seen


def _measured(run: RunFolder) -> Iterator[tuple[str, MeasuredStep]]:
    """Return what each GPU of the run was measured with while training."""
    intervals, spilled = _training(run)
    rows = [row for row in read_metrics(run.metrics) if isinstance(row, GpuRow) and _lies_in(row, intervals)]
    hooked = [row for row in read_memory(run.memory) if row.phase == "training" and row.peaks == "phase"]
    for uuid in dict.fromkeys(row.uuid for row in rows):
        mine = [row for row in rows if row.uuid == uuid]
        torch = [row for row in hooked if row.uuid is not None and uuid.endswith(row.uuid)]
        if not torch and not _several(rows, hooked):
            torch = hooked
        step = MeasuredStep(
            allocated=_gib(row.allocated_peak for row in torch),
            reserved=_gib(row.reserved_peak for row in torch),
            process=_gib(row.peak_process_bytes for row in mine),
            censored=spilled or _is_at_limit(mine, torch),
        )
        if step.tells:
            yield uuid, step


def _several(rows: Sequence[GpuRow], hooked: Sequence[MemoryRow]) -> bool:
    """Whether torch's figures could be of another GPU."""
    return len({row.uuid for row in rows}) > 1 or len({row.device for row in hooked}) > 1


def _training(run: RunFolder) -> tuple[list[Interval], bool]:
    """Return when the run trained, in seconds since its start, and whether its memory spilled over."""
    found: list[Interval] = []
    begun: float | None = None
    spilled = False
    for event in read_events(run.events):
        if isinstance(event, Troubled) and event.id == "memory-spill":
            spilled = True
        if not isinstance(event, Phase) or event.t is None:
            continue
        if begun is not None:
            found.append((begun, event.t))
        begun = event.t if event.phase == "training" else None
    return ([*found, (begun, float("inf"))] if begun is not None else found), spilled


def _lies_in(row: GpuRow, intervals: Sequence[Interval]) -> bool:
    return row.t is not None and any(begin + ROW_SECONDS <= row.t <= end for begin, end in intervals)


def _is_at_limit(rows: Sequence[GpuRow], torch: Sequence[MemoryRow]) -> bool:
    full = any(
        row.total_bytes and max(row.peak_used_bytes or 0, row.used_bytes or 0) > FULL_SHARE * row.total_bytes
        for row in rows
    )
    return full or any(row.retries or row.ooms for row in torch)


def _gib(values: Iterable[int | None]) -> float | None:
    most = max((value for value in values if value is not None), default=0)
    return most / GIB or None
