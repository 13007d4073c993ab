"""Work that is done piece by piece, in the order in which it was asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from gui.engine.errors import PreflightError
from gui.window.bridges.tasks import Tasks


class _Piece(NamedTuple):
    work: Callable[[], Any]
    done: Callable[[Any], None]
    failed: Callable[[PreflightError], None]


class InTurn:
    """Begins a piece when the one before has ended, well or badly.

    Args:
        tasks: Where each is done.
    """

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self._waiting: deque[_Piece] = deque()
        self._working = False

    @property
    def left(self) -> int:
        """How many pieces have not ended yet."""
        return len(self._waiting) + self._working

    def run(
        self,
        work: Callable[[], Any],
        done: Callable[[Any], None],
        failed: Callable[[PreflightError], None],
    ) -> None:
        """Do a piece after all that were asked for before.

        Args:
            work: Runs in a thread.
            done: Takes its result, in the GUI thread.
            failed: Takes its error, likewise.
        """
        self._waiting.append(_Piece(work, done, failed))
        self._next()

    def drop(self) -> None:
        """Forget what has not begun."""
        self._waiting.clear()

    def _next(self) -> None:
        if self._working or not self._waiting:
            return
        self._working = True
        work, done, failed = self._waiting.popleft()
        self._tasks.run(
            lambda _handle: work(),
            lambda result: self._end(done, result),
            lambda error: self._end(failed, error),
        )

    def _end(self, tell: Callable[[Any], None], outcome: Any) -> None:
        self._working = False
        self._next()
        tell(outcome)
