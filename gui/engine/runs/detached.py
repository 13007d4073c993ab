"""Starts processes of this program that outlive whoever starts them: supervisors, the queue's scheduler."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from gui.engine.own_program import own_environment, own_words
from gui.engine.paths import HOME_VARIABLE, Home
from gui.engine.runs.lock import is_held
from gui.engine.texts import _

PATIENCE_SECONDS = 30.0
"""So long a process may take until it works."""


def start_detached(
    words: Sequence[str], *, name: str, cwd: Path, log: Path, home: Home | None
) -> subprocess.Popen[bytes]:
    """Start a sub-command of this program in a session of its own.

    Args:
        words: The sub-command and what follows it.
        name: Of the thread that waits for its end.
        cwd: Where it runs.
        log: What it prints is appended here.
        home: Where it finds runs and preferences; None leaves it what this process has.

    Raises:
        OSError: It cannot be started, or the log not be written.
    """
    environment = own_environment()
    if home is not None:
        environment[HOME_VARIABLE] = str(home.root)
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*own_words(), *words],
            cwd=cwd,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            start_new_session=True,
            creationflags=_windows_flags(),
        )
    # Reaps it whenever it ends; a zombie would look like a leak in every process viewer.
    threading.Thread(target=process.wait, name=name, daemon=True).start()
    return process


def has_taken_over(process: subprocess.Popen[bytes], lock: Path) -> bool:
    """Wait until the lock is held, by the process or another of its kind, or it is done with its work.

    Args:
        process: As ``start_detached`` returned it.
        lock: What it holds as long as it works.

    Returns:
        False when it ended badly, or takes too long.
    """
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        code = process.poll()
        if code == 0 or is_held(lock):
            return True
        if code is not None:
            break
        time.sleep(0.02)
    return False


def last_words(log: Path) -> str:
    """Return what a process said last, which is why it did not start."""
    try:
        lines = log.read_text("utf-8", "replace").strip().splitlines()
    except OSError:
        lines = []
    return lines[-1].removeprefix("kohya-preflight: ") if lines else _("it said nothing")


def _windows_flags() -> int:
    """No console of its own, and out of the starter's group, so that its Ctrl+C does not reach it."""
    names = ("DETACHED_PROCESS", "CREATE_NEW_PROCESS_GROUP")
    return sum(getattr(subprocess, name, 0) for name in names)
