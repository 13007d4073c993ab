"""Looks at something again and again in a thread of its own, so that a look that hangs harms nobody."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

_MOST_FRESH = 100


class Sampler(Generic[T]):
    """Keeps the newest look.

    A call into a broken GPU driver can hang for good: whoever guards a training must not wait for it.
    The thread is a daemon and is never joined.

    Args:
        look: What to do; it should not raise, and is asked again when it does.
        seconds: Between two looks.

    Attributes:
        seconds: The same; may be changed while it runs.
    """

    def __init__(self, look: Callable[[], T], seconds: float) -> None:
        self._look = look
        self._fresh: deque[T] = deque(maxlen=_MOST_FRESH)
        self.seconds = seconds
        self._over = threading.Event()
        self._newest: tuple[T, float] | None = None
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)

    def start(self) -> None:
        """Begin; the first look is taken at once."""
        self._thread.start()

    def stop(self) -> None:
        """Take no further look. Does not wait for one that is being taken."""
        self._over.set()

    def newest(self) -> T | None:
        """Return the newest look, None before the first has been taken."""
        return self._newest[0] if self._newest else None

    def fresh(self) -> list[T]:
        """Return the looks that were not yet returned here, oldest first; the newest hundred at most."""
        return [self._fresh.popleft() for _ in range(len(self._fresh))]

    def age_seconds(self) -> float | None:
        """Return how old the newest look is: much more than the interval means that one hangs."""
        return time.monotonic() - self._newest[1] if self._newest else None

    def _run(self) -> None:
        while not self._over.is_set():
            with contextlib.suppress(Exception):  # the next look may succeed; the age tells
                self._newest = (self._look(), time.monotonic())
                self._fresh.append(self._newest[0])
            self._over.wait(self.seconds)
