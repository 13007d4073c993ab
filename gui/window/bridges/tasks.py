"""Runs blocking work in threads, and brings results, progress and errors back to the GUI thread."""

from __future__ import annotations

import contextlib
import threading
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

import shiboken6
from PySide6.QtCore import QObject, QTimer, Signal

from gui.engine.errors import Cancelled, PreflightError
from gui.engine.texts import _
from gui.window.bridges.pool import Pool

T = TypeVar("T")
Progress = Callable[[str, int, int], None]

LOOK_MS = 1000
"""So often it is seen whether something waits behind work that is stuck."""


class UnexpectedFault(PreflightError):
    """A fault of the program itself, in work that ran in a thread.

    Attributes:
        details: The traceback, for a report.
    """

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error
        self.details = "".join(traceback.format_exception(error))

    def message(self) -> str:
        """What happened, in words."""
        text = _("This is a fault of the program: {error}. Nothing of yours was changed.")
        return text.format(error=f"{type(self.error).__name__}: {self.error}")


class TaskHandle:
    """One piece of work: how it is asked to stop, and how it tells its progress."""

    def __init__(self, tell: Callable[[str, int, int], None]) -> None:
        self._tell = tell
        self._cancel = threading.Event()

    def cancel(self) -> None:
        """Ask the work to stop; its result is dropped in any case."""
        self._cancel.set()

    @property
    def cancelled(self) -> bool:
        """Whether it was asked to stop."""
        return self._cancel.is_set()

    def is_cancelled(self) -> bool:
        """Whether it was asked to stop, as engine functions want to ask it."""
        return self._cancel.is_set()

    def progress(self, text: str, done: int, total: int) -> None:
        """Tell how far the work is.

        Args:
            text: What is being done.
            done: How much of it.
            total: Of how much; 0 where nobody knows.
        """
        self._tell(text, done, total)


class _Post(QObject):
    """Lives in the GUI thread; signals bring everything there in order."""

    finished = Signal(object, object)
    progressed = Signal(object, str, int, int)


class Tasks(QObject):
    """Runs work in a pool of threads.

    ``done``, ``failed`` and ``progress`` are called in the GUI thread. Of several pieces of work with the
    same ``key`` only the newest may answer, and none that was asked for by a part of the window that is gone.

    Args:
        threads: How many pieces run at once.
    """

    busy_changed = Signal()

    def __init__(self, threads: int = 4) -> None:
        super().__init__()
        self._pool = Pool(threads)
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self._look)
        self._post = _Post()
        self._post.finished.connect(self._finish)
        self._post.progressed.connect(self._progress)
        self._newest: dict[str, _Job] = {}
        self._alive: set[_Job] = set()

    @property
    def busy(self) -> int:
        """How many pieces of work have not answered yet."""
        return len(self._alive)

    def run(
        self,
        work: Callable[[TaskHandle], T],
        done: Callable[[T], None],
        failed: Callable[[PreflightError], None] | None = None,
        *,
        key: str = "",
        progress: Progress | None = None,
    ) -> TaskHandle:
        """Begin a piece of work.

        Args:
            work: Runs in a thread; must not touch widgets.
            done: Takes its result.
            failed: Takes its error; a fault of the program comes as `UnexpectedFault`. A cancelled
                piece of work answers nothing.
            key: Replaces (and cancels) an older piece of the same key.
            progress: Takes what, done, total.
        """
        job = _Job(self._post, work, done, failed, key=key, progress=progress)
        if key:
            older = self._newest.get(key)
            if older is not None:
                older.handle.cancel()
            self._newest[key] = job
        self._alive.add(job)
        self._pool.start(job.run)
        if self._pool.waiting:
            self._timer.start()
        self.busy_changed.emit()
        return job.handle

    def cancel(self, key: str) -> None:
        """Ask the newest piece of a key to stop, and drop its answer."""
        job = self._newest.get(key)
        if job is not None:
            job.handle.cancel()

    def close(self, patience_seconds: float = 1.5) -> None:
        """Ask everything to stop, and give it some time; what hangs is left alone."""
        self._timer.stop()
        for job in list(self._alive):
            job.handle.cancel()
        self._pool.close(patience_seconds)

    def _look(self) -> None:
        self._pool.look()
        if not self._pool.waiting:
            self._timer.stop()

    def _finish(self, job: _Job, outcome: Any) -> None:
        self._alive.discard(job)
        newest = not job.key or self._newest.get(job.key) is job
        if newest and job.key:
            del self._newest[job.key]
        self.busy_changed.emit()
        if not newest or job.handle.cancelled or _is_gone(job.done):
            return
        if isinstance(outcome, _Failed):
            self._tell_failure(job, outcome.error)
        else:
            job.done(outcome)

    @staticmethod
    def _tell_failure(job: _Job, error: BaseException) -> None:
        if isinstance(error, Cancelled):
            return
        known = error if isinstance(error, PreflightError) else UnexpectedFault(error)
        if job.failed is None:
            raise known
        job.failed(known)

    @staticmethod
    def _progress(job: _Job, text: str, done: int, total: int) -> None:
        if job.progress is not None and not job.handle.cancelled and not _is_gone(job.progress):
            job.progress(text, done, total)


class _Failed:
    def __init__(self, error: BaseException) -> None:
        self.error = error


class _Job:
    def __init__(
        self,
        post: _Post,
        work: Callable[[TaskHandle], Any],
        done: Callable[[Any], None],
        failed: Callable[[PreflightError], None] | None,
        *,
        key: str,
        progress: Progress | None,
    ) -> None:
        self._post = post
        self._work = work
        self.done = done
        self.failed = failed
        self.key = key
        self.progress = progress
        self.handle = TaskHandle(self._tell)

    def _tell(self, text: str, done: int, total: int) -> None:
        with contextlib.suppress(RuntimeError):  # the window has just been closed
            self._post.progressed.emit(self, text, done, total)

    def run(self) -> None:
        """Do the work, in a thread of the pool."""
        outcome: Any
        try:
            if self.handle.cancelled:
                raise Cancelled  # noqa: TRY301 - it never began
            outcome = self._work(self.handle)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the one who asked must hear of it
            outcome = _Failed(error)
        with contextlib.suppress(RuntimeError):  # the window has just been closed
            self._post.finished.emit(self, outcome)


def _is_gone(answer: Callable[..., object]) -> bool:
    """Whether an answer would go to something that Qt has deleted meanwhile.

    That is the object of a method, or what a function took along.
    """
    cells = getattr(answer, "__closure__", None) or ()
    owners = [getattr(answer, "__self__", None), *(cell.cell_contents for cell in cells)]
    return any(isinstance(each, QObject) and not shiboken6.isValid(each) for each in owners)
