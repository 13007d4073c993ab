"""What is found about the files of one subset."""

from __future__ import annotations

from gui.engine.findings import Finding, Fix, Severity
from gui.engine.preflight.view import SubsetView


def subset_finding(
    subset: SubsetView,
    identity: str,
    severity: Severity,
    title: str,
    detail: str,
    *,
    key: str,
    fix: Fix,
    sources: tuple[str, ...],
) -> Finding:
    """Return a finding about a subset's files.

    Args:
        subset: Whose they are.
        identity: The finding's id.
        severity: How bad it is.
        title: In a line.
        detail: The rest.
        key: The subset's key that it concerns.
        fix: The way out.
        sources: Where it is known from.
    """
    return Finding(
        id=identity,
        severity=severity,
        title=title,
        detail=detail,
        arguments=(subset.target_of(key),),
        where=subset.target,
        fixes=(fix,),
        sources=sources,
    )
