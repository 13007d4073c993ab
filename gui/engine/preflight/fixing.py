"""Applies fixes until no safe one is left, and never trades one stop finding for another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gui.engine.findings import Finding, Fix
from gui.engine.plan.changes import ACTION, apply_changes
from gui.engine.plan.model import TrainingPlan

Check = Callable[[TrainingPlan], Sequence[Finding]]

CHAIN = 5
"""How many fixes may follow from one: what it uncovers, and what that uncovers."""

ROUNDS = 2_000
"""More rounds than any plan needs; a bound, should rules ever bring up new faults without end."""


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


Step = tuple[list[Applied], TrainingPlan, Sequence[Finding]]
"""What was applied, the plan after it, and what is found in that."""


def apply_safe_fixes(plan: TrainingPlan, check: Check) -> Fixed:
    """Apply every safe fix that mends its finding and leaves no new stop.

    What a fix uncovers may be mended by safe fixes in turn; a fix that ends in a stop is not taken.

    Args:
        plan: Stays as it is.
        check: Returns the findings of a plan.

    Returns:
        The mended plan. Applying again changes nothing.
    """
    applied: list[Applied] = []
    findings = check(plan)
    seen = {repr(plan)}  # not by ==, to which 1 and true are the same
    for _round in range(ROUNDS):
        step = _next_step(plan, findings, check)
        if step is None or repr(step[1]) in seen:
            break
        done, plan, findings = step
        seen.add(repr(plan))
        applied += done
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
    findings = check(plan)
    for name in names:
        identity, _, wanted = name.partition(":")
        before = len(applied)
        stuck: set[tuple[str, str | None]] = set()
        # One after the other: a fix may change how the others' places are counted.
        while (found := _named(findings, identity, wanted, stuck)) and len(applied) - before < ROUNDS:
            finding, fix = found
            plan = apply_changes(plan, fix.changes)
            applied.append(Applied(finding, fix))
            after = check(plan)
            if _count(after, identity) >= _count(findings, identity):
                stuck.add(_key(finding))
            findings = after
        if len(applied) == before:
            unknown.append(name)
    return Fixed(plan, tuple(applied), tuple(findings)), tuple(unknown)


def _named(
    findings: Sequence[Finding], identity: str, wanted: str, stuck: Collection[tuple[str, str | None]]
) -> tuple[Finding, Fix] | None:
    """Return the first finding of this id that is not stuck, with the fix that is wanted."""
    for finding in findings:
        fix = next((fix for fix in finding.fixes if wanted in ("", fix.id)), None)
        if finding.id == identity and fix is not None and _key(finding) not in stuck:
            return finding, fix
    return None


def _count(findings: Sequence[Finding], identity: str) -> int:
    return sum(finding.id == identity for finding in findings)


def _next_step(plan: TrainingPlan, findings: Sequence[Finding], check: Check) -> Step | None:
    """Return the first safe fix that makes its finding go away and leaves no new stop.

    Fixes of the same kind are taken together: a plan may have thousands of unknown arguments.
    """
    for finding in findings:
        for one in _safe(finding):
            alike = _alike(finding, one.fix, findings)
            step = _tried(plan, [one, *alike], findings, check) if alike else None
            step = step or _tried(plan, [one], findings, check)
            if step is not None:
                return step
    return None


def _tried(
    plan: TrainingPlan, these: list[Applied], findings: Sequence[Finding], check: Check
) -> Step | None:
    """Apply fixes, and the safe fixes of what they uncover; None unless all that is gone afterwards."""
    mended = {_key(each.finding) for each in these}
    stops = {_key(finding) for finding in findings if finding.severity == "stop"}
    done, changes = list(these), _joined(these)
    for _round in range(CHAIN):
        plan = apply_changes(plan, changes)
        after = check(plan)
        if mended & {_key(finding) for finding in after}:
            return None
        uncovered = [each for each in after if each.severity == "stop" and _key(each) not in stops]
        if not uncovered:
            return done, plan, after
        following = next((step for finding in uncovered for step in _safe(finding)), None)
        if following is None:
            return None
        done.append(following)
        changes = following.fix.changes
    return None


def _safe(finding: Finding) -> list[Applied]:
    return [Applied(finding, fix) for fix in finding.fixes if fix.safe and ACTION not in fix.changes]


def _joined(these: Iterable[Applied]) -> dict[str, Any]:
    return {target: value for each in these for target, value in each.fix.changes.items()}


def _alike(first: Finding, fix: Fix, findings: Sequence[Finding]) -> list[Applied]:
    """Return the same safe fixes of the same fault elsewhere, as far as none touches another's place.

    Arguments only: places in lists move when one is taken out.
    """
    taken = set(fix.changes)
    found: list[Applied] = []
    for other in findings if not any("." in target for target in taken) else ():
        same = next((each for each in other.fixes if each.safe and each.id == fix.id), None)
        if other is first or other.id != first.id or same is None:
            continue
        if any("." in target or target in taken for target in same.changes):
            continue
        taken |= same.changes.keys()
        found.append(Applied(other, same))
    return found


def _key(finding: Finding) -> tuple[str, str | None]:
    return finding.id, finding.where
