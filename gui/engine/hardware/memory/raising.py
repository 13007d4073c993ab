"""Raises a forecast to what a run was seen to need: after memory ran out, only a lower bound is known."""

from __future__ import annotations

from gui.engine.documents import Document
from gui.engine.hardware.memory.correction import Estimate, MemoryCorrection
from gui.engine.hardware.memory.forecasts import MemoryPhase


class Raise(Document):
    """What is added to the numbers of a machine, so that a forecast reaches what was really needed.

    Attributes:
        context_gib: To what the driver takes, GiB.
        activation: To the multiplier of activations.
        fragmentation: To the multiplier of the allocator's spare.
    """

    context_gib: float = 0.0
    activation: float = 0.0
    fragmentation: float = 0.0

    def applied(self, known: MemoryCorrection) -> MemoryCorrection:
        """Return the numbers with what is added."""
        return known.model_copy(
            update={
                "context_gib": _more(known.context_gib, self.context_gib),
                "activation": _more(known.activation, self.activation),
                "fragmentation": _more(known.fragmentation, self.fragmentation),
            }
        )


def raise_to(phase: MemoryPhase, known: MemoryCorrection, needed_gib: float) -> Raise:
    """Return the likeliest raise with which a phase needs at least so much.

    Each number takes its share by how unsure it is: the most likely point of the three Gaussian priors on
    the plane where the phase needs just that.

    Args:
        phase: As it was forecast.
        known: With which numbers.
        needed_gib: What it was seen to need at the least, GiB.
    """
    gap = needed_gib - phase.likely
    if gap <= 0:
        return Raise()
    slopes = phase.sensitivity
    pulls = (
        known.context_gib.deviation**2 * slopes.context,
        known.activation.deviation**2 * slopes.activation,
        known.fragmentation.deviation**2 * slopes.fragmentation,
    )
    reach = pulls[0] * slopes.context + pulls[1] * slopes.activation + pulls[2] * slopes.fragmentation
    if reach <= 0:
        return Raise(context_gib=gap)
    context, activation, fragmentation = (gap * pull / reach for pull in pulls)
    return Raise(context_gib=context, activation=activation, fragmentation=fragmentation)


def _more(known: Estimate, added: float) -> Estimate:
    return known.model_copy(update={"mean": known.mean + added})
