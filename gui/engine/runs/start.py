"""Starts the supervisor of a run, and sees whether one is there."""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time

from gui.engine.documents import reason_of
from gui.engine.errors import CannotRead, RunRefused
from gui.engine.own_program import own_environment, own_words
from gui.engine.paths import HOME_VARIABLE
from gui.engine.runs.folder import RunFolder, home_of
from gui.engine.runs.lock import is_held
from gui.engine.runs.records import LaunchOrder
from gui.engine.runs.status import RunStatus
from gui.engine.texts import _

SUPERVISOR_PATIENCE_SECONDS = 30.0


def start_supervisor(run: RunFolder, order: LaunchOrder | None = None) -> None:
    """Start the supervisor of a run, detached, and wait until it has taken over.

    Args:
        run: The folder.
        order: What to launch, handed over through a pipe; None to take over a run that was launched.

    Raises:
        RunRefused: It could not be started.
    """
    words = [*own_words(), "supervise", str(run.path)]
    words += ["--launch"] if order is not None else []
    try:
        process = _start(run, words)
    except OSError as error:
        raise _refusal(reason_of(error)) from error
    # Reaps it whenever it ends; a zombie would look like a leak in every process viewer.
    threading.Thread(target=process.wait, name="supervisor", daemon=True).start()
    with contextlib.suppress(OSError):
        if process.stdin is not None:
            process.stdin.write(b"" if order is None else order.model_dump_json().encode("utf-8"))
            process.stdin.close()
    _wait_for(run, process)


def ensure_supervisor(run: RunFolder) -> bool:
    """Start a supervisor where none lives and the run is not judged; return whether one was started.

    Raises:
        RunRefused: It could not be started.
        NewerDocument: A newer version of this program made the run.
    """
    status = read_status(run)
    if (status is not None and status.state == "ended") or is_held(run.lock):
        return False
    start_supervisor(run)
    return True


def read_status(run: RunFolder) -> RunStatus | None:
    """Return the run's status, None when there is none that can be read (yet).

    Raises:
        NewerDocument: A newer version of this program wrote it.
    """
    try:
        return RunStatus.read(run.status)
    except CannotRead:
        return None


def _wait_for(run: RunFolder, process: subprocess.Popen[bytes]) -> None:
    """Wait until the supervisor holds the run, or is done with it already."""
    until = time.monotonic() + SUPERVISOR_PATIENCE_SECONDS
    while time.monotonic() < until:
        code = process.poll()
        if code is not None:
            status = read_status(run)
            if code == 0 or is_held(run.lock) or (status is not None and status.state == "ended"):
                return
            break
        if is_held(run.lock):
            return
        time.sleep(0.02)
    raise _refusal(_last_words(run))


def _start(run: RunFolder, words: list[str]) -> subprocess.Popen[bytes]:
    with run.supervisor_log.open("ab") as log:
        return subprocess.Popen(
            words,
            cwd=run.path,
            env=_environment(run),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,
            creationflags=_windows_flags(),
        )


def _refusal(reason: str) -> RunRefused:
    return RunRefused(_("The supervisor of the run could not be started: {reason}").format(reason=reason))


def _last_words(run: RunFolder) -> str:
    try:
        lines = run.supervisor_log.read_text("utf-8", "replace").strip().splitlines()
    except OSError:
        lines = []
    return lines[-1].removeprefix("kohya-preflight: ") if lines else _("it said nothing")


def _environment(run: RunFolder) -> dict[str, str]:
    """Make sure that the child finds the same preferences."""
    own = own_environment()
    home = home_of(run)
    if home is not None:
        own[HOME_VARIABLE] = str(home.root)
    return own


def _windows_flags() -> int:
    """No console of its own, and out of the starter's group, so that its Ctrl+C does not reach it."""
    names = ("DETACHED_PROCESS", "CREATE_NEW_PROCESS_GROUP")
    return sum(getattr(subprocess, name, 0) for name in names)
