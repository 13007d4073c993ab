"""Reads saved models in a thread, one after the other, and keeps the last clean one meanwhile."""

from __future__ import annotations

import contextlib
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event

from gui.engine.errors import CannotWrite, PreflightError
from gui.engine.runs.checkpoints import Judgement
from gui.engine.runs.keeper import CleanKeeper, KeptFile
from gui.engine.trainer.tensors import TensorReport, check_tensors

Kept = tuple[KeptFile, ...]


class Inspector:
    """Works on one file at a time, so that the training keeps its processors.

    Args:
        keeper: Keeps files that the trainer may remove; None where it removes none. Only the
            thread touches it.

    Attributes:
        kept: What is kept, by the trainer's path.
        problem: Why something could not be kept, None when all could.
    """

    def __init__(self, keeper: CleanKeeper | None) -> None:
        self._keeper = keeper
        self._over = Event()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="weights")
        self._reading: dict[Path, Future[TensorReport]] = {}
        self._keeping: list[Future[Kept]] = []
        self._held: dict[Path, Path] = {}  # the thread's own
        self.kept: dict[Path, KeptFile] = {}
        self.problem: str | None = None

    @property
    def busy(self) -> bool:
        """Whether anything is still to be done."""
        return bool(self._reading or self._keeping)

    def reads(self, path: Path) -> bool:
        """Whether a file is being read or waits for it."""
        return path in self._reading

    def read(self, path: Path) -> None:
        """Have a complete file read; it is held on to from before its numbers are known."""
        if self._keeper is not None:
            self._keeping.append(self._thread.submit(self._hold, self._keeper, path))
        self._reading[path] = self._thread.submit(self._examine, path)

    def consider(self, path: Path, judgement: Judgement) -> None:
        """Tell the keeper what a file is."""
        if self._keeper is not None:
            self._keeping.append(self._thread.submit(_consider, self._keeper, path, judgement))

    def release(self) -> None:
        """Let go of what lies in its place, when the run is over."""
        if self._keeper is not None:
            self._keeping.append(self._thread.submit(self._keeper.release))

    def collect(self) -> list[tuple[Path, TensorReport]]:
        """Return what has been read since the last call."""
        found = []
        for path in [path for path, reading in self._reading.items() if reading.done()]:
            reading = self._reading.pop(path)
            # A file that was removed meanwhile has no report.
            with contextlib.suppress(PreflightError, CancelledError):
                found.append((path, reading.result()))
        while self._keeping and self._keeping[0].done():
            self._note_kept(self._keeping.pop(0))
        return found

    def close(self) -> None:
        """Give up what is being read."""
        self._over.set()
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _note_kept(self, keeping: Future[Kept]) -> None:
        try:
            self.kept = {entry.original.path: entry for entry in keeping.result()}
        except CannotWrite as error:
            self.problem = str(error)
        except CancelledError:
            pass

    def _hold(self, keeper: CleanKeeper, path: Path) -> Kept:
        held = keeper.hold(path)
        if held is not None:
            self._held[path] = held.kept
        return keeper.files

    def _examine(self, path: Path) -> TensorReport:
        """Read what is held where that is possible: the trainer may have removed its own name for it."""
        report = check_tensors(self._held.pop(path, path), None, self._over.is_set)
        return report.model_copy(update={"path": str(path)})


def _consider(keeper: CleanKeeper, path: Path, judgement: Judgement) -> Kept:
    keeper.consider(path, judgement)
    return keeper.files
