"""What a forecast of memory takes from measured runs: three numbers, each with how sure it is."""

from __future__ import annotations

from pydantic import Field

from gui.engine.documents import Document

MOST = 1000.0
"""No number is as large, be it GiB or a multiplier: a file that says so is damaged."""


class Estimate(Document):
    """A number and its standard deviation.

    Attributes:
        mean: The most likely value.
        deviation: How far off it may be, as a standard deviation.
    """

    mean: float = Field(ge=0.0, le=MOST)
    deviation: float = Field(ge=0.0, le=MOST)


class MemoryCorrection(Document):
    """How this machine and family differ from the traced tables.

    A forecast is ``context + fixed + activation · activations + fragmentation · spare``: fixed is what
    weights, gradients and states weigh, spare is what the traced allocator held beyond what was live.

    Attributes:
        context_gib: What the driver takes for a process before the first tensor, GiB.
        activation: By how much activations are larger than traced; 1 is as traced.
        fragmentation: By how much the allocator's spare is larger than traced; 1 is as traced.
        runs: How many measured runs it rests on; 0 for the priors.
    """

    context_gib: Estimate
    activation: Estimate
    fragmentation: Estimate
    runs: int = Field(default=0, ge=0)
