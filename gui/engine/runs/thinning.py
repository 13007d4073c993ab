"""Keeps ``events.jsonl`` small when a trainer says the same thing a million times.

What is kept depends only on the events themselves, never on time, so that re-reading the log
after an adoption keeps exactly the same ones.
"""

from __future__ import annotations

from collections import Counter

from gui.engine.trainer.events import Error, Progress, TrainerEvent, Warned

_PARTS = 20
"""A bar is noted at each twentieth."""

_SAME = 5
"""So often the same warning or error is noted."""

_ALL = 1000
"""So many warnings and errors are noted in all; their number is counted on in the status."""

_KEY_LENGTH = 60


class Thinner:
    """Decides which trainer events are worth a line."""

    def __init__(self) -> None:
        self._bar: tuple[str, int | None] | None = None
        self._part = -1
        self._noted = 0
        self._said: Counter[str] = Counter()

    def keep(self, event: TrainerEvent) -> bool:
        """Return whether the event is written down."""
        if isinstance(event, Progress):
            return self._keep_bar(event)
        if isinstance(event, Warned | Error):
            return self._keep_words(event)
        return True

    def _keep_bar(self, event: Progress) -> bool:
        bar = (event.name, event.total)
        part = event.done * _PARTS // event.total if event.total else 0
        if bar == self._bar and part == self._part:
            return False
        self._bar, self._part = bar, part
        return True

    def _keep_words(self, event: Warned | Error) -> bool:
        if self._noted >= _ALL:
            return False
        # The beginning is enough: what differs from time to time is a number or a file at the end.
        key = event.message[:_KEY_LENGTH]
        self._said[key] += 1
        if self._said[key] > _SAME and isinstance(event, Warned):
            return False
        self._noted += 1
        return True
