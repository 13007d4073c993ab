"""A process of this program that answers what it is asked through its pipes, and ends with who asked."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from typing import IO, NamedTuple

from gui.engine.dataset.worker import READY
from gui.engine.documents import reason_of
from gui.engine.errors import ScanFailed
from gui.engine.own_program import own_environment

KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(64 << 20), "MALLOC_MMAP_THRESHOLD_": str(32 << 20)}
"""Has glibc keep the memory of one image for the next one: to have it from the system anew, page by page,
takes a fifth of the time in which an image is decoded. Other systems take no notice."""

FAREWELL_SECONDS = 2.0
"""So long a process may take to end by itself."""


class Pipes(NamedTuple):
    """Where a process is asked, and where it answers."""

    asks: IO[bytes]
    answers: IO[bytes]


class HelperProcess:
    """One process, started when it is first needed, and again when it has died.

    It is asked by one thread; ``kill`` may come from any.

    Args:
        words: Its command line.
    """

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._process: subprocess.Popen[bytes] | None = None
        self._guard = threading.Lock()

    def pipes(self) -> Pipes:
        """Return the pipes of the process, started when there is none.

        Raises:
            ScanFailed: It does not come up.
        """
        with self._guard:
            process, is_new = self._process, self._process is None
            if process is None:
                process = self._process = self._start()
        if process.stdin is None or process.stdout is None:  # pragma: no cover - both are pipes
            raise ScanFailed("")
        if is_new and process.stdout.readline() != READY:
            raise ScanFailed(self.bury())
        return Pipes(process.stdin, process.stdout)

    def bury(self) -> str:
        """End the process; return how it ended."""
        process = self._process
        self.kill()
        return "" if process is None else str(process.returncode)

    def dismiss(self) -> None:
        """Let the process go home; it is killed where it does not."""
        process = self._process
        if process is not None and process.stdin is not None:
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                process.stdin.close()
                process.wait(FAREWELL_SECONDS)
        self.kill()

    def kill(self) -> None:
        """End the process now."""
        with self._guard:
            process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=own_environment() | KEEP_MEMORY,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError as error:
            raise ScanFailed(reason_of(error)) from error
