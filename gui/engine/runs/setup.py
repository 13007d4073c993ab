"""Puts the supervisor of one run together from its folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gui.engine.hardware.gpu import machine_gpus
from gui.engine.hardware.host import HostMonitor
from gui.engine.runs.board import Board
from gui.engine.runs.counting import Counting
from gui.engine.runs.disk import DiskWatch, system_free_bytes
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.gpu_watch import GpuWatch
from gui.engine.runs.guard import Guard
from gui.engine.runs.history import History, read_history
from gui.engine.runs.inspector import Inspector
from gui.engine.runs.isolation import Isolation
from gui.engine.runs.keeper import CleanKeeper, kept_folder
from gui.engine.runs.launched import launched_settings
from gui.engine.runs.ledger import Ledger
from gui.engine.runs.logreader import LogReader
from gui.engine.runs.memory_hook import MemoryHook
from gui.engine.runs.metrics import last_step_in
from gui.engine.runs.pace import Pace
from gui.engine.runs.processes import boottime
from gui.engine.runs.records import CommandRecord, Manifest
from gui.engine.runs.rivals import written_by_later_runs
from gui.engine.runs.sampling import Sampling
from gui.engine.runs.savedesk import SaveDesk
from gui.engine.runs.stepjoin import StepJoin
from gui.engine.runs.watch import TrainerWatch
from gui.engine.runs.watchdog import Watchdog
from gui.engine.trainer.tracker import TrackerReader


@dataclass(frozen=True)
class Parts:
    """All that a supervisor works with.

    Attributes:
        run: The folder.
        command: The trainer's command as it was noted.
        manifest: What the run is made of.
        history: What a supervisor before this one did.
        ledger: Writes everything down.
        watch: Follows what the trainer says.
        saves: Follows what it saves.
        sampler: Measures.
        watchdog: Sees what goes wrong over time.
        isolation: Keeps a fault in one part from ending the others.
        pid: This process.
        secrets: Tokens to keep out of all that is written.
    """

    run: RunFolder
    command: CommandRecord
    manifest: Manifest
    history: History
    ledger: Ledger
    watch: TrainerWatch
    saves: SaveDesk
    sampler: Sampling
    watchdog: Watchdog
    isolation: Isolation
    pid: int
    secrets: Sequence[str] = ()


def assemble(
    run: RunFolder,
    *,
    clock: Callable[[], float] = boottime,
    free_bytes: Callable[[Path], int] = system_free_bytes,
    secrets: Sequence[str] = (),
) -> Parts:
    """Read the folder and make the parts.

    Args:
        run: The folder, written by ``start.create_run``.
        clock: Seconds since boot.
        free_bytes: Says how much room there is below a folder.
        secrets: Tokens to keep out of all events.

    Raises:
        CannotRead: The folder is not that of a run, or damaged.
        NewerDocument: A newer version of this program made it.
    """
    command, manifest = CommandRecord.read(run.command), Manifest.read(run.manifest)
    history = read_history(run.events)
    if history.begun:
        foreign = written_by_later_runs(run, command)
        manifest = manifest.model_copy(update={"existing": (*manifest.existing, *foreign)})
    ledger = _ledger(run, manifest, history, clock)
    seen_before = run.output_log.stat().st_size if history.begun and run.output_log.exists() else 0
    reader = LogReader(run.output_log, seen_before, secrets)
    guard = Guard(manifest.guard, has_tracker=command.tracker)
    counting = Counting(ledger, launched_settings(run), manifest.resumed_from)
    ledger.guard = guard.now
    if guard.now().sentence:
        ledger.notice("guard", guard.now().sentence)
    trainer, pace = Path(manifest.trainer) if manifest.trainer else None, Pace()
    gpus = _gpu_watch(run, command, ledger, pace)
    places = [run.path] + ([command.output_dir] if command.output_dir else [])
    return Parts(
        run=run,
        command=command,
        manifest=manifest,
        history=history,
        ledger=ledger,
        watch=_watch(run, command, ledger, guard, reader, counting=counting, created_at=manifest.created_at),
        saves=SaveDesk(ledger, command, manifest, Inspector(_keeper(run, command)), counting),
        sampler=Sampling(ledger, gpus, HostMonitor(), DiskWatch(places, free=free_bytes)),
        watchdog=Watchdog(ledger, trainer, pace, gpus.slow_cause),
        isolation=Isolation(ledger),
        pid=os.getpid(),
        secrets=secrets,
    )


def _ledger(run: RunFolder, manifest: Manifest, history: History, clock: Callable[[], float]) -> Ledger:
    board = Board(run.name, plan_name=manifest.plan_name, practice=manifest.practice)
    board.put(supervisor_pid=os.getpid())
    ledger = Ledger(run, board, clock)
    ledger.said = history.said
    if history.begun:
        ledger.journal.remember_written()
    return ledger


def _gpu_watch(run: RunFolder, command: CommandRecord, ledger: Ledger, pace: Pace) -> GpuWatch:
    inherited = {name: value for name, value in os.environ.items() if name not in command.unset}
    return GpuWatch(
        ledger,
        machine_gpus(),
        MemoryHook(run),
        pace=pace,
        environment={**inherited, **command.environment},
        processes=int(launched_settings(run).number("num_processes") or 1),
    )


def _keeper(run: RunFolder, command: CommandRecord) -> CleanKeeper | None:
    """Return what keeps files, where the trainer removes older ones (trainer-facts 2.3)."""
    removes = any(word.startswith("--save_last_n_") for word in command.argv)
    if command.output_dir is None or not removes:
        return None
    return CleanKeeper(kept_folder(command.output_dir, run.name))


def _watch(
    run: RunFolder,
    command: CommandRecord,
    ledger: Ledger,
    guard: Guard,
    reader: LogReader,
    *,
    counting: Counting,
    created_at: float,
) -> TrainerWatch:
    has_tracker = command.tracker and command.logging_dir is not None
    tracker = None
    if has_tracker and command.logging_dir is not None:
        # In a folder of its own all files are this run's; elsewhere those begun since its launch.
        own = command.logging_dir.is_relative_to(run.path)
        tracker = TrackerReader(command.logging_dir, since=None if own else created_at)
    join = StepJoin(has_tracker=has_tracker, rows_done=last_step_in(run.metrics))
    return TrainerWatch(ledger, reader, tracker, join, guard, counting=counting)
