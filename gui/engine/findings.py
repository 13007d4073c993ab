"""What preflight says about a plan: findings with fixes, and the verdict that follows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal, get_args

from pydantic import Field

from gui.engine.documents import Document

Severity = Literal["stop", "danger", "warning", "hint"]
RANKS: Mapping[Severity, int] = {severity: rank for rank, severity in enumerate(get_args(Severity))}
"""Where severities stand, the worst first."""

CheckVerdict = Literal["go", "caution", "stop"]


class Fix(Document):
    """One way out of a finding.

    Attributes:
        id: Stable within the finding.
        label: What the button says: what will happen.
        changes: Target to new value; None removes it, True sets a flag. A bare name is a trainer
            argument, other targets are dotted (``dataset.batch_size``), ``action`` is no value.
        safe: Whether "apply all safe fixes" may take it without asking.
    """

    id: str
    label: str
    changes: dict[str, Any]
    safe: bool


class Finding(Document):
    """One thing that is wrong or unwise about a plan.

    Attributes:
        id: Stable, part of the interface.
        severity: ``stop`` blocks the launch, ``danger`` asks for a clear yes.
        title: One plain sentence.
        detail: The reason.
        arguments: The targets concerned, the first one first.
        where: Which subset or file, where an id can fire more than once.
        fixes: The ways out.
        sources: Knowledge rows, cases, trainer files.
    """

    id: str
    severity: Severity
    title: str
    detail: str = ""
    arguments: tuple[str, ...] = ()
    where: str | None = None
    fixes: tuple[Fix, ...] = ()
    sources: tuple[str, ...] = Field(default=())


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings by their severity, the same ones in the order that they have."""
    return sorted(findings, key=lambda finding: RANKS[finding.severity])


def verdict_of(findings: Iterable[Finding]) -> CheckVerdict:
    """Return ``stop`` when one blocks, ``caution`` for dangers and warnings, else ``go``."""
    severities = {finding.severity for finding in findings}
    if "stop" in severities:
        return "stop"
    return "caution" if severities & {"danger", "warning"} else "go"


def blocks(finding: Finding, accepted: Collection[str]) -> bool:
    """Whether a finding stands against a launch: it stops, or is a danger that nobody has said yes to."""
    return finding.severity == "stop" or (finding.severity == "danger" and finding.id not in accepted)
