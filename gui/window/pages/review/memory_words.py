"""The words of the Review page about GPU memory: does it fit, what is the peak, what does advice do."""

from __future__ import annotations

from typing import NamedTuple

from gui.engine.hardware.memory.advice import Advice, Advised
from gui.engine.hardware.memory.forecasts import MemoryPhase
from gui.engine.hardware.memory.ladder import Confidence
from gui.engine.hardware.memory.words import parts_in_words, phase_words, range_words
from gui.engine.preflight.estimate import PlanEstimate
from gui.engine.texts import _
from gui.window.widgets.chip import Tone


class State(NamedTuple):
    """Whether a plan fits: a word and a colour."""

    word: str
    tone: Tone


def state_of(estimate: PlanEstimate | None) -> State:
    """Return whether a plan fits the GPU, with all of its phases."""
    if estimate is None or estimate.unknown is not None or not estimate.phases:
        return State(_("not known"), "neutral")
    room = estimate.room
    if room is None:
        return State(_("forecast"), "accent")
    if max(phase.likely for phase in estimate.phases) > room.free:
        return State(_("does not fit"), "bad")
    if max(phase.high for phase in estimate.phases) > room.usable:
        return State(_("may not fit"), "warn")
    return State(_("fits"), "good")


def peak_words(peak: MemoryPhase, estimate: PlanEstimate) -> str:
    """Return what is likely needed, of what is free, and when."""
    phase = phase_words()[peak.name]
    if estimate.room is None:
        return _("likely {range} · most in: {phase}").format(range=range_words(peak), phase=phase)
    text = _("likely {range} of {free:.1f} free · most in: {phase}")
    return text.format(range=range_words(peak), free=estimate.room.free, phase=phase)


def parts_words(peak: MemoryPhase) -> str:
    """Return what makes the peak."""
    return parts_in_words(peak.parts)


def unknown_words(reason: str) -> str:
    """Return that nothing is known, and why."""
    return _("How much this plan needs is not known. {reason}").format(reason=reason)


def saving_words(advice: Advice) -> str:
    """Return what advice saves, or takes."""
    if advice.saves_gib < 0:
        return _("takes {gib:.1f} GiB more").format(gib=-advice.saves_gib)
    return _("saves {gib:.1f} GiB").format(gib=advice.saves_gib)


def confidence_words(confidence: Confidence) -> str:
    """Return how sure a saving is."""
    return {"high": _("sure"), "medium": _("likely"), "low": _("uncertain")}[confidence]


class AdviceShown(NamedTuple):
    """What the advice list shows.

    Attributes:
        title: Of the list.
        text: Below it: what it comes to, or why it is empty.
        advised: The advice; None for none.
    """

    title: str
    text: str
    advised: Advised | None = None


def advice_shown(estimate: PlanEstimate | None) -> AdviceShown:
    """Return what to say beside a forecast."""
    plain = _("What would help")
    if estimate is None or estimate.unknown is not None or not estimate.phases:
        return AdviceShown(plain, _("Without a forecast nothing can be advised."))
    room = estimate.room
    if room is None:
        return AdviceShown(plain, _("How much memory the GPU has is not known, so nothing is advised."))
    high = max(phase.high for phase in estimate.phases)
    if high > room.usable:
        return _so_that_it_fits(estimate)
    spare = _("It fits, and {gib:.1f} GiB are left over.").format(gib=room.usable - high)
    if estimate.left_over is not None:
        return AdviceShown(_("What the room is good for"), spare, estimate.left_over)
    return AdviceShown(plain, spare + " " + _("Nothing needs to be changed."))


def _so_that_it_fits(estimate: PlanEstimate) -> AdviceShown:
    advised = estimate.advice
    if advised is None:
        return AdviceShown(_("So that it fits"), _("Nothing that is known would save memory here."))
    if advised.fits:
        text = _("With all of this it needs at most {gib:.1f} GiB, and fits.")
        return AdviceShown(_("So that it fits"), text.format(gib=advised.after_gib or 0.0), advised)
    text = _("Even with all of this it may need {gib:.1f} GiB, which does not fit.")
    return AdviceShown(_("What saves memory"), text.format(gib=advised.after_gib or 0.0), advised)
