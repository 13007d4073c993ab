"""A thread for one kind of question, of which only the newest matters."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal


@dataclass(frozen=True)
class Answer:
    """What became of a question.

    Attributes:
        value: What the work returned; None when it failed.
        error: What it raised.
    """

    value: Any = None
    error: Exception | None = None


class Lane(QObject):
    """Does one piece of work at a time; what waits is replaced by what is newer.

    The thread is a daemon that nothing waits for: a folder on a network disk that has gone away may
    hang for minutes, and must neither take a thread of the pool nor keep the program from ending.

    Args:
        name: Of the thread.
    """

    answered = Signal(object)
    """`Answer`, in the GUI thread."""

    _arrived = Signal(object)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self._lock = threading.Lock()
        self._waiting: Callable[[], Any] | None = None
        self._running = False
        self._closed = False
        self._arrived.connect(self._tell)

    @property
    def working(self) -> bool:
        """Whether something is being done."""
        return self._running

    def ask(self, work: Callable[[], Any]) -> None:
        """Do this next, whatever else is waiting.

        Args:
            work: Runs in the thread; must not touch widgets.
        """
        with self._lock:
            self._waiting = work
            if self._running or self._closed:
                return
            self._running = True
        threading.Thread(target=self._run, name=self._name, daemon=True).start()

    def close(self) -> None:
        """Answer nothing any more. Does not wait for what is being done."""
        with self._lock:
            self._closed = True
            self._waiting = None

    def _next(self) -> Callable[[], Any] | None:
        with self._lock:
            work, self._waiting = self._waiting, None
            self._running = work is not None
            return work

    def _run(self) -> None:
        while (work := self._next()) is not None:
            answer = _answer(work)
            if not self._closed:
                with contextlib.suppress(RuntimeError):  # the window has just been closed
                    self._arrived.emit(answer)

    def _tell(self, answer: Answer) -> None:
        """Tell what came from the thread, in the GUI thread; it may have been closed on the way."""
        if not self._closed:
            self.answered.emit(answer)


def _answer(work: Callable[[], Any]) -> Answer:
    try:
        return Answer(work())
    except Exception as error:  # noqa: BLE001 - whoever asked has to say it
        return Answer(error=error)
