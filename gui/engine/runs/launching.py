"""Starts the launcher, which starts the trainer, and reads what it notes in the run folder."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Literal, TypeVar

from pydantic import ValidationError

from gui.engine.documents import Document, read_json, reason_of
from gui.engine.errors import CannotLaunch, CannotRead
from gui.engine.resources import resource_path
from gui.engine.runs.process_table import ProcessId, identify
from gui.engine.runs.process_tree import RUN_MARKER, Tree
from gui.engine.texts import _

WINDOWS_COMMAND_LIMIT = 32_766
"""Characters of a whole command line; CreateProcess takes no more."""

POLL_SECONDS = 0.01

Reason = Literal[
    "no-folder",
    "too-long",
    "not-a-program",
    "not-found",
    "not-permitted",
    "no-memory",
    "no-room",
    "other",
]

_Note = TypeVar("_Note", "Launched", "ExitRecord")


class Launched(Document):
    """Who trains: ``launcher.json``.

    Attributes:
        launcher: The process that waits for the trainer and notes its exit status.
        trainer: The trainer itself.
        group: The trainer's process group and session, None on Windows.
        started_boottime: When the trainer was started, in seconds as ``boottime()`` counts.
    """

    launcher: ProcessId
    trainer: ProcessId
    group: int | None
    started_boottime: float


class ExitRecord(Document):
    """How the trainer ended: ``exit.json``.

    Attributes:
        status: The exit status; negative is the signal that ended it; None: it never started.
        started_boottime: When it was started, in seconds since boot.
        ended_boottime: When it ended, in seconds since boot.
        ended: The same as seconds since 1970, by the clock of that moment.
        boot_id: The boot that both belong to.
        reason: Why it could not be started, None when it was.
        error: The system's own words for that.
    """

    status: int | None
    started_boottime: float
    ended_boottime: float
    ended: float
    boot_id: str
    reason: Reason | None
    error: str | None

    def sentence(self) -> str | None:
        """Return why the trainer could not be started and what to do; None when it was started."""
        return None if self.reason is None else _words_for(self.reason, self.error or "")


def _words_for(reason: Reason, error: str) -> str:
    words = {
        "no-folder": _("the folder that it should run in does not exist; choose the trainer again"),
        "too-long": _("the command line is longer than this system allows; shorten or drop lists in it"),
        "not-a-program": _("its interpreter is no program for this system; choose another Python"),
        "not-found": _("its interpreter was not found; choose the trainer or its Python again"),
        "not-permitted": _("this user may not run its interpreter; check the rights of that file"),
        "no-memory": _("the system has no memory or processes left for it; close other programs"),
        "no-room": _("the disk of the run folder is full or cannot be written; make room there"),
        "other": _("the system refused to start it"),
    }
    return f"{words[reason]} ({error})" if error else words[reason]


def launch(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    output_log: Path,
    run_folder: Path,
    python: Path | str,
    patience_seconds: float = 60.0,
) -> Launched:
    """Start the trainer so that it outlives whoever asked.

    The command travels through a pipe and the tokens through the environment, so neither stands in a
    file or in the launcher's command line.

    Args:
        command: The trainer's argv.
        cwd: Where it runs.
        env: Its whole environment; the run's marker is added.
        output_log: Both its streams are appended here, raw.
        run_folder: Where ``launcher.json`` and ``exit.json`` are written.
        python: The interpreter that runs the launcher: the trainer's own.
        patience_seconds: How long the launcher may take to start it.

    Raises:
        CannotLaunch: It could not be started; nothing of it is running.
    """
    program = command[0]
    if os.name == "nt" and too_long_for_windows(command):
        raise CannotLaunch(program, _words_for("too-long", ""))
    job = {"schema": 1, "command": list(command), "cwd": str(cwd), "output": str(output_log)}
    job["folder"] = str(run_folder.absolute())
    marked = {**env, RUN_MARKER: str(run_folder.absolute())}
    try:
        process = _start(python, json.dumps(job).encode("ascii"), marked, output_log, run_folder)
    except OSError as error:
        raise CannotLaunch(
            program, _("{python} does not run: {reason}").format(python=python, reason=reason_of(error))
        ) from error
    return _wait_until_started(process, program, run_folder, patience_seconds)


def too_long_for_windows(command: Sequence[str]) -> bool:
    """Return whether CreateProcess would refuse the command, which it does with puzzling words."""
    return len(subprocess.list2cmdline(command)) > WINDOWS_COMMAND_LIMIT


def read_launched(run_folder: Path) -> Launched | None:
    """Return who trains, or None when the trainer was not started (yet).

    Raises:
        CannotRead: The note is damaged.
    """
    return _read_note(run_folder / "launcher.json", Launched)


def read_exit(run_folder: Path) -> ExitRecord | None:
    """Return how the trainer ended, or None while it runs or when its launcher was killed.

    Raises:
        CannotRead: The note is damaged.
    """
    return _read_note(run_folder / "exit.json", ExitRecord)


def tree_of(run_folder: Path) -> Tree:
    """Return the processes of a run as far as its folder knows them; the marker finds the rest."""
    launched = None
    with contextlib.suppress(CannotRead):
        launched = read_launched(run_folder)
    return Tree(run_folder, launched.launcher, launched.trainer) if launched else Tree(run_folder)


def _read_note(path: Path, kind: type[_Note]) -> _Note | None:
    if not path.exists():
        return None
    content: Any = read_json(path)
    try:
        return kind.model_validate({key: value for key, value in content.items() if key != "schema"})
    except (ValidationError, AttributeError) as error:
        raise CannotRead(path, _("it is not what the launcher writes")) from error


def _start(
    python: Path | str, job: bytes, env: Mapping[str, str], output_log: Path, run_folder: Path
) -> subprocess.Popen[bytes]:
    """Start the launcher in a session of its own and hand it the job.

    Raises:
        OSError: The interpreter cannot be started.
    """
    words = [str(python), "-I", "-S", "-X", "utf8", str(resource_path("launcher", "launcher.py"))]
    with output_log.open("ab") as output:  # only an interpreter that does not work writes here
        process = _popen(words, cwd=run_folder, env=dict(env), output=output)
    # Hands the job over, then reaps: a zombie would look like a leak in every process viewer.
    threading.Thread(target=process.communicate, args=(job,), name="launcher", daemon=True).start()
    return process


def _popen(words: list[str], *, cwd: Path, env: dict[str, str], output: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a process that neither its starter's session (POSIX) nor its job (Windows) ends."""

    def start(flags: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            words,
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            start_new_session=True,
            creationflags=flags,
        )

    flags = sum(getattr(subprocess, name, 0) for name in ("CREATE_NO_WINDOW", "CREATE_NEW_PROCESS_GROUP"))
    try:
        return start(flags | getattr(subprocess, "CREATE_BREAKAWAY_FROM_JOB", 0))
    except PermissionError:
        if os.name != "nt":
            raise
        return start(flags)  # in a job that lets nobody leave


def _wait_until_started(
    process: subprocess.Popen[bytes], program: str, run_folder: Path, patience_seconds: float
) -> Launched:
    deadline = time.monotonic() + patience_seconds
    while True:
        over = process.poll() is not None or time.monotonic() >= deadline
        launched = read_launched(run_folder)
        if launched is not None:
            return launched
        ended = read_exit(run_folder)
        if ended is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=5)
            raise CannotLaunch(program, ended.sentence() or "")
        if over:
            break
        time.sleep(POLL_SECONDS)
    Tree(run_folder, identify(process.pid)).stop()
    raise CannotLaunch(program, _("the Python of the trainer does not work; see output.log of the run"))
