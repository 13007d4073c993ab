"""Watches the GPUs of a run: ten looks a second where memory moves, one where it stands still."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from gui.engine.hardware.gpu import GpuDevice, GpuMonitor, GpuSample
from gui.engine.hardware.holders import holder_words
from gui.engine.hardware.sampler import Sampler
from gui.engine.hardware.visible import visible_devices
from gui.engine.runs.ledger import Ledger
from gui.engine.runs.memory_hook import MemoryHook, MemoryRow
from gui.engine.runs.memory_trouble import MemoryJudge, MemoryLook
from gui.engine.runs.memory_words import memory_sentence
from gui.engine.runs.metrics import GpuRow
from gui.engine.runs.pace import Pace
from gui.engine.runs.slow_causes import SlowFacts, slow_cause
from gui.engine.runs.status import GpuNow
from gui.engine.texts import _
from gui.engine.trainer.events import PhaseName

QUICK_SECONDS = 0.1
CALM_SECONDS = 1.0
"""Also between two thorough looks; each of them makes a row."""

FIRST_STEPS = 10
"""So many steps of a run are looked at quickly: the optimizer's state comes with the first, kernels are
tried in some."""

QUICK_PHASES: frozenset[PhaseName] = frozenset({"loading", "caching-latents", "caching-text", "sampling"})
"""Here memory is given back to the driver in between, and a peak is gone within a second."""

RETRY_LOOKS = 60
"""So many thorough looks back are retries counted."""

SILENT_SECONDS = 30.0
"""A look at the GPUs that takes longer hangs in the driver."""


class _Look(NamedTuple):
    samples: tuple[GpuSample, ...]
    problem: str | None
    devices: tuple[GpuDevice, ...]
    thorough: bool


@dataclass
class _Watched:
    """What is known about one GPU.

    Attributes:
        judge: Judges its memory.
        now: As it was last told.
        sample: The newest thorough look.
        used: The most in use since the last row.
        process: The most of this run since then.
        retries: Torch's at the last looks: what they have risen by tells of memory that is too tight.
    """

    judge: MemoryJudge = field(default_factory=MemoryJudge)
    now: GpuNow | None = None
    sample: GpuSample | None = None
    used: int | None = None
    process: int | None = None
    retries: deque[int] = field(default_factory=lambda: deque(maxlen=RETRY_LOOKS))


class GpuWatch:
    """Looks in a thread of its own, and takes what it saw whenever it is asked to.

    Args:
        ledger: Where figures and warnings go.
        gpus: Looks at the GPUs; only ever called in that thread.
        hook: The hook in the trainer's torch.
        pace: How long steps take.
        environment: Of the trainer, to know which GPUs it sees.
        processes: How many processes train, on a GPU each.
    """

    def __init__(
        self,
        ledger: Ledger,
        gpus: GpuMonitor,
        hook: MemoryHook,
        *,
        pace: Pace | None = None,
        environment: Mapping[str, str] | None = None,
        processes: int = 1,
    ) -> None:
        self._ledger = ledger
        self._gpus = gpus
        self._hook = hook
        self._pace = pace or Pace()
        self._environment = environment or {}
        self._processes = processes
        self._sampler: Sampler[_Look] = Sampler(self._sample, QUICK_SECONDS)
        self._thorough_due = 0.0
        self._watched: dict[str, _Watched] = {}
        self._first_step: int | None = None
        self._pids: Collection[int] = ()

    def start(self) -> None:
        """Begin to look."""
        self._sampler.start()

    def stop(self) -> None:
        """Take no further look."""
        self._sampler.stop()
        self._hook.close()

    def look(self, pids: Collection[int]) -> None:
        """Take what was seen since the last call.

        Args:
            pids: The processes of the run.
        """
        self._pids = pids
        phase: PhaseName = self._ledger.board.fact("phase") or "loading"
        self._hook.look(self._ledger.now(), phase)
        self._sampler.seconds = QUICK_SECONDS if self._is_quick(phase) else CALM_SECONDS
        if (self._sampler.age_seconds() or 0.0) > SILENT_SECONDS:
            silent = _("The NVIDIA driver has not answered for half a minute.")
            self._ledger.board.put(gpu_problem=silent)
            self._ledger.notice("gpu-silent", silent)
            return
        for look in self._sampler.fresh():
            self._take(look)

    def slow_cause(self) -> str:
        """Return what is seen that would slow a training down; empty where nothing is."""
        host = self._ledger.board.fact("host")
        own = [one for one in self._watched.values() if one.sample is not None]
        busiest = max(own, key=lambda one: one.now.process_bytes or 0 if one.now else 0, default=_Watched())
        sample = busiest.sample
        return slow_cause(
            SlowFacts(
                spilling=any(one.judge.has("memory-spill") for one in own),
                retries=max((one.retries[-1] - one.retries[0] for one in own), default=0),
                throttle=(sample.throttle or ()) if sample else (),
                temperature_c=sample.temperature_c if sample else None,
                utilisation_percent=sample.utilisation_percent if sample else None,
                holders=self._holders(sample) if busiest.judge.has("gpu-others") and sample else (),
                ram_available_bytes=host.ram_available_bytes if host else None,
            )
        )

    def _sample(self) -> _Look:
        """Look, in the sampler's thread."""
        now = time.monotonic()
        thorough = now >= self._thorough_due
        if thorough:
            self._thorough_due = now + CALM_SECONDS - QUICK_SECONDS / 2
        samples = self._gpus.sample(thorough=thorough)
        return _Look(samples, self._gpus.problem, self._gpus.devices(), thorough)

    def _is_quick(self, phase: PhaseName) -> bool:
        if self._ledger.board.state == "paused":
            return False
        step = self._ledger.board.fact("step")
        if step is not None and self._first_step is None:
            self._first_step = step
        beginning = step is None or step - (self._first_step or 0) < FIRST_STEPS
        return beginning or phase in QUICK_PHASES

    def _take(self, look: _Look) -> None:
        board = self._ledger.board
        if look.problem is not None and not look.samples:
            board.put(gpu_problem=look.problem)
            self._ledger.notice("no-gpu", look.problem)
            return
        visible = visible_devices(look.devices, self._environment)
        for sample in look.samples:
            one = self._watched.setdefault(sample.uuid, _Watched())
            held = sample.process_bytes(self._pids)
            one.used, one.process = _most(one.used, sample.used_bytes), _most(one.process, held)
            if look.thorough:
                device = next((each for each in look.devices if each.uuid == sample.uuid), None)
                torch = self._torch_of(sample, visible)
                self._write(one, sample, torch)
                if self._is_own(sample, one, visible):
                    self._judge(one, sample, torch, device)
        if look.thorough:
            gpus = tuple(one.now for one in self._watched.values() if one.now is not None)
            board.put(gpus=gpus, gpu_problem=None)

    def _write(self, one: _Watched, sample: GpuSample, torch: list[MemoryRow]) -> None:
        """Write a row and the status; the peaks count anew from here."""
        self._tell(sample)
        pids = self._pids
        told = sample.model_dump(include=_TOLD)
        told |= {
            "process_bytes": sample.process_bytes(pids),
            "shared_bytes": sample.shared_bytes(pids),
            "others_bytes": _others(sample, pids),
            "torch_allocated_bytes": _sum(row.allocated for row in torch),
            "torch_reserved_bytes": _sum(row.reserved for row in torch),
        }
        row = GpuRow(t=self._ledger.t(), **told, peak_used_bytes=one.used, peak_process_bytes=one.process)
        self._ledger.row(row)
        before = one.now
        one.now = GpuNow(
            name=sample.name,
            peak_process_bytes=_most(before.peak_process_bytes if before else None, one.process),
            peak_used_bytes=_most(before.peak_used_bytes if before else None, one.used),
            **told,
        )
        one.sample, one.used, one.process = sample, None, None
        one.retries.append(sum(row.retries or 0 for row in torch))

    def _tell(self, sample: GpuSample) -> None:
        lost = sample.sentence()
        if lost is not None:
            self._ledger.notice(f"gpu-lost:{sample.uuid}", lost)
        elif sample.refused:
            text = _("This user may not know all about GPU {index}: the driver refuses a part of it.")
            self._ledger.notice(f"gpu-refused:{sample.uuid}", text.format(index=sample.index))

    def _judge(
        self, one: _Watched, sample: GpuSample, torch: list[MemoryRow], device: GpuDevice | None
    ) -> None:
        if sample.used_bytes is None or sample.free_bytes is None or not sample.total_bytes:
            return
        look = MemoryLook(
            now=self._ledger.now(),
            total=sample.total_bytes,
            used=sample.used_bytes,
            free=sample.free_bytes,
            shared=sample.shared_bytes(self._pids),
            others=_others(sample, self._pids),
            spare=_spare(torch),
            wddm=device is not None and device.driver_model == "WDDM",
            step_seconds=self._pace.recent_seconds,
            usual_seconds=self._pace.usual_seconds,
        )
        for change in one.judge.look(look):
            name = _("GPU {index} ({name})").format(index=sample.index, name=sample.name or sample.uuid)
            sentence = memory_sentence(change, look, name, self._holders(sample))
            self._ledger.trouble(change.kind, sentence, over=change.over)

    def _holders(self, sample: GpuSample) -> list[str]:
        return holder_words(sample.processes or {}, self._pids)

    def _torch_of(self, sample: GpuSample, visible: tuple[GpuDevice, ...] | None) -> list[MemoryRow]:
        """Return what torch said of a GPU."""
        return [row for row in self._hook.newest.values() if self._place_of(row, visible) == sample.uuid]

    def _place_of(self, row: MemoryRow, visible: tuple[GpuDevice, ...] | None) -> str | None:
        """Return the GPU that a row is of: by its lasting name, else by the number that CUDA gives it."""
        named = next((uuid for uuid in self._watched if row.uuid and uuid.endswith(row.uuid)), None)
        numbered = dict(enumerate(visible or ()))
        device = None if row.device is None else numbered.get(row.device)
        return named or (device.uuid if device else None)

    def _is_own(self, sample: GpuSample, one: _Watched, visible: tuple[GpuDevice, ...] | None) -> bool:
        """Whether the run trains on a GPU: as torch says it, the driver, or the GPUs that it may see."""
        told = {self._place_of(row, visible) for row in self._hook.newest.values()} & self._watched.keys()
        if told:
            return sample.uuid in told
        if any(each.now and each.now.process_bytes for each in self._watched.values()):
            return bool(one.now and one.now.process_bytes)
        return sample.uuid in {device.uuid for device in (visible or ())[: self._processes]}


_TOLD = {
    "index",
    "uuid",
    "used_bytes",
    "total_bytes",
    "utilisation_percent",
    "temperature_c",
    "power_w",
}


def _others(sample: GpuSample, pids: Collection[int]) -> int | None:
    """Return what is in use and not the run's; None where the driver does not know the run."""
    mine = sample.process_bytes(pids)
    return None if mine is None or sample.used_bytes is None else max(0, sample.used_bytes - mine)


def _spare(torch: list[MemoryRow]) -> int:
    """Return what torch holds and does not need even at its peak; none once it has had to give some back."""
    if any(row.retries or row.ooms for row in torch):
        return 0
    return sum(max(0, (row.reserved or 0) - (row.allocated_peak or 0)) for row in torch)


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _most(one: int | None, other: int | None) -> int | None:
    known = [value for value in (one, other) if value is not None]
    return max(known) if known else None
