"""Starts the supervisor of a run, and sees whether one is there."""

from __future__ import annotations

import contextlib

from gui.engine.documents import reason_of
from gui.engine.errors import CannotRead, RunRefused
from gui.engine.runs.detached import PATIENCE_SECONDS, has_taken_over, last_words, start_detached
from gui.engine.runs.folder import RunFolder, home_of
from gui.engine.runs.lock import is_held
from gui.engine.runs.records import LaunchOrder
from gui.engine.runs.status import RunStatus
from gui.engine.texts import _


def start_supervisor(run: RunFolder, order: LaunchOrder | None = None) -> None:
    """Start the supervisor of a run, detached, and wait until it has taken over.

    Args:
        run: The folder.
        order: What to launch, handed over through a pipe; None to take over a run that was launched.

    Raises:
        RunRefused: It could not be started.
    """
    words = ["supervise", str(run.path), *(["--launch"] if order is not None else [])]
    try:
        process = start_detached(
            words, name="supervisor", cwd=run.path, log=run.supervisor_log, home=home_of(run)
        )
    except OSError as error:
        raise _refusal(reason_of(error)) from error
    with contextlib.suppress(OSError):
        if process.stdin is not None:
            process.stdin.write(b"" if order is None else order.model_dump_json().encode("utf-8"))
            process.stdin.close()
    if has_taken_over(process, run.lock):
        return
    status = read_status(run)
    if status is None or status.state != "ended":
        raise _refusal(last_words(run.supervisor_log))


def ensure_supervisor(run: RunFolder) -> bool:
    """Start a supervisor where none lives and the run is not judged; return whether one was started.

    None is started either while the run is being launched: it would judge what is about to begin.
    Whoever waits for something calls this again and again.

    Raises:
        RunRefused: It could not be started.
        NewerDocument: A newer version of this program made the run.
    """
    status = read_status(run)
    if (status is not None and status.state == "ended") or is_being_launched(run) or is_held(run.lock):
        return False
    start_supervisor(run)
    return True


def is_being_launched(run: RunFolder) -> bool:
    """Whether its supervisor may be about to take over: the folder is new, and none ever held its lock."""
    if run.lock.exists() or run.events.exists():
        return False
    try:
        return run.age() < PATIENCE_SECONDS
    except OSError:
        return False


def read_status(run: RunFolder) -> RunStatus | None:
    """Return the run's status, None when there is none that can be read (yet).

    Raises:
        NewerDocument: A newer version of this program wrote it.
    """
    try:
        return RunStatus.read(run.status)
    except CannotRead:
        return None


def _refusal(reason: str) -> RunRefused:
    return RunRefused(_("The supervisor of the run could not be started: {reason}").format(reason=reason))
