"""Threads for blocking work: neither what comes next nor the end of the program waits for what hangs."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

STUCK_SECONDS = 5.0
"""Work that takes longer waits for a disk, a program or the user; others may begin beside it."""

MOST_THREADS = 64


class Pool:
    """Does work in the order in which it comes, some of it at once.

    The threads are daemons. A read from a network disk that has gone away hangs for minutes, or for good:
    it must neither keep what comes after it from being done nor the program from ending, as a
    ``QThreadPool`` would.

    Args:
        threads: How many pieces are done at once, those not counted that are stuck.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._waiting: deque[Callable[[], None]] = deque()
        self._since: dict[threading.Thread, float] = {}
        self._changed = threading.Condition()

    @property
    def waiting(self) -> bool:
        """Whether something could not be begun yet."""
        return bool(self._waiting)

    def start(self, work: Callable[[], None]) -> None:
        """Do this as soon as a thread is free.

        Args:
            work: Raises nothing.
        """
        with self._changed:
            self._waiting.append(work)
        self.look()

    def look(self) -> None:
        """Begin what waits where others are stuck; to be called now and then while something waits."""
        with self._changed:
            while self._waiting and self._has_room():
                thread = threading.Thread(
                    target=self._run, args=(self._waiting.popleft(),), name="task", daemon=True
                )
                self._since[thread] = time.monotonic()
                thread.start()

    def close(self, patience_seconds: float) -> bool:
        """Begin nothing more, and give what is being done some time.

        Returns:
            Whether all of it has ended.
        """
        with self._changed:
            self._waiting.clear()
            return self._changed.wait_for(lambda: not self._since, patience_seconds)

    def _has_room(self) -> bool:
        now = time.monotonic()
        at_work = sum(now - since < STUCK_SECONDS for since in self._since.values())
        return at_work < self._threads and len(self._since) < MOST_THREADS

    def _run(self, work: Callable[[], None]) -> None:
        following: Callable[[], None] | None = work
        while following is not None:
            following()
            following = self._next()

    def _next(self) -> Callable[[], None] | None:
        """Return what this thread does next; None where it may go."""
        me = threading.current_thread()
        with self._changed:
            del self._since[me]
            if self._waiting and self._has_room():
                self._since[me] = time.monotonic()
                return self._waiting.popleft()
            self._changed.notify_all()
            return None
