"""How findings are told in plain lines: in a terminal, and in a report."""

from __future__ import annotations

from gui.engine.findings import Finding, Severity
from gui.engine.texts import _


def severity_words(severity: Severity) -> str:
    """Return how bad a finding is, in a word."""
    return {
        "stop": _("stop"),
        "danger": _("danger"),
        "warning": _("warning"),
        "hint": _("hint"),
    }[severity]


def finding_lines(finding: Finding) -> list[str]:
    """Return a finding in words, with its ways out as ``fix`` takes them."""
    where = f" [{finding.where}]" if finding.where else ""
    lines = [f"{severity_words(finding.severity)}: {finding.title} ({finding.id}){where}"]
    if finding.detail:
        lines.append(f"    {finding.detail}")
    for fix in finding.fixes:
        safe = "" if fix.safe else " " + _("(asks first)")
        lines.append(f"    → {fix.label}{safe}  --only {finding.id}:{fix.id}")
    return lines
