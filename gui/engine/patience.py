"""Waits for others only so long: drivers and services of the system may hang for good."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, ask: Callable[[], T]) -> T:
    """Return the answer of something that may never come back.

    It is asked in a thread, which is left to itself when it takes too long.

    Args:
        seconds: How long to wait.
        ask: Gives the answer; what it raises is raised here.

    Raises:
        TimeoutError: No answer came in time.
    """
    answers: list[T] = []
    errors: list[Exception] = []

    def work() -> None:
        try:
            answers.append(ask())
        except Exception as error:  # noqa: BLE001 - whatever it is, the one who asked must hear of it
            errors.append(error)

    thread = threading.Thread(target=work, name="patience", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not answers:
        raise TimeoutError
    return answers[0]
