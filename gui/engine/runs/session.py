"""The life of a supervisor process: take the run, look after it, leave."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from gui.engine.errors import CannotRead, PreflightError
from gui.engine.runs.awake import keep_awake
from gui.engine.runs.disk import system_free_bytes
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.folder_guard import FolderGuard
from gui.engine.runs.launching import read_launched
from gui.engine.runs.lock import LOOKED_AT_SECONDS, SupervisorLock
from gui.engine.runs.process_table import process_table
from gui.engine.runs.processes import boottime
from gui.engine.runs.provenance import BaseModelHash
from gui.engine.runs.records import CommandRecord, LaunchOrder, Manifest
from gui.engine.runs.rehearsal_reading import conclude_rehearsal
from gui.engine.runs.setup import assemble
from gui.engine.runs.start import read_status
from gui.engine.runs.status import Verdict
from gui.engine.runs.supervisor import Supervisor
from gui.engine.texts import _
from gui.engine.trainer.launch_environment import TOKEN_VARIABLES


def look_after(
    run: RunFolder,
    order: LaunchOrder | None,
    *,
    clock: Callable[[], float] = boottime,
    free_bytes: Callable[[Path], int] = system_free_bytes,
) -> Verdict | None:
    """Be the run's supervisor until it is judged.

    Args:
        run: The folder.
        order: What to launch; None to take over.
        clock: Seconds since boot.
        free_bytes: Says how much room there is below a folder.

    Returns:
        The verdict; None when the run was judged before.

    Raises:
        AlreadySupervised: Another supervisor looks after it.
        CannotRead: The folder is damaged.
        NewerDocument: A newer version of this program made it.
    """
    # Before the lock: whoever started this process takes a held one for a supervisor that works.
    CommandRecord.read(run.command)
    manifest = Manifest.read(run.manifest)
    lock = SupervisorLock(run.lock)
    lock.take(LOOKED_AT_SECONDS)
    try:
        if not lock.is_in_place():
            raise CannotRead(run.path, _("it was taken away before the run began"))
        status = read_status(run)
        if status is not None and status.state == "ended":
            return None
        verdict = _supervise(run, order, clock, free_bytes, lock)
        if manifest.rehearsal is not None:
            with contextlib.suppress(PreflightError):  # whoever asks for the result reads it anew
                conclude_rehearsal(run)
        if manifest.retry.left > 0 or manifest.retry.recoveries > 0:
            from gui.engine.runs.retry import try_again  # heavy, and seldom wanted

            try_again(run, manifest, order)
        return verdict
    finally:
        lock.release()


def _supervise(
    run: RunFolder,
    order: LaunchOrder | None,
    clock: Callable[[], float],
    free_bytes: Callable[[Path], int],
    lock: SupervisorLock,
) -> Verdict:
    parts = assemble(run, clock=clock, free_bytes=free_bytes, secrets=_secrets(run, order))
    folder = FolderGuard(run, parts.ledger, lock, practice=parts.manifest.practice)
    base_model = BaseModelHash(run.manifest, parts.manifest)
    parts.sampler.start()
    try:
        with keep_awake() as awake:
            if awake.note is not None:
                parts.ledger.notice("awake", awake.note)
            if parts.manifest.rehearsal is None:  # reading gigabytes would slow down what is measured
                base_model.start()
            return Supervisor(parts, folder.look).supervise(order)
    finally:
        parts.sampler.stop()
        parts.ledger.close()
        parts.saves.close()
        base_model.finish()


def _secrets(run: RunFolder, order: LaunchOrder | None) -> list[str]:
    """Return the tokens that the trainer may print: those of its environment."""
    said = {**os.environ, **(order.environment if order else _tokens_of_trainer(run))}
    return [said[name] for name in TOKEN_VARIABLES if said.get(name)]


def _tokens_of_trainer(run: RunFolder) -> dict[str, str]:
    """Ask the system for them: whoever launched the run is gone, and no file holds its tokens."""
    launched = None
    with contextlib.suppress(CannotRead):
        launched = read_launched(run.path)
    if launched is None or not launched.trainer.alive():
        return {}
    table, pid = process_table(), launched.trainer.pid
    return {name: table.environment_value(pid, name) or "" for name in TOKEN_VARIABLES}
