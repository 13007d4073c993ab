"""What became of trying a run again by itself: a note in its folder, for whoever watches it."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from gui.engine.errors import CannotRead, NewerDocument
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.records import Versioned


class Retry(Versioned):
    """What became of trying a run again: ``retry.json``.

    Attributes:
        next: The run that tries it again; None while it is made ready, or where there is none.
        changes: What is different in it.
        sentence: That in words, or why there is none.
    """

    next: str | None = None
    changes: dict[str, Any] = Field(default_factory=dict)
    sentence: str = ""


def read_retry(run: RunFolder) -> Retry | None:
    """Return what became of trying a run again; None where that was not to be done, or not yet."""
    try:
        return Retry.read(run.retry)
    except (CannotRead, NewerDocument):
        return None
