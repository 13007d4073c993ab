"""What a rule is, and the runner that keeps one broken rule from hiding the others."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from gui.engine.findings import Finding, worst_first
from gui.engine.preflight.view import View
from gui.engine.texts import _

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Rule:
    """One thing that is checked.

    Attributes:
        id: The id of its findings, part of the interface.
        check: Facts in, findings out; never reads a file, never raises for a user's value.
        sources: Knowledge rows, cases, places in the trainer.
        summary: What it checks, for the list of rules.
    """

    id: str
    check: Callable[[View], Iterable[Finding]]
    sources: tuple[str, ...]
    summary: Callable[[], str]


def run_rules(rules: Sequence[Rule], view: View) -> list[Finding]:
    """Return the findings of all rules, the worst first, otherwise in the order of the rules.

    A rule that fails is reported as a finding of its own (``rule-failed``); the others run.
    """
    findings: list[Finding] = []
    for rule in rules:
        try:
            findings.extend(rule.check(view))
        except Exception as error:
            log.warning("rule %s failed", rule.id, exc_info=error)
            findings.append(_failed(rule, error))
    return worst_first(findings)


def _failed(rule: Rule, error: Exception) -> Finding:
    return Finding(
        id="rule-failed",
        severity="warning",
        title=_("The check “{rule}” could not be done.").format(rule=rule.id),
        detail=_("This is a fault of Kohya Preflight ({error}). The other checks were done.").format(
            error=f"{type(error).__name__}: {error}"
        ),
        where=rule.id,
    )
