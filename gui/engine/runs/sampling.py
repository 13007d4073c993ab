"""Measures GPUs, machine and disks while a run lives, and warns before a disk is full."""

from __future__ import annotations

from pathlib import Path

from gui.engine.hardware.gpu import GpuMonitor, GpuSample
from gui.engine.hardware.host import HostMonitor
from gui.engine.hardware.sampler import Sampler
from gui.engine.runs.disk import DiskSpace, DiskWatch
from gui.engine.runs.events import DiskWarned
from gui.engine.runs.ledger import Ledger
from gui.engine.runs.metrics import GpuRow, HostRow
from gui.engine.runs.processes import Tree, TreeMemory
from gui.engine.runs.status import GpuNow, HostNow
from gui.engine.texts import _

SAMPLE_SECONDS = 1.0
DISK_SECONDS = 5.0

FULL_BYTES = 1 << 20
"""Below this nothing useful can be written any more."""

SILENT_SECONDS = 30.0
"""A look at the GPUs that takes longer hangs in the driver."""

GpuLook = tuple[tuple[GpuSample, ...], str | None]


class Sampling:
    """Looks about once a second.

    Args:
        ledger: Where figures and warnings go.
        gpus: Looks at the GPUs; only ever called in a thread of its own.
        host: Looks at the machine.
        disks: Looks at the disks that the run writes to.

    Attributes:
        full_disk: The folder whose disk was seen full.
    """

    def __init__(self, ledger: Ledger, gpus: GpuMonitor, host: HostMonitor, disks: DiskWatch) -> None:
        self._ledger = ledger
        self._gpus: Sampler[GpuLook] = Sampler(lambda: (gpus.sample(), gpus.problem), SAMPLE_SECONDS)
        self._host = host
        self._disks = disks
        self._due = 0.0
        self._disks_due = 0.0
        self._free: dict[str, int] = {}
        self._warned: dict[Path, str] = {}
        self._gpus_now: dict[str, GpuNow] = {}
        self._last_look: GpuLook | None = None
        self.full_disk: str | None = None

    def start(self) -> None:
        """Begin to look at the GPUs."""
        self._gpus.start()

    def stop(self) -> None:
        """Take no further look at the GPUs."""
        self._gpus.stop()

    def look(self, tree: Tree) -> None:
        """Measure when it is time to."""
        now = self._ledger.now()
        if now < self._due:
            return
        self._due = now + SAMPLE_SECONDS
        if now >= self._disks_due:
            self._disks_due = now + DISK_SECONDS
            self.look_at_disks()
        rows = tree.members()
        self._look_at_host(tree.memory(rows))
        self._look_at_gpus([row.pid for row in rows])

    def look_at_disks(self) -> None:
        """Measure the disks now, and warn where there is little room."""
        for space in self._disks.sample():
            if space.free_bytes is not None:
                self._free[str(space.path)] = space.free_bytes
                self._warn(space, space.free_bytes)

    def _warn(self, space: DiskSpace, free_bytes: int) -> None:
        full = free_bytes < FULL_BYTES
        if full and self.full_disk is None:
            self.full_disk = str(space.path)
        level = "none" if full else space.level
        sentence = space.sentence()
        if sentence is None or self._warned.get(space.path) == level:
            return
        self._warned[space.path] = level
        event = DiskWarned(path=str(space.path), free_bytes=free_bytes, full=full, sentence=sentence)
        self._ledger.say(event)
        self._ledger.board.notice(f"disk:{space.path}", sentence)

    def _look_at_host(self, memory: TreeMemory) -> None:
        sample = self._host.sample(memory)
        board = self._ledger.board
        before: HostNow = board.fact("host") or HostNow()
        board.put(
            host=HostNow(
                tree_rss_bytes=memory.rss_bytes,
                tree_pss_bytes=memory.pss_bytes,
                peak_tree_rss_bytes=max(before.peak_tree_rss_bytes, memory.rss_bytes),
                tree_processes=memory.processes,
                ram_available_bytes=sample.ram_available_bytes,
                disk_free_bytes=dict(self._free),
            )
        )
        self._ledger.row(
            HostRow(
                t=self._ledger.t(),
                tree_rss_bytes=memory.rss_bytes,
                tree_pss_bytes=memory.pss_bytes,
                tree_processes=memory.processes,
                ram_available_bytes=sample.ram_available_bytes,
                disk_free_bytes=dict(self._free),
            )
        )

    def _look_at_gpus(self, pids: list[int]) -> None:
        look = self._gpus.newest()
        if (self._gpus.age_seconds() or 0.0) > SILENT_SECONDS:
            silent = _("The NVIDIA driver has not answered for half a minute.")
            self._ledger.board.put(gpu_problem=silent)
            self._ledger.notice("gpu-silent", silent)
            return
        if look is None or look is self._last_look:
            return
        self._last_look = look
        samples, problem = look
        if problem is not None and not samples:
            self._ledger.board.put(gpu_problem=problem)
            self._ledger.notice("no-gpu", problem)
            return
        for sample in samples:
            self._take_gpu(sample, sample.process_bytes(pids))
        self._ledger.board.put(gpus=tuple(self._gpus_now.values()), gpu_problem=None)

    def _take_gpu(self, sample: GpuSample, process_bytes: int | None) -> None:
        lost = sample.sentence()
        if lost is not None:
            self._ledger.notice(f"gpu-lost:{sample.uuid}", lost)
        before = self._gpus_now.get(sample.uuid)
        told = sample.model_dump(
            include={
                "index",
                "uuid",
                "used_bytes",
                "total_bytes",
                "utilisation_percent",
                "temperature_c",
                "power_w",
            }
        )
        self._ledger.row(GpuRow(t=self._ledger.t(), process_bytes=process_bytes, **told))
        self._gpus_now[sample.uuid] = GpuNow(
            name=sample.name,
            process_bytes=process_bytes,
            peak_process_bytes=_most(before.peak_process_bytes if before else None, process_bytes),
            peak_used_bytes=_most(before.peak_used_bytes if before else None, sample.used_bytes),
            **told,
        )


def _most(one: int | None, other: int | None) -> int | None:
    known = [value for value in (one, other) if value is not None]
    return max(known) if known else None
