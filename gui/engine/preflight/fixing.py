"""Applies fixes until no safe one is left, and never trades one stop finding for another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from gui.engine.findings import Finding, Fix
from gui.engine.plan.changes import ACTION, apply_changes
from gui.engine.plan.model import TrainingPlan

Check = Callable[[TrainingPlan], Sequence[Finding]]

ROUNDS = 50
"""More rounds than any chain of fixes needs; a bound, should two rules ever disagree."""


@dataclass(frozen=True)
class Applied:
    """One fix that was applied.

    Attributes:
        finding: What it mended.
        fix: What was done.
    """

    finding: Finding
    fix: Fix


@dataclass(frozen=True)
class Fixed:
    """A plan after fixing.

    Attributes:
        plan: The new plan.
        applied: What was done, in order.
        remaining: What is still found.
    """

    plan: TrainingPlan
    applied: tuple[Applied, ...]
    remaining: tuple[Finding, ...]


def apply_safe_fixes(plan: TrainingPlan, check: Check) -> Fixed:
    """Apply every safe fix that mends its finding without bringing a new stop.

    Args:
        plan: Stays as it is.
        check: Returns the findings of a plan.

    Returns:
        The mended plan. Applying again changes nothing.
    """
    applied: list[Applied] = []
    findings = check(plan)
    for _round in range(ROUNDS):
        step = _next_step(plan, findings, check)
        if step is None:
            break
        done, plan, findings = step
        applied.append(done)
    return Fixed(plan, tuple(applied), tuple(findings))


def apply_named_fixes(
    plan: TrainingPlan, names: Iterable[str], check: Check
) -> tuple[Fixed, tuple[str, ...]]:
    """Apply the fixes that were named, safe or not.

    Args:
        plan: Stays as it is.
        names: ``ID`` for the finding's first fix, or ``ID:FIX``.
        check: Returns the findings of a plan.

    Returns:
        The plan, and the names for which there is no finding or fix now.
    """
    applied: list[Applied] = []
    unknown: list[str] = []
    for name in names:
        identity, _, wanted = name.partition(":")
        done = 0
        for finding in check(plan):
            fix = next((fix for fix in finding.fixes if wanted in ("", fix.id)), None)
            if finding.id == identity and fix is not None:
                plan = apply_changes(plan, fix.changes)
                applied.append(Applied(finding, fix))
                done += 1
        if not done:
            unknown.append(name)
    return Fixed(plan, tuple(applied), tuple(check(plan))), tuple(unknown)


def _next_step(
    plan: TrainingPlan, findings: Sequence[Finding], check: Check
) -> tuple[Applied, TrainingPlan, Sequence[Finding]] | None:
    """Return the first safe fix that makes its finding go away and brings no new stop."""
    stops = {_key(finding) for finding in findings if finding.severity == "stop"}
    for finding in findings:
        for fix in finding.fixes:
            if not fix.safe or ACTION in fix.changes:
                continue
            changed = apply_changes(plan, fix.changes)
            if changed == plan:
                continue
            after = check(changed)
            keys = {_key(other) for other in after}
            new_stops = {_key(other) for other in after if other.severity == "stop"} - stops
            if _key(finding) not in keys and not new_stops:
                return Applied(finding, fix), changed, after
    return None


def _key(finding: Finding) -> tuple[str, str | None]:
    return finding.id, finding.where
