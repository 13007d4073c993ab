"""What is to be said of plans that were to be put into the queue: of one in full, of many in a line each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gui.engine.errors import PreflightError
from gui.engine.findings import Finding
from gui.engine.texts import _, ngettext
from gui.window.bridges.queue_adder import Added, Origin, Refusal
from gui.window.models.short_list import in_short

MOST_NAMED = 6


@dataclass(frozen=True)
class Report:
    """What is to be said of one plan.

    Attributes:
        title: In a line.
        name: What the plan is called among others; empty where the reason names it.
        reasons: Why.
        origin: Where the plan comes from.
        bad: Whether it does not wait in the queue now.
        dangers: Ids of what the user may say yes to; empty where that is not all that is needed.
    """

    title: str
    name: str
    reasons: tuple[str, ...]
    origin: Origin
    bad: bool = True
    dangers: tuple[str, ...] = ()

    @property
    def path(self) -> Path | None:
        """The plan's file, where it comes from one that can be opened."""
        return self.origin if isinstance(self.origin, Path) and self.name else None


def report_of(outcome: Added | Refusal) -> Report | None:
    """Return what is to be said of what came of a plan; None where all is well."""
    if isinstance(outcome, Added):
        title = _("“{name}” is in the queue. As things are now it would be refused:")
        name = outcome.item.name
        words, reasons = title.format(name=name), _titles(outcome.passing)
        return Report(words, name, reasons, outcome.origin, bad=False) if reasons else None
    again = isinstance(outcome.origin, int)
    title = _("“{name}” was not put into the queue.")
    if again:
        title = _("“{name}” would be refused at its turn; changes of its plan file since do not count.")
    accepts = all(finding.severity == "danger" for finding in outcome.findings)
    return Report(
        title.format(name=outcome.name),
        outcome.name,
        _titles(outcome.findings),
        outcome.origin,
        dangers=(*outcome.accepted, *_ids(outcome.findings)) if accepts else (),
    )


def report_of_failure(origin: Origin, error: PreflightError) -> Report:
    """Return what is to be said of a plan that could not be checked."""
    return Report(_("This was not done."), "", (str(error),), origin)


def words_of(reports: Sequence[Report]) -> tuple[str, str]:
    """Return a title and a text for all that is to be said."""
    if len(reports) == 1:
        return reports[0].title, _lines(reports[0].reasons)
    bad = sum(report.bad for report in reports)
    title = _("In the queue, with something to know:")
    if bad:
        title = ngettext(
            "{count} plan was not put into the queue.", "{count} plans were not put into the queue.", bad
        )
    named = [": ".join(filter(None, (report.name, *report.reasons[:1]))) for report in reports]
    return title.format(count=bad), _lines(named)


def _titles(findings: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(finding.title for finding in findings))


def _ids(findings: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(finding.id for finding in findings))


def _lines(texts: Sequence[str]) -> str:
    return "\n".join(in_short([f"• {text}" for text in texts], MOST_NAMED))
