"""What a report of what went wrong says to a person, as plain lines: printed, copied, pasted into a forum."""

from __future__ import annotations

from collections.abc import Iterable

from gui.engine.runs.diagnosing import DiagnosisReport
from gui.engine.runs.diagnosis_models import Diagnosis, Evidence
from gui.engine.texts import _


def report_lines(report: DiagnosisReport) -> list[str]:
    """Return the whole report."""
    lines = [report.sentence] if report.sentence else []
    for found in report.diagnoses:
        lines += ["", *diagnosis_lines(found)]
    if report.last_lines:
        lines += ["", unknown_words(), *evidence_lines(report.last_lines)]
    if not report.failed and not report.diagnoses:
        lines.append(nothing_words())
    return lines[1:] if lines and not lines[0] else lines


def diagnosis_lines(found: Diagnosis) -> list[str]:
    """Return one diagnosis: its title, the lines that show it, why, and what to do."""
    name = f"{found.id} {found.variant}" if found.variant else found.id
    lines = [f"{found.title}  [{name}]", *evidence_lines(found.evidence), "  " + found.explanation]
    return lines + [f"  - {fix.label}" for fix in found.fixes]


def evidence_lines(evidence: Iterable[Evidence]) -> list[str]:
    """Return lines of the log with their numbers."""
    return [f"  {line.line:>6}  {line.text}" for line in evidence]


def unknown_words() -> str:
    """Say that the program does not know what happened."""
    return _("This failure is not known to the program. It ended with:")


def nothing_words() -> str:
    """Say that nothing was found."""
    return _("Nothing that is known to go wrong was found.")
