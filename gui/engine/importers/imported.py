"""What an importer gives: a plan, and what was changed or is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.findings import Finding
from gui.engine.plan.model import TrainingPlan
from gui.engine.redaction import HIDDEN


class Secret:
    """A token that was found in a file: it never prints, and no document can hold it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the token, for a keyring or a trainer's environment."""
        return self._value

    def __repr__(self) -> str:
        return HIDDEN

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)


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
