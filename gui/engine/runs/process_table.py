"""Which processes there are, told apart by what no clock and no reused pid can confuse.

Linux is read from ``/proc``; everywhere else psutil answers the same questions, without sessions and
groups, which Windows does not have.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import psutil

from gui.engine.documents import Document

PROC = Path("/proc")
TICKS_TOLERANCE = 2
KERNEL_THREAD = 0x00200000
"""``PF_KTHREAD`` among the flags of ``/proc/<pid>/stat``: no process of anybody's."""

State = Literal["running", "paused"]
Act = Literal["terminate", "kill", "pause", "resume"]


class ProcessId(Document):
    """One process for as long as the machine is up, whatever becomes of its pid.

    Attributes:
        pid: Its number, which is used again after its death.
        boot_id: The boot that it belongs to; empty where the start needs none (Windows: absolute).
        start_ticks: When it started, as the kernel keeps it: clock ticks since boot on Linux,
            milliseconds since 1970 elsewhere. None: not known, the pid alone must do.
    """

    pid: int
    boot_id: str
    start_ticks: int | None

    def alive(self) -> bool:
        """Return whether this very process still runs; a zombie or a later user of the pid does not."""
        return this_process_lives(self)


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """A living process.

    Attributes:
        pid: Its number.
        parent: The pid of its parent; on Windows perhaps of a dead one.
        group: Its process group, None where there are none.
        session: Its session, None where there are none.
        start: As ``ProcessId.start_ticks``.
        state: Whether it is stopped by a signal.
        resident_bytes: What it holds in RAM, shared pages included.
    """

    pid: int
    parent: int
    group: int | None
    session: int | None
    start: int
    state: State
    resident_bytes: int


class ProcessTable(Protocol):
    """What the tree of a run needs to know and do."""

    def rows(self) -> list[ProcessRow]:
        """Return all living processes; zombies are dead."""

    def row(self, pid: int) -> ProcessRow | None:
        """Return one living process."""

    def environment_has(self, pid: int, name: str, value: str) -> bool | None:
        """Return whether the process was started with this variable.

        False when its environment may not be read; None when it shows none, as at the moment of its
        start: ask again.
        """

    def environment_value(self, pid: int, name: str) -> str | None:
        """Return a variable that the process was started with; None without it, or when not readable."""

    def proportional_bytes(self, pid: int) -> int | None:
        """Return its RAM with shared pages split among their users; None when it cannot be known."""

    def act(self, row: ProcessRow, act: Act) -> None:
        """Do it to this very process; one that has gone meanwhile is left in peace."""


