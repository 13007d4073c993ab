"""What a run's GPUs were measured with, phase by phase: the driver's figures beside torch's own.

Everything is read from the run's folder, so that it does not matter how many supervisors it had.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gui.engine.documents import Document
from gui.engine.runs.events import Troubled, read_events
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.memory_hook import MemoryRow, read_memory
from gui.engine.runs.metrics import GpuRow, read_metrics
from gui.engine.trainer.events import Phase, PhaseName

ROW_SECONDS = 1.5
"""So far back may the peaks of a row reach: into the phase before, when it has only just changed."""


class PhasePeaks(Document):
    """The most that a phase took of one GPU, bytes; None where nobody told.

    Attributes:
        phase: What the trainer was doing; all stretches of it together.
        seconds: How long it lasted.
        allocated: Taken by tensors, by torch.
        reserved: Taken from the driver, by torch.
        process: Taken by the run's processes, by the driver.
        used: Taken by everybody, by the driver.
        shared: RAM that the GPU used for the run (Windows).
        short: Whether torch had to give memory back, or got none.
    """

    phase: PhaseName
    seconds: float
    allocated: int | None = None
    reserved: int | None = None
    process: int | None = None
    used: int | None = None
    shared: int | None = None
    short: bool = False

    @property
    def told(self) -> bool:
        """Whether anything is known of the run's own memory."""
        return not (self.allocated is None and self.reserved is None and self.process is None)


@dataclass(frozen=True)
class GpuMemory:
    """One GPU of a run.

    Attributes:
        uuid: Its lasting name.
        total: Its memory, bytes; None where not told.
        phases: What each phase took, in the order of their first beginning.
    """

    uuid: str
    total: int | None
    phases: tuple[PhasePeaks, ...]

    def phase(self, name: PhaseName) -> PhasePeaks | None:
        """Return one phase, None where the run had none of that name."""
        return next((peaks for peaks in self.phases if peaks.phase == name), None)


@dataclass(frozen=True)
class RunMemory:
    """All GPUs of a run.

    Attributes:
        gpus: One by one; empty where none was seen.
        spilled: Whether memory was seen to spill over into RAM.
    """

    gpus: tuple[GpuMemory, ...] = ()
    spilled: bool = False


@dataclass
class _Stretches:
    """When each phase was, in seconds since the trainer's start."""

    found: dict[PhaseName, list[tuple[float, float]]] = field(default_factory=dict)

    def seconds(self, phase: PhaseName, last: float) -> float:
        return sum(min(end, last) - begin for begin, end in self.found[phase] if begin < last)

    def holds(self, phase: PhaseName, t: float | None) -> bool:
        stretches = self.found[phase]
        return t is not None and any(begin + ROW_SECONDS <= t <= end for begin, end in stretches)


def measured_memory(run: RunFolder) -> RunMemory:
    """Read what a run has measured so far.

    Args:
        run: Its folder.
    """
    stretches, spilled = _phases(run)
    rows = [row for row in read_metrics(run.metrics) if isinstance(row, GpuRow)]
    hooked = [row for row in read_memory(run.memory) if row.device is not None and row.peaks == "phase"]
    uuids = list(dict.fromkeys(row.uuid for row in rows))
    gpus = []
    for uuid in uuids:
        mine = [row for row in rows if row.uuid == uuid]
        torch = _torch_of(uuid, hooked, alone=len(uuids) == 1)
        phases = tuple(_peaks(phase, stretches, mine, torch) for phase in stretches.found)
        gpus.append(GpuMemory(uuid, most_known(row.total_bytes for row in mine), phases))
    return RunMemory(tuple(gpus), spilled)


def _phases(run: RunFolder) -> tuple[_Stretches, bool]:
    stretches, spilled = _Stretches(), False
    current: tuple[PhaseName, float] = ("loading", 0.0)
    for event in read_events(run.events):
        if isinstance(event, Troubled) and event.id == "memory-spill":
            spilled = True
        if isinstance(event, Phase) and event.t is not None:
            _close(stretches, current, event.t)
            current = (event.phase, event.t)
    _close(stretches, current, float("inf"))
    return stretches, spilled


def _close(stretches: _Stretches, current: tuple[PhaseName, float], end: float) -> None:
    phase, begin = current
    if end > begin:
        stretches.found.setdefault(phase, []).append((begin, end))


def _torch_of(uuid: str, hooked: Sequence[MemoryRow], *, alone: bool) -> list[MemoryRow]:
    """Return what torch said of a GPU; where it tells no lasting name, of the only one that there is."""
    named = [row for row in hooked if row.uuid is not None and uuid.endswith(row.uuid)]
    return named or (list(hooked) if alone else [])


def _peaks(
    phase: PhaseName, stretches: _Stretches, rows: Sequence[GpuRow], torch: Sequence[MemoryRow]
) -> PhasePeaks:
    last = max((row.t for row in rows if row.t is not None), default=0.0)
    rows = [row for row in rows if stretches.holds(phase, row.t)]
    torch = [row for row in torch if row.phase == phase]
    return PhasePeaks(
        phase=phase,
        seconds=round(stretches.seconds(phase, last), 1),
        allocated=most_known(row.allocated_peak for row in torch),
        reserved=most_known(row.reserved_peak for row in torch),
        process=most_known(row.peak_process_bytes for row in rows),
        used=most_known(row.peak_used_bytes for row in rows),
        shared=most_known(row.shared_bytes for row in rows),
        short=any(row.retries or row.ooms for row in torch),
    )


def most_known(values: Iterable[int | None]) -> int | None:
    """Return the greatest of what is known; None where nothing is."""
    return max((value for value in values if value is not None), default=None)
