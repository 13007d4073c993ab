"""Finds out what became of the run of an item: by this scheduler, one before it, or before a restart."""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import dataclass
from typing import Literal

from gui.engine.errors import CannotWrite, NewerDocument, PreflightError
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.history import read_history
from gui.engine.runs.lock import LOOKED_AT_SECONDS, SupervisorLock, is_held
from gui.engine.runs.processes import tree_of
from gui.engine.runs.queue_items import QueueState
from gui.engine.runs.retry_record import read_retry
from gui.engine.runs.start import ensure_supervisor, read_status
from gui.engine.runs.status import RunStatus, Verdict
from gui.engine.texts import _

Kind = Literal["goes-on", "never-launched", "tried-again", "over"]

BY_THE_USER = ("user", "after-save")
"""Reasons of a stop that are no failure."""


@dataclass(frozen=True)
class Became:
    """What became of a run.

    Attributes:
        kind: ``goes-on``, or it will be known in a moment; ``never-launched``: nothing of it was ever
            started, and nothing is left of it; ``tried-again``: another run follows it.
        next: That run's name.
        state: How it ended, where it is over.
        sentence: The same in words.
    """

    kind: Kind
    next: str = ""
    state: QueueState = "failed"
    sentence: str = ""


GOES_ON = Became("goes-on")


def what_became(run: RunFolder) -> Became:
    """Look at a run of the queue, and have somebody look after it where nobody does.

    Args:
        run: Its folder, which may be gone.
    """
    if is_held(run.lock):
        return GOES_ON
    try:
        status = read_status(run)
    except NewerDocument as error:
        return Became("over", sentence=str(error))
    if status is not None and status.verdict is not None:
        return _after(run, status.verdict)
    if not run.path.is_dir():
        return _without_folder(run)
    if _put_away(run):
        return Became("never-launched")
    return _looked_after(run)


def _after(run: RunFolder, verdict: Verdict) -> Became:
    retry = read_retry(run)
    if retry is not None and retry.next:
        return Became("tried-again", next=retry.next)
    if verdict.verdict == "finished":
        return Became("over", state="done", sentence=verdict.sentence)
    stopped = verdict.verdict == "stopped" and verdict.reason in BY_THE_USER
    return Became("over", state="stopped" if stopped else "failed", sentence=verdict.sentence)


def _without_folder(run: RunFolder) -> Became:
    if tree_of(run.path).alive():
        return GOES_ON  # its GPU is taken
    return Became("over", sentence=_("Its run's folder is gone: {folder}").format(folder=run.path))


def _put_away(run: RunFolder) -> bool:
    """Remove a run that was never launched, in a way that nobody can launch it any more.

    A supervisor that was just being started waits for the lock. Whenever it gets it, it finds a run that
    is over, or no run: the folder goes at one stroke, while the lock is held.
    """
    lock, hidden = SupervisorLock(run.lock), run.path.with_name(f".{run.name}.gone")
    try:
        lock.take(LOOKED_AT_SECONDS)
    except PreflightError:
        return False
    try:
        if _was_launched(run):
            return False
        RunStatus(name=run.name, state="ended").write(run.status)
        with contextlib.suppress(OSError):  # Windows moves nothing in which a file is open
            run.path.rename(hidden)
    except CannotWrite:
        return False
    finally:
        lock.release()
    shutil.rmtree(hidden, ignore_errors=True)
    return True


def _was_launched(run: RunFolder) -> bool:
    """Whether anything was ever started; the supervisor notes that before it does."""
    try:
        launching = read_history(run.events).launching
    except OSError:
        return True
    return launching or run.launcher.exists() or run.exit.exists() or tree_of(run.path).alive()


def _looked_after(run: RunFolder) -> Became:
    try:
        ensure_supervisor(run)
    except PreflightError as error:
        return GOES_ON if tree_of(run.path).alive() else Became("over", sentence=str(error))
    return GOES_ON
