"""Keeps ``events.jsonl`` small when a trainer says a million things.

What is kept depends only on the events themselves, never on time, so that re-reading the log
after an adoption keeps exactly the same ones. The parser thins out what repeats; here is the bound.
"""

from __future__ import annotations

from gui.engine.trainer.events import Error, Progress, TrainerEvent, Warned

_PARTS = 20
"""A bar is noted at each twentieth."""

_WORDS = 1000
"""So many warnings and errors are noted in all; their number is counted on in the status."""


class Thinner:
    """Decides which trainer events are worth a line."""

    def __init__(self) -> None:
        self._bar: tuple[str, int | None] | None = None
        self._part = -1
        self._words = 0

    def keep(self, event: TrainerEvent) -> bool:
        """Return whether the event is written down."""
        if isinstance(event, Progress):
            bar = (event.name, event.total)
            part = event.done * _PARTS // event.total if event.total else event.done
            known = bar == self._bar and part == self._part
            self._bar, self._part = bar, part
            return not known
        if isinstance(event, Warned | Error):
            self._words += 1
            return self._words <= _WORDS
        return True
