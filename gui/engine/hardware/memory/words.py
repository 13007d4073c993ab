"""What phases and parts of a memory forecast are called, everywhere alike."""

from __future__ import annotations

from gui.engine.hardware.memory.advice import Advice, Advised
from gui.engine.hardware.memory.correction import Estimate
from gui.engine.hardware.memory.forecasts import MemoryParts, MemoryPhase, PhaseName
from gui.engine.hardware.memory.learning import MemoryLearning
from gui.engine.hardware.memory.room import Room
from gui.engine.plan.changes import changes_in_words
from gui.engine.texts import _


def phase_words() -> dict[PhaseName, str]:
    """Return what phases are called."""
    return {
        "latents": _("caching latents"),
        "text": _("encoding captions"),
        "load": _("loading"),
        "step": _("training step"),
        "samples": _("sample image"),
        "saving": _("saving"),
    }


def part_words() -> dict[str, str]:
    """Return what the parts of a phase are called."""
    return {
        "weights": _("weights"),
        "adapter": _("network"),
        "gradients": _("gradients"),
        "optimizer": _("optimizer"),
        "activations": _("activations"),
        "context": _("driver"),
        "fragmentation": _("fragmentation"),
    }


def parts_in_words(parts: MemoryParts) -> str:
    """Return the parts that can be seen, in GiB: ``weights 6.3, network 0.4``."""
    words = part_words()
    return ", ".join(
        f"{words[name]} {gib:.1f}" for name, gib in parts.model_dump().items() if round(gib, 1) > 0
    )


def range_words(phase: MemoryPhase) -> str:
    """Return what a phase needs, with how sure that is: ``8.3 GiB (7.9–9.4)``."""
    return _("{likely:.1f} GiB ({low:.1f}–{high:.1f})").format(
        likely=phase.likely, low=phase.low, high=phase.high
    )


def bar_sentence(phase: MemoryPhase | None, room: Room | None) -> str:
    """Return all that a bar of memory shows.

    Args:
        phase: What is needed; None where that is not known.
        room: What there is; None where that is not known.
    """
    parts = []
    if phase is not None:
        text = _("{phase}: likely {range}: {parts}")
        words = phase_words()[phase.name]
        parts.append(text.format(phase=words, range=range_words(phase), parts=parts_in_words(phase.parts)))
    if room is not None:
        text = _("{free:.1f} GiB of {total:.1f} GiB are free, {reserve:.1f} GiB should be left over")
        parts.append(text.format(free=room.free, total=room.total, reserve=room.reserve))
    return "; ".join(parts) or _("GPU memory: not known")


def reserve_words(room: Room) -> str:
    """Return what of the free memory should stay free."""
    text = _("Of the free memory {gib:.1f} GiB should be left over, for the desktop and for spikes.")
    return text.format(gib=room.reserve)


def advice_line(advice: Advice) -> str:
    """Return what to do, what that saves and what it costs: ``fp8_base: saves about 2.5 GiB. …``."""
    what = changes_in_words(advice.changes) or advice.reason.rstrip(".")
    text = _("{change}: saves about {gib:.1f} GiB. {cost}")
    return text.format(change=what, gib=advice.saves_gib, cost=advice.cost)


def fitting_words(peak: MemoryPhase, room: Room, advised: Advised | None) -> str:
    """Return whether a plan fits, or would with what is advised.

    Args:
        peak: What it needs.
        room: What there is.
        advised: The cheapest changes with which it would fit; None where none is known.
    """
    if peak.high <= room.usable:
        return _("It fits, and {gib:.1f} GiB are left over.").format(gib=room.usable - peak.high)
    if advised is None or advised.after_gib is None:
        text = _("It may need {gib:.1f} GiB, which does not fit, and nothing that is known would save more.")
        return text.format(gib=peak.high)
    text = (
        _("With all of this it needs hardly more than {gib:.1f} GiB, and fits.")
        if advised.fits
        else _("Even with all of this it may need {gib:.1f} GiB, which does not fit.")
    )
    return text.format(gib=advised.after_gib)


def learned_words(one: MemoryLearning) -> tuple[str, ...]:
    """Return what the runs of a GPU have taught, number by number."""
    words = [
        _("for a process before the first tensor, {software}: {value} GiB").format(
            software=software, value=_number(value)
        )
        for software, value in one.fitted.context_gib.items()
    ]
    words += [
        _("activations of {training}: {value} of what was traced").format(
            training=training, value=_number(value)
        )
        for training, value in one.fitted.activation.items()
    ]
    if one.fitted.fragmentation is not None:
        value = _number(one.fitted.fragmentation)
        words.append(_("the allocator’s spare: {value} of what was traced").format(value=value))
    return tuple(words)


def _number(value: Estimate) -> str:
    return f"{value.mean:.2f} ± {value.deviation:.2f}"
