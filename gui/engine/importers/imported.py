"""What an importer gives: a plan, and what was changed or is unknown."""

from __future__ import annotations

from dataclasses import dataclass

from gui.engine.findings import Finding
from gui.engine.plan.model import TrainingPlan


@dataclass(frozen=True)
class Imported:
    """A plan made of somebody else's file.

    Attributes:
        plan: The plan.
        findings: What the file itself had wrong, such as an argument given twice.
        notes: What was changed or left out, in plain sentences.
    """

    plan: TrainingPlan
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
