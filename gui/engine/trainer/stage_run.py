"""Runs a program of stages in a trainer's Python and survives whatever happens to it there."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from gui.engine.documents import iterate_json_lines, reason_of
from gui.engine.errors import Cancelled, TrainerBroken
from gui.engine.texts import _
from gui.engine.trainer.facts import ImportFailure
from gui.engine.trainer.inherited import clean_environment
from gui.engine.trainer.installs import TrainerInstall

Progress = Callable[[str, int, int], None]
"""Called with the stage that begins, how many are done, and how many there are."""

_POLL_SECONDS = 0.05
_NOISE_BYTES = 64 * 1024 * 1024
_GIVE_UP_AFTER = 2.0  # times the patience; then what is left counts as lost
_OFFLINE = {"HF_HUB_OFFLINE": "1", "PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8"}


class StageRun:
    """One run of such a program for one install.

    The program is given a file of tasks and a file for results. A stage that kills or blocks the
    process is noted, and the process is started again for the stages that are left.

    Attributes:
        results: Stage to what it found.
        failures: Stage to why it found nothing.
    """

    def __init__(
        self,
        install: TrainerInstall,
        program: Path,
        stages: Sequence[str],
        *,
        patience: float,
        tasks: Mapping[str, Any] | None = None,
        vital: str | None = None,
        progress: Progress | None = None,
        within: Callable[[Mapping[str, Any]], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        """Prepare a run.

        Args:
            install: Whose Python runs the program, in whose folder.
            program: The program's file.
            stages: What it shall do, in this order.
            patience: Seconds that the program may be silent.
            tasks: What the program is told besides.
            vital: The stage without which no later one can work.
            progress: See ``Progress``.
            within: Told the program's latest line of progress within a stage.
            cancelled: Asked twenty times a second.
        """
        self.results: dict[str, Any] = {}
        self.failures: dict[str, ImportFailure] = {}
        self._install = install
        self._program = program
        self._stages = list(stages)
        self._tasks = dict(tasks or {})
        self._vital = vital
        self._progress = progress or (lambda stage, done, total: None)
        self._within = within or (lambda line: None)
        self._cancelled = cancelled or (lambda: False)
        self._patience = patience
        self._running: str | None = None

    def run(self) -> None:
        """Do all stages.

        Raises:
            TrainerBroken: The interpreter cannot be started at all.
            Cancelled: The caller asked for it.
        """
        with tempfile.TemporaryDirectory(prefix="kohya-preflight-", ignore_cleanup_errors=True) as folder:
            begin = time.monotonic()
            while left := self._left():
                ending = self._run_once(Path(folder), left)
                if self._running:
                    self.failures[self._running] = ending
                elif len(self._left()) == len(left):
                    raise TrainerBroken(self._install.root, self._install.python, self._why_no_start(ending))
                if (
                    self._running and self._running == self._vital
                ) or time.monotonic() - begin > _GIVE_UP_AFTER * self._patience:
                    self.failures |= dict.fromkeys(self._left(), ending)

    def _left(self) -> list[str]:
        return [stage for stage in self._stages if stage not in self.results and stage not in self.failures]

    def _run_once(self, folder: Path, stages: list[str]) -> ImportFailure:
        """Run the program once; return how it ended, which matters when a stage was under way."""
        tasks, results, noise = (folder / name for name in ("tasks.json", "results.jsonl", "noise.txt"))
        self._running = None
        tasks.write_text(json.dumps(self._tasks | {"stages": stages}), "utf-8")
        results.write_bytes(b"")
        words = [str(self._install.python), str(self._program), str(tasks), str(results)]
        with noise.open("wb") as sink:
            process = self._start(words, sink.fileno())
            try:
                blocked = self._watch(process, results, noise)
            finally:
                kill_tree(process)
        self._take(results)
        if blocked is not None:
            return ImportFailure(exception="hang", message=blocked)
        return ImportFailure(
            exception="crash" if process.returncode else "exit",
            message=_ending(process.returncode) + (_last_words(noise) if process.returncode else ""),
        )

    def _start(self, words: list[str], sink: int) -> subprocess.Popen[bytes]:
        flags = getattr(subprocess, "CREATE_NO_WINDOW", 0) if os.name == "nt" else 0
        try:
            return subprocess.Popen(
                words,
                cwd=self._install.root,
                env=clean_environment() | _OFFLINE,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                creationflags=flags,
                start_new_session=True,
            )
        except OSError as error:
            reason = _("{python} cannot be started: {reason}").format(
                python=self._install.python, reason=reason_of(error)
            )
            if not self._install.root.is_dir():  # the system's own words name only the interpreter
                reason = _("its folder is no longer there")
            raise TrainerBroken(self._install.root, self._install.python, reason) from error

    def _watch(self, process: subprocess.Popen[bytes], results: Path, noise: Path) -> str | None:
        """Wait for the end; return why it had to be ended, None when it ended by itself."""
        since, seen = time.monotonic(), 0
        while process.poll() is None:
            if self._cancelled():
                raise Cancelled
            time.sleep(_POLL_SECONDS)
            size = results.stat().st_size
            if size != seen:
                since, seen = time.monotonic(), size
                self._take(results)
            if time.monotonic() - since > self._patience:
                return _("no end after {seconds} seconds").format(seconds=round(self._patience))
            if noise.stat().st_size > _NOISE_BYTES:
                return _("it prints without end")
        return None

    def _take(self, results: Path) -> None:
        """Read what the program wrote so far."""
        before, self._running = self._running, None
        latest: dict[str, Any] | None = None
        for line in iterate_json_lines(results):
            stage, state = line["stage"], line["state"]
            if state == "begin":
                self._running = stage
                continue
            if state == "progress":
                latest = line
                continue
            self._running = None
            if state == "end":
                self.results[stage] = line["result"]
            else:
                self.failures[stage] = ImportFailure.model_validate(line["error"])
        if self._running and self._running != before:
            done = len(self._stages) - len(self._left())
            self._progress(self._running, done, len(self._stages))
        if self._running and latest is not None and latest["stage"] == self._running:
            self._within(latest)

    def _why_no_start(self, ending: ImportFailure) -> str:
        return _("{python} is no working Python: {reason}").format(
            python=self._install.python, reason=ending.message
        )


def kill_tree(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    """End a child, started in a session of its own, and all that it started.

    Its group is ended at one stroke, so that a process that is being started just now is ended too.
    Windows has no groups: there the child is halted before its family is looked for.
    """
    if os.name == "nt":
        with contextlib.suppress(psutil.Error):
            psutil.Process(process.pid).suspend()
    family = _family(process)
    if os.name != "nt":
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    for child in family:
        with contextlib.suppress(psutil.Error):
            child.kill()
    process.kill()
    process.wait()


def _family(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> list[psutil.Process]:
    """Return what a living process started, and what that started."""
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.Error:
        return []


def _ending(status: int) -> str:
    if status < 0:
        return _("it was ended by signal {number}").format(number=-status)
    if status > 0xFFFF:
        return _("it crashed with {code}").format(code=f"0x{status & 0xFFFFFFFF:08X}")
    return _("it ended with status {status}").format(status=status)


def _last_words(noise: Path) -> str:
    """Return the last line that was printed, where there is one, as the reason in brackets."""
    with noise.open("rb") as file:
        file.seek(max(0, noise.stat().st_size - 4096))
        lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return f" ({lines[-1][:300]})" if lines else ""
