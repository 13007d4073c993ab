"""What an importer gives: a plan, and what was changed or is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.findings import Finding
from gui.engine.plan.model import TrainingPlan
from gui.engine.redaction import Secret


@dataclass(frozen=True)
class Imported:
    """A plan made of somebody else's file.

    Attributes:
        plan: The plan.
        findings: What the file itself had wrong, such as an argument given twice.
        notes: What was changed or left out, in plain sentences.
        secrets: Tokens that stood in the file, by the trainer's argument; they are not in the plan.
    """

    plan: TrainingPlan
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    secrets: Mapping[str, Secret] = field(default_factory=dict)


class ImportReport(Document):
    """What ``import --json`` prints.

    Attributes:
        kind: What the file is.
        plan: The plan that was made of it.
        notes: What was changed, left out or is unknown.
        findings: What the file itself had wrong.
        secrets: The arguments whose tokens stood in the file; the tokens are not told.
    """

    schema_: int = Field(default=1, alias="schema")
    kind: str
    plan: TrainingPlan
    notes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    secrets: tuple[str, ...] = ()
