"""Rules about trying a run again by itself: how often counts, and where it never comes to that.

Source: S10.
"""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding
from gui.engine.plan.model import MOST_TRIES, tries
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.rules.memory_needs import forecast_memory
from gui.engine.preflight.rules.trainers import practises
from gui.engine.preflight.view import View
from gui.engine.texts import _

MEMORY = "guard.memory_retries"
LOSS = "guard.recoveries"


def check_tries(view: View) -> Iterator[Finding]:
    """More tries than are made, or fewer than none, count as what is nearest."""
    guard = view.plan.guard
    for target, wanted in ((MEMORY, guard.memory_retries), (LOSS, guard.recoveries)):
        counted = tries(wanted)
        if counted == wanted:
            continue
        if wanted < 0:
            text = _("A run cannot be tried again {wanted} times; this counts as never.")
        else:
            text = _("A run is tried again by itself {count} times at most, not {wanted}.")
        yield Finding(
            id="tries",
            severity="hint",
            title=text.format(count=counted, wanted=f"{wanted:,}"),
            detail=_("What does not help {most} times in a row is a matter for somebody who looks.").format(
                most=MOST_TRIES
            ),
            arguments=(target,),
            where=target,
            fixes=(write({target: counted}, _("write {count}").format(count=counted), safe=True),),
            sources=("S10",),
        )


def check_memory_tries(view: View) -> Iterator[Finding]:
    """Where no GPU's memory can run out, or nobody knows what would fit, no try follows."""
    reason = _why_never(view) if tries(view.plan.guard.memory_retries) > 0 else ""
    if reason:
        yield Finding(
            id="tries-idle",
            severity="hint",
            title=_("This run is never tried again with less memory, though the plan allows it."),
            detail=reason,
            arguments=(MEMORY,),
            fixes=(write({MEMORY: 0}, _("do not try again by itself"), identity="never", safe=True),),
            sources=("S10",),
        )


def _why_never(view: View) -> str:
    if practises(view) or view.facts.gpu == ():
        return _("It trains without an NVIDIA GPU, so no GPU's memory can run out.")
    forecast = forecast_memory(view)
    if forecast.unknown is not None:
        return _(
            "What would fit is worked out from a forecast of memory, and there is none. {reason}"
        ).format(reason=forecast.unknown)
    return ""


RULES = (
    Rule("tries", check_tries, ("S10",), lambda: _("Tries of a run by itself beyond what is made")),
    Rule(
        "tries-idle",
        check_memory_tries,
        ("S10",),
        lambda: _("Tries with less memory that it never comes to"),
    ),
)
