"""The queue of plans, looked at again and again, and changed off the GUI thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from PySide6.QtCore import Signal

from gui.engine.errors import PreflightError
from gui.engine.paths import Home
from gui.window.bridges.lane import Answer
from gui.window.bridges.looking import LOOK_MS, Looking
from gui.window.bridges.tasks import Tasks

if TYPE_CHECKING:
    from gui.engine.runs.queue_items import Queue
    from gui.engine.runs.queue_store import QueueStore

T = TypeVar("T")

AGAIN_SECONDS = 10.0
"""A scheduler that does not start is not tried at each look."""


class _Seen(NamedTuple):
    """What a look saw.

    Attributes:
        queue: All of it; None where nothing was ever put into it.
        problem: Why nobody looks after it; empty when all is well.
    """

    queue: Queue | None
    problem: str = ""


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
        self._tasks = tasks
        self._seen = _Seen(None)
        self._due = 0.0

    @property
    def queue(self) -> Queue | None:
        """All of it; None where nothing was ever put into it, or it cannot be read."""
        return self._seen.queue

    @property
    def problem(self) -> str:
        """Why it cannot be read, or nobody looks after it; empty when all is well."""
        return self._seen.problem

    def do(self, act: Callable[[QueueStore], T], done: Callable[[T], None] = lambda _nothing: None) -> None:
        """Change the queue, and show what came of it.

        Args:
            act: Runs in a thread.
            done: Takes its result, in the GUI thread.
        """

        def finished(result: T) -> None:
            done(result)
            self._lane.ask(self._look)

        self._tasks.run(lambda _handle: act(self._store()), finished, self.failed.emit)

    def _store(self) -> QueueStore:
        from gui.engine.runs.queue_store import QueueStore  # heavy, and not for the first paint

        return QueueStore(self._home)

    def _look(self) -> _Seen:
        if not self._home.queue.is_dir():
            return _Seen(None)
        store = self._store()
        problem = self._seen.problem
        if time.monotonic() >= self._due:
            problem = self._wake(store)
        return _Seen(store.read(), problem)

    def _wake(self, store: QueueStore) -> str:
        from gui.engine.runs.queue_session import ensure_scheduler

        try:
            ensure_scheduler(store)
        except PreflightError as error:
            self._due = time.monotonic() + AGAIN_SECONDS
            return str(error)
        return ""

    def _take(self, answer: Answer) -> bool:
        seen = answer.value if answer.error is None else _Seen(None, str(answer.error))
        before, self._seen = self._seen, seen
        return seen != before
