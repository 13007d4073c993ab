"""All processes of one run: found, measured, paused, resumed, stopped until none is left."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gui.engine.documents import Document
from gui.engine.runs.process_memory import SharedMemory
from gui.engine.runs.process_table import (
    Act,
    ProcessId,
    ProcessRow,
    ProcessTable,
    boot_id,
    process_table,
    same_start,
)

RUN_MARKER = "KOHYA_PREFLIGHT_RUN"
"""The environment variable that every process of a run inherits; its value is the run folder."""

POLL_SECONDS = 0.05


class StopStep(Document):
    """One thing that was done while stopping.

    Attributes:
        seconds: When, since the stop began.
        act: ``terminate`` is a wish, ``kill`` an order; ``gone``: nothing was left.
        processes: How many it concerned.
    """

    seconds: float
    act: Literal["terminate", "kill", "gone"]
    processes: int


class StopReport(Document):
    """What stopping did.

    Attributes:
        seconds: How long it took.
        steps: What was done, in order.
        survivors: Pids that even the kill did not end, as with a process that hangs in a GPU driver.
    """

    seconds: float
    steps: tuple[StopStep, ...]
    survivors: tuple[int, ...]

    @property
    def complete(self) -> bool:
        """Whether nothing of the run is alive."""
        return not self.survivors


class PauseReport(Document):
    """What pausing or resuming did.

    Attributes:
        processes: How many are now as asked.
        others: Pids that are not, such as one in an uninterruptible wait; they may follow.
    """

    processes: int
    others: tuple[int, ...]


class TreeMemory(Document):
    """The RAM of a run.

    Attributes:
        rss_bytes: Sum over all processes; what they share counts once for each, so that two loader
            workers make it three times what the run really holds (seen: 14.6 GiB of 5.4).
        pss_bytes: What the run really holds: shared pages split among their users. None where it
            cannot be known.
        processes: How many there are.
    """

    rss_bytes: int
    pss_bytes: int | None
    processes: int


@dataclass(frozen=True, slots=True)
class StopSteps:
    """How patient a stop is; the defaults end within ten seconds.

    Attributes:
        grace_seconds: Between the wish and the order. The trainer needs one to four (recordings
            ``h_sigterm_pgid``); a paused one is woken to hear the wish.
        kill_seconds: How long the order is repeated.
        launcher_seconds: How long the launcher may take to note the exit status.
    """

    grace_seconds: float = 5.0
    kill_seconds: float = 3.0
    launcher_seconds: float = 1.5


def _no_work() -> None:
    """What a stop does between two looks when nobody wants to use the time."""


class Tree:
    """The processes of one run.

    A process belongs to it by descent from the launcher or the trainer, by the trainer's session, or by
    the marker in its environment; and once seen to belong it does for good, whoever its parent is by
    then. So loader workers, processes that made a session of their own and those whose parents have
    died are found, also by a supervisor that was started later and also without a launcher.

    Args:
        run_folder: The folder whose path the marker holds.
        launcher: Known from ``launcher.json``.
        trainer: Known from there too.
        table: Where processes are looked up; the system's by default.
    """

    def __init__(
        self,
        run_folder: Path,
        launcher: ProcessId | None = None,
        trainer: ProcessId | None = None,
        *,
        table: ProcessTable | None = None,
    ) -> None:
        self._table = table or process_table()
        self._marker = str(run_folder.absolute())
        here = boot_id()
        self._launcher = launcher if launcher and launcher.boot_id == here else None
        self._trainer = trainer if trainer and trainer.boot_id == here else None
        self._shares = SharedMemory(self._table)
        self._known: dict[int, int] = {}
        self._strangers: set[tuple[int, int]] = set()

    def alive(self) -> bool:
        """Return whether anything of the run lives; quick while the launcher or the trainer does."""
        return any(self._row_of(known) for known in (self._launcher, self._trainer)) or bool(self.members())

    def members(self) -> list[ProcessRow]:
        """Return the living processes of the run, the oldest first, the launcher among them."""
        rows = {row.pid: row for row in self._table.rows() if row.pid != os.getpid()}
        self._strangers &= {(row.pid, row.start) for row in rows.values()}
        found = {pid for pid, start in self._known.items() if pid in rows and rows[pid].start == start}
        found.update(row.pid for row in map(self._row_of, (self._launcher, self._trainer)) if row)
        found.update(row.pid for row in rows.values() if self._in_session(row, rows))
        found.update(row.pid for row in rows.values() if row.pid not in found and self._is_marked(row))
        _add_descendants(found, rows, self._known)
        for pid in found & rows.keys():
            self._known[pid] = rows[pid].start
        return sorted((rows[pid] for pid in found & rows.keys()), key=lambda row: (row.start, row.pid))

    def memory(self, rows: Sequence[ProcessRow] | None = None) -> TreeMemory:
        """Return the RAM that the run holds.

        Args:
            rows: Its members, where they have just been looked up.
        """
        rows = self.members() if rows is None else rows
        return TreeMemory(
            rss_bytes=sum(row.resident_bytes for row in rows),
            pss_bytes=self._shares.held_bytes(rows),
            processes=len(rows),
        )

    def pause(self, patience_seconds: float = 5.0) -> PauseReport:
        """Halt all but the launcher, and what they start meanwhile."""
        return self._bring_to("paused", "pause", patience_seconds)

    def resume(self, patience_seconds: float = 5.0) -> PauseReport:
        """Let all go on."""
        return self._bring_to("running", "resume", patience_seconds)

    def paused(self) -> bool:
        """Return whether all processes of the training are halted, as after ``pause``."""
        rows = self._trainers()
        return bool(rows) and all(row.state == "paused" for row in rows)

    def stop(self, steps: StopSteps | None = None, meanwhile: Callable[[], None] = _no_work) -> StopReport:
        """End the run: a wish, a grace, an order, until nothing is alive.

        Works on a paused run, without a launcher, and on processes that are started meanwhile. The
        launcher is let end by itself, since it notes the exit status.

        Args:
            steps: How patient to be.
            meanwhile: Called some twenty times a second, so that the caller can go on reading.
        """
        steps = steps or StopSteps()
        began = time.monotonic()
        done: list[StopStep] = []

        def note(act: Literal["terminate", "kill", "gone"], processes: int) -> None:
            done.append(StopStep(seconds=round(time.monotonic() - began, 3), act=act, processes=processes))

        told = self._repeat("terminate", self._trainers, steps.grace_seconds, meanwhile, note)
        killed = self._repeat("kill", self._trainers, steps.kill_seconds, meanwhile, note)
        self._wait_for_launcher(steps.launcher_seconds, meanwhile)
        killed += self._repeat("kill", self.members, steps.kill_seconds, meanwhile, note)
        survivors = tuple(row.pid for row in self.members())
        if not survivors and told + killed:
            note("gone", 0)
        return StopReport(seconds=round(time.monotonic() - began, 3), steps=tuple(done), survivors=survivors)

    def _repeat(
        self,
        act: Literal["terminate", "kill"],
        find: Callable[[], list[ProcessRow]],
        patience_seconds: float,
        meanwhile: Callable[[], None],
        note: Callable[[Literal["terminate", "kill"], int], None],
    ) -> int:
        """Tell each process once, also those that appear meanwhile, until none is found or time is up."""
        deadline = time.monotonic() + patience_seconds
        told: set[tuple[int, int]] = set()
        while rows := find():
            fresh = [row for row in rows if (row.pid, row.start) not in told]
            if fresh:
                told.update((row.pid, row.start) for row in fresh)
                self._act(fresh, act)
                note(act, len(fresh))
            if act == "terminate":
                self._act([row for row in rows if row.state == "paused"], "resume")
            if time.monotonic() >= deadline:
                break
            meanwhile()
            time.sleep(POLL_SECONDS)
        return len(told)

    def _wait_for_launcher(self, patience_seconds: float, meanwhile: Callable[[], None]) -> None:
        deadline = time.monotonic() + patience_seconds
        while self._row_of(self._launcher) and time.monotonic() < deadline:
            meanwhile()
            time.sleep(POLL_SECONDS)

    def _bring_to(self, state: str, act: Act, patience_seconds: float) -> PauseReport:
        deadline = time.monotonic() + patience_seconds
        while others := [row for row in self._trainers() if row.state != state]:
            if time.monotonic() >= deadline:
                break
            self._act(others, act)
            time.sleep(POLL_SECONDS / 5)
        rows = self._trainers()
        return PauseReport(processes=len(rows) - len(others), others=tuple(row.pid for row in others))

    def _act(self, rows: Iterable[ProcessRow], act: Act) -> None:
        """Act on the trainer's group at one stroke, then on each process that is not in it."""
        rows = list(rows)
        group = self._trainer.pid if self._trainer else None
        if group and any(row.group == group for row in rows):
            signals = {"terminate": "SIGTERM", "kill": "SIGKILL", "pause": "SIGSTOP", "resume": "SIGCONT"}
            with contextlib.suppress(OSError):
                os.killpg(group, getattr(signal, signals[act]))
                rows = [row for row in rows if row.group != group]
        for row in rows:
            self._table.act(row, act)

    def _trainers(self) -> list[ProcessRow]:
        launcher = self._launcher.pid if self._launcher else None
        return [row for row in self.members() if row.pid != launcher]

    def _row_of(self, process: ProcessId | None) -> ProcessRow | None:
        row = self._table.row(process.pid) if process else None
        return row if row and process and same_start(row.start, process.start_ticks) else None

    def _in_session(self, row: ProcessRow, rows: dict[int, ProcessRow]) -> bool:
        """Whether it is in the trainer's session; a leader of that number must be the trainer itself."""
        if self._trainer is None or row.session != self._trainer.pid:
            return False
        leader = rows.get(row.session)
        return leader is None or same_start(leader.start, self._trainer.start_ticks)

    def _is_marked(self, row: ProcessRow) -> bool:
        """Whether its environment names the run; who is a stranger once is not looked at again."""
        who = (row.pid, row.start)
        if who in self._strangers:
            return False
        marked = self._table.environment_has(row.pid, RUN_MARKER, self._marker)
        if marked is False:
            self._strangers.add(who)
        return bool(marked)


def _add_descendants(found: set[int], rows: dict[int, ProcessRow], known: dict[int, int]) -> None:
    """Add to ``found`` whose parent is in it, or is a dead one of ours as Windows goes on naming it."""
    dead = {pid: start for pid, start in known.items() if pid not in rows}
    changed = True
    while changed:
        heirs = {
            row.pid
            for row in rows.values()
            if row.pid not in found
            and (row.parent in found or (row.parent in dead and row.start >= dead[row.parent]))
        }
        found |= heirs
        changed = bool(heirs)
