"""Measures GPUs, machine and disks while a run lives, and warns before a disk is full."""

from __future__ import annotations

from pathlib import Path

from gui.engine.hardware.host import HostMonitor
from gui.engine.runs.disk import DiskSpace, DiskWatch
from gui.engine.runs.events import DiskWarned
from gui.engine.runs.gpu_watch import GpuWatch
from gui.engine.runs.ledger import Ledger
from gui.engine.runs.metrics import HostRow
from gui.engine.runs.processes import Tree, TreeMemory
from gui.engine.runs.status import HostNow

SAMPLE_SECONDS = 1.0
DISK_SECONDS = 5.0

FULL_BYTES = 1 << 20
"""Below this nothing useful can be written any more."""


class Sampling:
    """Looks at machine and disks about once a second, and takes what is seen of the GPUs all the time.

    Args:
        ledger: Where figures and warnings go.
        gpus: Watches the GPUs.
        host: Looks at the machine.
        disks: Looks at the disks that the run writes to.

    Attributes:
        full_disk: The folder whose disk was seen full.
    """

    def __init__(self, ledger: Ledger, gpus: GpuWatch, host: HostMonitor, disks: DiskWatch) -> None:
        self._ledger = ledger
        self._gpus = gpus
        self._host = host
        self._disks = disks
        self._due = 0.0
        self._disks_due = 0.0
        self._free: dict[str, int] = {}
        self._warned: dict[Path, str] = {}
        self._pids: list[int] = []
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
        if now >= self._due:
            self._due = now + SAMPLE_SECONDS
            self._look_at_machine(tree, now)
        self._gpus.look(self._pids)

    def _look_at_machine(self, tree: Tree, now: float) -> None:
        if now >= self._disks_due:
            self._disks_due = now + DISK_SECONDS
            self.look_at_disks()
        rows = tree.members()
        self._look_at_host(tree.memory(rows))
        self._pids = [row.pid for row in rows]

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
