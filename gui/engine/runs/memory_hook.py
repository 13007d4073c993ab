"""The memory hook in the trainer's interpreter: switched on here, told the phases, and read."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from gui.engine.documents import Document, write_atomically
from gui.engine.errors import CannotWrite
from gui.engine.resources import resource_path
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.follow import LineTail
from gui.engine.trainer.events import PhaseName

LOOK_SECONDS = 0.5


class MemoryRow(Document):
    """What the trainer's torch said of one GPU: a line of ``memory.jsonl``. Amounts are bytes.

    Attributes:
        t: Seconds since the trainer started, None where its launcher had not noted when.
        phase: What the trainer was doing.
        event: ``grown``, the end of the ``phase``, the ``exit``, or ``no-cuda``: there are no figures.
        pid: The process; each trains on GPUs of its own.
        device: The process's own number of the GPU.
        uuid: The GPU's lasting name without ``GPU-`` or ``MIG-``, None where this torch does not tell.
        allocated_peak: The most that tensors took.
        reserved_peak: The most that the allocator took from the GPU.
        allocated: What tensors take now.
        reserved: What the allocator holds now.
        retries: How often it had to give back what it kept and try again.
        ooms: How often there was not enough.
        peaks: Since when the peaks count: the beginning of the phase or of the process.
    """

    t: float | None = None
    phase: str
    event: Literal["grown", "phase", "exit", "no-cuda"]
    pid: int
    device: int | None = None
    uuid: str | None = None
    allocated_peak: int | None = None
    reserved_peak: int | None = None
    allocated: int | None = None
    reserved: int | None = None
    retries: int | None = None
    ooms: int | None = None
    peaks: Literal["phase", "process"] = "phase"


def with_hook(environment: Mapping[str, str]) -> dict[str, str]:
    """Return a trainer's environment with the hook in it.

    The variable is not part of the trainer's command: it is what ``launch`` adds, like the run's marker.

    Args:
        environment: Of the trainer, whole.
    """
    folder = str(resource_path("launcher", "in_trainer"))
    if os.pathsep in folder:  # such a folder cannot be named there
        return dict(environment)
    behind = environment.get("PYTHONPATH")
    return {**environment, "PYTHONPATH": os.pathsep.join([folder, behind] if behind else [folder])}


def read_memory(path: Path) -> Iterator[MemoryRow]:
    """Read ``memory.jsonl`` from its beginning; what cannot be read is left out."""
    with contextlib.closing(LineTail(path)) as tail:
        yield from memory_rows(tail)


class MemoryHook:
    """The supervisor's end of the hook: tells it the phase, and keeps what it wrote last of each GPU.

    Args:
        run: The folder that both know.

    Attributes:
        newest: The newest row of each process and device.
    """

    def __init__(self, run: RunFolder) -> None:
        self._run = run
        self._tail = LineTail(run.memory)
        self._phase: PhaseName | None = None
        self._due = 0.0
        self.newest: dict[tuple[int, int], MemoryRow] = {}

    def look(self, now: float, phase: PhaseName) -> None:
        """Tell the phase at once when it is new; read twice a second."""
        if phase != self._phase:
            self._phase = phase
            with contextlib.suppress(CannotWrite):  # on a full disk the figures are one phase's too few
                write_atomically(self._run.phase, f"{phase}\n", durable=False)
        if now >= self._due:
            self._due = now + LOOK_SECONDS
            for row in memory_rows(self._tail):
                if row.device is not None:
                    self.newest[row.pid, row.device] = row

    def close(self) -> None:
        """Let go of the file."""
        self._tail.close()


def memory_rows(tail: LineTail, most_bytes: int = -1) -> Iterator[MemoryRow]:
    """Read the rows that are new; what cannot be read is left out.

    Args:
        tail: Of ``memory.jsonl``.
        most_bytes: Read no more than that at once.
    """
    for line in tail.read(most_bytes):
        with contextlib.suppress(ValidationError):
            yield MemoryRow.model_validate_json(line)
