"""What a kind of trouble with images is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gui.engine.findings import Severity

READER = "trainer: train_util.py:2948"
"""How the trainer reads an image."""


@dataclass(frozen=True)
class ProblemKind:
    """One kind of trouble.

    Attributes:
        key: What images are listed under.
        id: Of the finding.
        severity: How bad.
        title: The sentence for a number of images, with ``{count}`` and ``{names}``.
        detail: What the trainer does, and what helps.
        sources: Knowledge rows, cases, places in the trainer.
    """

    key: str
    id: str
    severity: Severity
    title: Callable[[int], str]
    detail: Callable[[], str]
    sources: tuple[str, ...]
