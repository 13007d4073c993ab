"""Finds out what became of a run that another supervisor started."""

from __future__ import annotations

import time
from dataclasses import dataclass

from gui.engine.errors import CannotRead
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.history import History
from gui.engine.runs.processes import ExitRecord, Launched, Tree, boot_id, read_exit, read_launched
from gui.engine.texts import _

LAUNCH_PATIENCE_SECONDS = 20.0
"""So long a launcher may take whose supervisor died right after starting it."""


@dataclass(frozen=True)
class Found:
    """What is left of a run.

    Attributes:
        tree: Its processes, alive or not; None when the trainer never ran.
        started: When the trainer started, in seconds since this boot; None where that was another boot.
        trainer_pid: Its first process.
        rebooted: Whether the machine was restarted before the trainer had ended.
        not_started: Why it never ran, in plain words; empty when it did.
    """

    tree: Tree | None = None
    started: float | None = None
    trainer_pid: int | None = None
    rebooted: bool = False
    not_started: str = ""


def find_trainer(run: RunFolder, history: History) -> Found:
    """Look for the run's processes and notes, and wait a little where it was only just begun."""
    if not history.launching:
        return Found(not_started=_("it was prepared, but never launched"))
    until = time.monotonic() + LAUNCH_PATIENCE_SECONDS
    while True:
        launched, exited = _launched(run), _exited(run)
        if launched is not None:
            return _from_notes(run, launched, exited)
        if exited is not None:
            return Found(not_started=exited.sentence() or _("the launcher could not start it"))
        tree = Tree(run.path)
        if not tree.alive():
            return Found(not_started=_("its supervisor died while it was being started"))
        if time.monotonic() >= until:
            # Its launcher's note is lost, but the processes are known by their marker.
            return Found(tree=tree)
        time.sleep(0.1)


def _from_notes(run: RunFolder, launched: Launched, exited: ExitRecord | None) -> Found:
    same_boot = launched.trainer.boot_id == boot_id()
    return Found(
        tree=Tree(run.path, launched.launcher, launched.trainer),
        started=launched.started_boottime if same_boot else None,
        trainer_pid=launched.trainer.pid,
        rebooted=not same_boot and exited is None,
    )


def _launched(run: RunFolder) -> Launched | None:
    try:
        return read_launched(run.path)
    except CannotRead:
        return None


def _exited(run: RunFolder) -> ExitRecord | None:
    try:
        return read_exit(run.path)
    except CannotRead:
        return None
