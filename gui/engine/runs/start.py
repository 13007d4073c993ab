"""Makes the folder of a run and starts the supervisor that looks after it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gui.engine.documents import write_atomically
from gui.engine.errors import CannotRead, RunRefused
from gui.engine.redaction import HIDDEN, SECRET_ARGUMENTS, redact_argv, redact_text
from gui.engine.runs.board import Board
from gui.engine.runs.disk import DiskWatch
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.lock import is_held
from gui.engine.runs.records import CommandRecord, LaunchOrder, Manifest
from gui.engine.runs.status import RunStatus
from gui.engine.texts import _

if TYPE_CHECKING:
    from gui.engine.trainer.command import TrainerCommand

SUPERVISOR_PATIENCE_SECONDS = 30.0

_SECRET_NAMES = frozenset({*SECRET_ARGUMENTS.values(), "HUGGING_FACE_HUB_TOKEN"})


def refuse_without_room(run: RunFolder, command: TrainerCommand, disks: DiskWatch | None = None) -> list[str]:
    """Look at the disks that the run will write to.

    Returns:
        Warnings about disks with little room.

    Raises:
        RunRefused: One is below the reserve: a full log disk ends the trainer within seconds.
    """
    places = [run.path] + ([command.output_dir] if command.output_dir else [])
    warnings = []
    for space in (disks or DiskWatch(places)).sample():
        sentence = space.sentence()
        if sentence is not None and space.level == "full":
            raise RunRefused(sentence)
        if sentence is not None:
            warnings.append(sentence)
    return warnings


def create_run(
    run: RunFolder,
    plan_toml: str,
    command: TrainerCommand,
    manifest: Manifest,
    environment: Mapping[str, str],
) -> LaunchOrder:
    """Write the folder of a run, without its tokens.

    Args:
        run: The reserved folder.
        plan_toml: The plan as it is launched.
        command: The trainer's command, tokens in its environment.
        manifest: What the run is made of.
        environment: What this process would hand down; the command's own is laid over it.

    Returns:
        What the first supervisor has to start; it holds the tokens, so it is never written.

    Raises:
        CannotWrite: The folder cannot be written.
    """
    secrets = [value for name, value in command.environment.items() if name in _SECRET_NAMES]
    write_atomically(run.plan, redact_text(plan_toml, secrets))
    if command.dataset_toml is not None:
        write_atomically(run.dataset, command.dataset_toml)
    _record(command, secrets).write(run.command)
    manifest.write(run.manifest)
    run.requests.mkdir(exist_ok=True)
    board = Board(run.name, plan_name=manifest.plan_name, practice=manifest.practice)
    board.status(guard=None, elapsed_seconds=None).write(run.status)
    inherited = {name: value for name, value in environment.items() if name not in command.unset}
    return LaunchOrder(
        argv=tuple(command.argv),
        cwd=command.cwd,
        environment={**inherited, **command.environment},
        python=str(command.python),
    )


def _record(command: TrainerCommand, secrets: list[str]) -> CommandRecord:
    environment = {
        name: HIDDEN if name in _SECRET_NAMES else redact_text(value, secrets)
        for name, value in command.environment.items()
    }
    return CommandRecord(
        argv=tuple(redact_argv(command.argv, secrets)),
        cwd=command.cwd,
        environment=environment,
        unset=tuple(command.unset),
        python=str(command.python),
        script=command.script,
        output_dir=command.output_dir,
        output_name=command.output_name,
        logging_dir=command.logging_dir,
        tracker=command.logging_dir is not None,
        expected_final=command.expected_final,
        save_state="--save_state" in command.argv,
        resumed="--resume" in command.argv,
        wrapped=not any(word.endswith(command.script) for word in command.argv[:3]),
        note=_("Tokens are left out here. output.log holds what the trainer printed, unchanged."),
    )


def start_supervisor(run: RunFolder, order: LaunchOrder | None = None) -> None:
    """Start the supervisor of a run, detached, and wait until it has taken over.

    Args:
        run: The folder.
        order: What to launch, handed over through a pipe; None to take over a run that was launched.

    Raises:
        RunRefused: It could not be started.
    """
    words = [*_own_words(), "supervise", str(run.path)]
    words += ["--launch"] if order is not None else []
    with run.supervisor_log.open("ab") as log:
        process = subprocess.Popen(
            words,
            cwd=run.path,
            env=_own_environment(),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,
            creationflags=_windows_flags(),
        )
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
            # It lives on by itself; nobody here waits for its end.
            process.returncode = 0
            return
        time.sleep(0.02)
    raise RunRefused(
        _("The supervisor of the run could not be started: {reason}").format(reason=_last_words(run))
    )


def _last_words(run: RunFolder) -> str:
    try:
        lines = run.supervisor_log.read_text("utf-8", "replace").strip().splitlines()
    except OSError:
        lines = []
    return lines[-1] if lines else _("it said nothing")


def _own_words() -> list[str]:
    """Return how this program calls itself."""
    return [sys.executable] if getattr(sys, "frozen", False) else [sys.executable, "-m", "gui"]


def _own_environment() -> dict[str, str]:
    """Make sure that the child finds the same program, installed or not."""
    home = str(Path(__file__).resolve().parents[3])
    paths = [home, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _windows_flags() -> int:
    """No console of its own, and out of the starter's group, so that its Ctrl+C does not reach it."""
    names = ("DETACHED_PROCESS", "CREATE_NEW_PROCESS_GROUP")
    return sum(getattr(subprocess, name, 0) for name in names)
