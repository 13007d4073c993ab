"""Hashes of the model files that are looked at: one at a time, in a thread, and only as long as they are."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gui.engine.errors import PreflightError
from gui.window.bridges.tasks import TaskHandle, Tasks

if TYPE_CHECKING:
    from gui.engine.runs.hashes import FileHash

KEY = "model-hash"
TELL_SECONDS = 0.1
"""Progress is told so often; it is known hundreds of times a second."""


@dataclass(frozen=True)
class HashState:
    """How far the hash of a file is.

    Attributes:
        found: The hash; None as long as it is not known.
        begun: Whether the file is being read.
        done: KiB that were read.
        total: Of how many; 0 before the first.
        stopped: Whether the user wants no more of it.
        problem: Why there is none.
    """

    found: FileHash | None = None
    begun: bool = False
    done: int = 0
    total: int = 0
    stopped: bool = False
    problem: str = ""

    @property
    def waiting(self) -> bool:
        """Whether it is still to be worked out."""
        return self.found is None and not self.stopped and not self.problem


class ModelHashes(QObject):
    """Works out what is wanted and not known yet; what was worked out once is remembered in the cache.

    Args:
        tasks: Where files are read.
        cache: The folder of remembered hashes.
    """

    changed = Signal()
    """Some hash is farther than before."""

    def __init__(self, tasks: Tasks, cache: Path) -> None:
        super().__init__()
        self._tasks = tasks
        self._cache = cache
        self._states: dict[Path, HashState] = {}
        self._now: Path | None = None

    def of(self, path: Path) -> HashState | None:
        """Return how far the hash of a file is; None when nobody wants it."""
        return self._states.get(path)

    def want(self, paths: Sequence[Path]) -> None:
        """Work out the hashes of these files in this order, and of no others."""
        self._states = {path: self._states.get(path, HashState()) for path in paths}
        if self._now is not None and self._now not in self._states:
            self._let_go()
        self._next()

    def stop(self, path: Path) -> None:
        """Work out this one no more."""
        self._change(path, HashState(stopped=True))
        if path == self._now:
            self._let_go()
            self._next()

    def again(self, path: Path) -> None:
        """Work out one that was stopped."""
        self._change(path, HashState())
        self._next()

    def _next(self) -> None:
        if self._now is not None:
            return
        path = next((each for each, state in self._states.items() if state.waiting), None)
        if path is None:
            return
        self._now = path
        self._change(path, HashState(begun=True))

        def work(handle: TaskHandle) -> FileHash:
            return _hash(path, self._cache, handle)

        self._tasks.run(
            work,
            lambda found: self._over(path, HashState(found)),
            lambda error: self._failed(path, error),
            key=KEY,
            progress=lambda _text, done, total: self._progressed(path, done, total),
        )

    def _let_go(self) -> None:
        self._now = None
        self._tasks.cancel(KEY)

    def _progressed(self, path: Path, done: int, total: int) -> None:
        if path == self._now:
            self._change(path, replace(self._states[path], done=done, total=total))

    def _failed(self, path: Path, error: PreflightError) -> None:
        self._over(path, HashState(problem=str(error)))

    def _over(self, path: Path, state: HashState) -> None:
        if path == self._now:
            self._now = None
            self._change(path, state)
            self._next()

    def _change(self, path: Path, state: HashState) -> None:
        if path in self._states:
            self._states[path] = state
            self.changed.emit()


def _hash(path: Path, cache: Path, handle: TaskHandle) -> FileHash:
    from gui.engine.runs.hashes import cached_hash  # not for the first paint

    told = 0.0

    def progress(done: int, total: int) -> None:
        nonlocal told
        if time.monotonic() - told >= TELL_SECONDS:
            told = time.monotonic()
            # In KiB, for the bar counts in 32 bits.
            handle.progress("", done >> 10, total >> 10)

    return cached_hash(path, cache, progress, handle.is_cancelled)
