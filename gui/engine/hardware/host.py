"""The machine without its GPUs: RAM and its limits, processor, system."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
from pathlib import Path
from typing import Any, Literal, Protocol

import psutil

from gui.engine.documents import Document

OperatingSystem = Literal["linux", "windows", "macos"]

CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUP = Path("/proc/self/cgroup")
NO_LIMIT = 1 << 60
"""Version 1 of cgroups writes a number near 2^63 where there is no limit."""


class HostFacts(Document):
    """What does not change while the machine is up.

    Attributes:
        os: The kind of system.
        os_version: Its release, ``6.18.44`` or ``11``.
        cpu_name: The processor, empty when not told.
        cpu_count: Logical processors that this process may use.
        ram_bytes: RAM that processes may use: the machine's, or less inside a container.
        commit_limit_bytes: Windows: RAM and page file together, beyond which nothing is given out.
        boot_time: Seconds since 1970 by the machine's clock.
    """

    os: OperatingSystem
    os_version: str
    cpu_name: str
    cpu_count: int
    ram_bytes: int
    commit_limit_bytes: int | None
    boot_time: float


class HostSample(Document):
    """One look at the machine.

    Attributes:
        ram_total_bytes: As ``HostFacts.ram_bytes``.
        ram_available_bytes: What can be had without swapping or being killed.
        swap_used_bytes: What has been moved to disk.
        commit_limit_bytes: As in ``HostFacts``; the page file may grow.
        commit_available_bytes: Windows: what is still given out.
        cpu_percent: Of all processors since the look before; the first one tells 0.
        tree_rss_bytes: RAM of the run, None without one.
        tree_processes: How many processes it has, None without one.
    """

    ram_total_bytes: int
    ram_available_bytes: int
    swap_used_bytes: int
    commit_limit_bytes: int | None
    commit_available_bytes: int | None
    cpu_percent: float
    tree_rss_bytes: int | None
    tree_processes: int | None


class MeasuredTree(Protocol):
    """What ``Tree.memory`` of a run returns."""

    @property
    def rss_bytes(self) -> int:
        """RAM of all its processes."""

    @property
    def processes(self) -> int:
        """How many there are."""


class HostMonitor:
    """Looks at the machine.

    Args:
        cgroups: Where the system mounts its control groups.
        own_cgroup: The file that names this process's.
    """

    def __init__(self, cgroups: Path = CGROUPS, own_cgroup: Path = OWN_CGROUP) -> None:
        self._cgroups = cgroups
        self._own_cgroup = own_cgroup
        psutil.cpu_percent(interval=None)

    def facts(self) -> HostFacts:
        """Return what does not change."""
        ram, _ = self._ram()
        return HostFacts(
            os=operating_system(),
            os_version=platform.release(),
            cpu_name=cpu_name(),
            cpu_count=usable_cpus(),
            ram_bytes=ram,
            commit_limit_bytes=_commit()[0],
            boot_time=psutil.boot_time(),
        )

    def sample(self, tree: MeasuredTree | None = None) -> HostSample:
        """Look at the machine now.

        Args:
            tree: The memory of the run, as ``Tree.memory()`` measured it.
        """
        total, available = self._ram()
        limit, left = _commit()
        return HostSample(
            ram_total_bytes=total,
            ram_available_bytes=available,
            swap_used_bytes=_swap_used(),
            commit_limit_bytes=limit,
            commit_available_bytes=left,
            cpu_percent=psutil.cpu_percent(interval=None),
            tree_rss_bytes=None if tree is None else tree.rss_bytes,
            tree_processes=None if tree is None else tree.processes,
        )

    def _ram(self) -> tuple[int, int]:
        """Return total and available RAM, both bounded by the control groups that this process is in."""
        memory = psutil.virtual_memory()
        total, available = memory.total, memory.available
        for folder in self._groups():
            limit = _number(folder / "memory.max", folder / "memory.limit_in_bytes")
            if limit is None or limit >= min(total, NO_LIMIT):
                continue
            used = _number(folder / "memory.current", folder / "memory.usage_in_bytes") or 0
            kept = max(used - _reclaimable(folder / "memory.stat"), 0)
            total, available = limit, min(available, max(limit - kept, 0))
        return total, available

    def _groups(self) -> list[Path]:
        """Return the folders of this process's memory groups, the outermost first."""
        found: list[Path] = []
        with contextlib.suppress(OSError):
            for line in self._own_cgroup.read_text("utf-8", "replace").splitlines():
                number, controllers, name = [*line.split(":", 2), "", ""][:3]
                if number == "0" or "memory" in controllers.split(","):
                    root = self._cgroups if number == "0" else self._cgroups / "memory"
                    parts = [part for part in name.split("/") if part not in ("", "..")]
                    found += [root.joinpath(*parts[:n]) for n in range(len(parts) + 1)]
        return found


def operating_system() -> OperatingSystem:
    """Return the kind of system."""
    if sys.platform == "win32":
        return "windows"
    return "macos" if sys.platform == "darwin" else "linux"


def usable_cpus() -> int:
    """Return how many logical processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return os.cpu_count() or 1


def cpu_name(listing: Path = Path("/proc/cpuinfo")) -> str:
    """Return the processor's name."""
    with contextlib.suppress(OSError):
        for line in listing.read_text("utf-8", "replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def _swap_used() -> int:
    try:
        return int(psutil.swap_memory().used)
    except (OSError, RuntimeError, psutil.Error):  # Windows without its performance counters
        return 0


def _number(*files: Path) -> int | None:
    """Read the first file that holds a number; ``max`` is none."""
    for file in files:
        with contextlib.suppress(OSError, ValueError):
            return int(file.read_text("ascii"))
    return None


def _reclaimable(statistics: Path) -> int:
    """Return the file cache that a group would give back before anything is killed."""
    with contextlib.suppress(OSError, ValueError):
        for line in statistics.read_text("ascii").splitlines():
            name, _, value = line.partition(" ")
            if name in ("inactive_file", "total_inactive_file"):
                return int(value)
    return 0


def _commit() -> tuple[int | None, int | None]:
    """Return the limit of what Windows gives out, and what is left of it; None elsewhere."""
    return _windows_commit() if operating_system() == "windows" else (None, None)


def _windows_commit() -> tuple[int | None, int | None]:  # pragma: no cover - Windows only
    import ctypes

    class MemoryStatus(ctypes.Structure):
        """MEMORYSTATUSEX of the Windows API."""

        _fields_ = (
            ("length", ctypes.c_uint32),
            ("load", ctypes.c_uint32),
            ("total_phys", ctypes.c_uint64),
            ("avail_phys", ctypes.c_uint64),
            ("total_page_file", ctypes.c_uint64),
            ("avail_page_file", ctypes.c_uint64),
            ("total_virtual", ctypes.c_uint64),
            ("avail_virtual", ctypes.c_uint64),
            ("avail_extended_virtual", ctypes.c_uint64),
        )

    status = MemoryStatus(length=ctypes.sizeof(MemoryStatus))
    kernel: Any = ctypes.windll.kernel32  # type: ignore[attr-defined]
    if not kernel.GlobalMemoryStatusEx(ctypes.byref(status)):
        return None, None
    return status.total_page_file, status.avail_page_file
