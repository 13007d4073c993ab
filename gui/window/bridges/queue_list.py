"""The queue of plans, looked at again and again, and changed off the GUI thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import Signal

from gui.engine.errors import PreflightError
from gui.engine.paths import Home
from gui.window.bridges.in_turn import InTurn
from gui.window.bridges.lane import Answer, Lane
from gui.window.bridges.looking import LOOK_MS, Looking
from gui.window.bridges.tasks import Tasks

if TYPE_CHECKING:
    from gui.engine.runs.queue_items import Queue
    from gui.engine.runs.queue_store import QueueStore

T = TypeVar("T")

AGAIN_SECONDS = 10.0
"""A scheduler that does not start is not tried at each look."""


class QueueList(Looking):
    """The queue of a home. Whoever looks at it also has its scheduler there, as after a restart.

    Args:
        home: Where it is.
        tasks: Where it is changed.
        milliseconds: Between two looks.
    """

    failed = Signal(object)
    """`PreflightError`: why a change was not made."""

    def __init__(self, home: Home, tasks: Tasks, milliseconds: int = LOOK_MS) -> None:
        super().__init__("queue", milliseconds)
        self._home = home
        self._in_turn = InTurn(tasks)
        self._store: QueueStore | None = None
        self._queue: Queue | None = None
        self._unread = self._unattended = ""
        self._waker = Lane("queue-scheduler")  # seconds may pass until a scheduler has come
        self._waker.answered.connect(self._woken)
        self._due = 0.0

    @property
    def queue(self) -> Queue | None:
        """All of it; None where nothing was ever put into it, or it cannot be read."""
        return self._queue

    @property
    def problem(self) -> str:
        """Why it cannot be read, or nobody looks after it; empty when all is well."""
        return self._unread or self._unattended

    def refresh(self) -> None:
        """Look now, and have a scheduler there."""
        super().refresh()
        self._wake()

    def close(self) -> None:
        """Look no more; the scheduler goes on."""
        super().close()
        self._waker.close()

    def do(
        self,
        act: Callable[[QueueStore], T],
        done: Callable[[T], None] = lambda _nothing: None,
        failed: Callable[[PreflightError], None] | None = None,
    ) -> None:
        """Change the queue after all changes that were asked for before, and show what came of it.

        Args:
            act: Runs in a thread.
            done: Takes its result, in the GUI thread.
            failed: Takes its error, likewise; None tells whoever listens to ``failed``.
        """

        def finished(result: T) -> None:
            done(result)
            self._lane.ask(self._look)
            self._wake()

        self._in_turn.run(lambda: act(self._opened()), finished, failed or self.failed.emit)

    def _opened(self) -> QueueStore:
        from gui.engine.runs.queue_store import QueueStore  # heavy, and not for the first paint

        if self._store is None:
            self._store = QueueStore(self._home)
        return self._store

    def _look(self) -> Queue | None:
        return self._opened().read() if self._home.queue.is_dir() else None

    def _take(self, answer: Answer) -> bool:
        before = self._queue, self._unread
        self._queue, self._unread = answer.value, "" if answer.error is None else str(answer.error)
        return (self._queue, self._unread) != before

    def _wake(self) -> None:
        if not self._waker.working and time.monotonic() >= self._due:
            self._waker.ask(self._see_to_scheduler)

    def _see_to_scheduler(self) -> None:
        from gui.engine.runs.queue_session import ensure_scheduler

        if self._home.queue.is_dir():
            ensure_scheduler(self._opened())

    def _woken(self, answer: Answer) -> None:
        before, self._unattended = self._unattended, "" if answer.error is None else str(answer.error)
        if answer.error is not None:
            self._due = time.monotonic() + AGAIN_SECONDS
        if self._unattended != before:
            self.changed.emit()