def boot_id() -> str:
    """Return which boot of the machine this is; empty where process starts are absolute."""
    try:
        return (PROC / "sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""


def boottime() -> float:
    """Return the seconds since the machine booted, sleep included where the system counts it.

    Nobody can set this clock, and the launcher notes its times by it.
    """
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


def process_table() -> ProcessTable:
    """Return the table that fits this system."""
    return LinuxTable() if sys.platform == "linux" else PsutilTable()


def identify(pid: int, table: ProcessTable | None = None) -> ProcessId | None:
    """Return who the process with this pid is now; None when there is none or it is a zombie."""
    row = (table or process_table()).row(pid)
    return None if row is None else ProcessId(pid=pid, boot_id=boot_id(), start_ticks=row.start)


def this_process_lives(process: ProcessId, table: ProcessTable | None = None) -> bool:
    """Return whether this very process still runs."""
    if process.boot_id != boot_id():
        return False
    row = (table or process_table()).row(process.pid)
    return row is not None and same_start(row.start, process.start_ticks)


def same_start(one: int, other: int | None) -> bool:
    """Return whether two notes of a start mean the same one; an unknown one fits all."""
    return other is None or one == other or (sys.platform != "linux" and abs(one - other) <= TICKS_TOLERANCE)


class LinuxTable:
    """Reads ``/proc``."""

    def __init__(self) -> None:
        self._page = os.sysconf("SC_PAGE_SIZE")

    def rows(self) -> list[ProcessRow]:
        """Return all living processes of this pid namespace."""
        with os.scandir(PROC) as entries:
            pids = [int(entry.name) for entry in entries if entry.name.isdigit()]
        return [row for row in map(self.row, pids) if row is not None]

    def row(self, pid: int) -> ProcessRow | None:
        """Read one ``/proc/<pid>/stat``; the name in it may hold anything, also ``)``."""
        try:
            fields = _read_some(f"{PROC}/{pid}/stat").rpartition(b")")[2].split()
            # A leader whose main thread has ended shows as a zombie while its other threads work on.
            if fields[0] in (b"Z", b"X", b"x") and int(fields[17]) <= 1:
                return None
            if int(fields[6]) & KERNEL_THREAD:
                return None
            return ProcessRow(
                pid=pid,
                parent=int(fields[1]),
                group=int(fields[2]),
                session=int(fields[3]),
                start=int(fields[19]),
                state="paused" if fields[0] in (b"T", b"t") else "running",
                resident_bytes=int(fields[21]) * self._page,
            )
        except (OSError, IndexError, ValueError):  # gone, or going at this very moment
            return None

    def environment_has(self, pid: int, name: str, value: str) -> bool | None:
        """Look into ``/proc/<pid>/environ``; it is another user's when it cannot be read."""
        try:
            content = (PROC / str(pid) / "environ").read_bytes()
        except OSError:
            return False
        return os.fsencode(f"{name}={value}") in content.split(b"\0") if content else None

    def environment_value(self, pid: int, name: str) -> str | None:
        """Look into ``/proc/<pid>/environ``."""
        start = os.fsencode(f"{name}=")
        with contextlib.suppress(OSError):
            for entry in (PROC / str(pid) / "environ").read_bytes().split(b"\0"):
                if entry.startswith(start):
                    return os.fsdecode(entry[len(start) :])
        return None

    def proportional_bytes(self, pid: int) -> int | None:
        """Read ``Pss`` from ``smaps_rollup``: milliseconds of kernel time for each GiB mapped."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            for line in (PROC / str(pid) / "smaps_rollup").read_bytes().splitlines():
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
        return None

    def act(self, row: ProcessRow, act: Act) -> None:
        """Send the signal through a pidfd, so that a reused pid cannot be hit."""
        number = _signal_of(act)
        with contextlib.suppress(OSError, AttributeError):  # Pythons built on old systems lack them
            handle = os.pidfd_open(row.pid)
            try:
                if self._still(row):
                    signal.pidfd_send_signal(handle, number)
            finally:
                os.close(handle)
            return
        if self._still(row):  # a kernel without pidfds, or a process that has just gone
            with contextlib.suppress(OSError):
                os.kill(row.pid, number)

    def _still(self, row: ProcessRow) -> bool:
        now = self.row(row.pid)
        return now is not None and now.start == row.start


def _read_some(path: str) -> bytes:
    """Read a short file in one go: hundreds of them are looked at every second.

    Raises:
        OSError: There is no such process.
    """
    handle = os.open(path, os.O_RDONLY)
    try:
        return os.read(handle, 4096)
    finally:
        os.close(handle)


def _signal_of(act: Act) -> int:
    return {
        "terminate": signal.SIGTERM,
        "kill": signal.SIGKILL,
        "pause": signal.SIGSTOP,
        "resume": signal.SIGCONT,
    }[act]


class PsutilTable:
    """Asks psutil: Windows and whatever else it knows."""

    def rows(self) -> list[ProcessRow]:
        """Return all living processes that may be asked about."""
        # One look for all parents: on Windows psutil takes a snapshot of the system for each single one.
        parents: dict[int, int] = getattr(psutil, "_ppid_map", dict)()
        rows = (self._row(pid, parents.get(pid)) for pid in psutil.pids())
        return [row for row in rows if row is not None]

    def row(self, pid: int) -> ProcessRow | None:
        """Return one living process."""
        return self._row(pid, None)

    def _row(self, pid: int, parent: int | None) -> ProcessRow | None:
        try:
            process = psutil.Process(pid)
            with process.oneshot():
                status = process.status()
                if status in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
                    return None
                return ProcessRow(
                    pid=pid,
                    parent=process.ppid() if parent is None else parent,
                    group=None,
                    session=None,
                    start=round(process.create_time() * 1000),
                    state="paused" if status == psutil.STATUS_STOPPED else "running",
                    resident_bytes=process.memory_info().rss,
                )
        except (psutil.Error, OSError):
            return None

    def environment_has(self, pid: int, name: str, value: str) -> bool | None:
        """Ask for the environment that the process was started with."""
        try:
            environment = psutil.Process(pid).environ()
        except (psutil.Error, OSError):
            return False
        return environment.get(name) == value if environment else None

    def environment_value(self, pid: int, name: str) -> str | None:
        """Ask for the environment that the process was started with."""
        try:
            return psutil.Process(pid).environ().get(name)
        except (psutil.Error, OSError):
            return None

    def proportional_bytes(self, pid: int) -> int | None:
        """Return the unique part on Windows, the nearest to it that there is."""
        try:
            return int(psutil.Process(pid).memory_full_info().uss)
        except (psutil.Error, OSError, AttributeError):
            return None

    def act(self, row: ProcessRow, act: Act) -> None:
        """Windows knows no polite end for a process without a window: ``terminate`` is final there."""
        with contextlib.suppress(psutil.Error, OSError):
            process = psutil.Process(row.pid)
            if round(process.create_time() * 1000) != row.start:
                return
            {
                "terminate": process.terminate,
                "kill": process.kill,
                "pause": process.suspend,
                "resume": process.resume,
            }[act]()
