"""What a diagnosis says: the cause, the lines that show it, and the ways out."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from gui.engine.documents import Document


class Evidence(Document):
    """A line of the log that shows it.

    Attributes:
        line: Its number, from 1.
        text: Its words, tokens taken out; a wrapped record put together again.
    """

    line: int
    text: str


class DiagnosisFix(Document):
    """A way out.

    Attributes:
        label: What to do.
        changes: Target to new value, as in a finding's fix.
    """

    label: str
    changes: dict[str, Any] = Field(default_factory=dict)


class Diagnosis(Document):
    """One thing that went wrong.

    Attributes:
        id: Stable, part of the interface.
        variant: A narrower name, None without one.
        title: One sentence.
        evidence: The lines that show it, three at most.
        explanation: Why it happens.
        fixes: What to do, the best first.
        explains_end: Whether it says why a run ended; else it is worth knowing all the same.
    """

    id: str
    variant: str | None = None
    title: str
    evidence: tuple[Evidence, ...]
    explanation: str
    fixes: tuple[DiagnosisFix, ...]
    explains_end: bool = Field(default=True, exclude=True)
