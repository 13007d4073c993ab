"""The words of the Review page about GPU memory: does it fit, what is the peak, what does advice do."""

from __future__ import annotations

from typing import NamedTuple

from gui.engine.hardware.memory.advice import Advice, Advised
from gui.engine.hardware.memory.forecasts import MemoryPhase, peak_of
from gui.engine.hardware.memory.ladder import Confidence
from gui.engine.hardware.memory.words import fitting_words, parts_in_words, phase_words, range_words
from gui.engine.preflight.estimate import PlanEstimate
from gui.engine.texts import _
from gui.window.widgets.chip import Tone


class State(NamedTuple):
    """Whether a plan fits: a word and a colour."""

    word: str
    tone: Tone


def state_of(estimate: PlanEstimate | None) -> State:
    """Return whether a plan fits the GPU, with all of its phases."""
    peak = peak_of(estimate.phases) if estimate else None
    if estimate is None or peak is None:
        return State(_("not known"), "neutral")
    room = estimate.room
    if room is None:
        return State(_("forecast"), "accent")
    if peak.likely > room.free:
        return State(_("does not fit"), "bad")
    if peak.high > room.usable:
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


def unknown_words(reason: str | None) -> str:
    """Return that nothing is known, and why; None where not even the script is known."""
    if reason is None:
        return _("How much this plan needs is not known: nothing tells how it would be trained.")
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
    peak = peak_of(estimate.phases) if estimate else None
    if estimate is None or peak is None:
        return AdviceShown(plain, _("Without a forecast nothing can be advised."))
    room, advised = estimate.room, estimate.advice
    if room is None:
        return AdviceShown(plain, _("How much memory the GPU has is not known, so nothing is advised."))
    text = fitting_words(peak, room, advised)
    if peak.high > room.usable:
        fits = advised is not None and advised.fits
        return AdviceShown(_("So that it fits") if fits else _("What saves memory"), text, advised)
    if estimate.left_over is not None:
        return AdviceShown(_("What the room is good for"), text, estimate.left_over)
    return AdviceShown(plain, text + " " + _("Nothing needs to be changed."))
