"""What a forecast of memory says: phases with their parts, the peak, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from gui.engine.documents import Document

PhaseName = Literal["latents", "text", "load", "step", "samples", "saving"]


class MemoryParts(Document):
    """What makes a phase's peak, GiB.

    Attributes:
        weights: The model's weights, text encoders and VAE that are on the GPU.
        adapter: The network that is trained beside the model.
        gradients: Gradients that are there at the peak.
        optimizer: The optimizer's state, and temporary tensors of its step.
        activations: What is worked with, and copies of weights in another precision.
        context: What the driver takes for the process.
        fragmentation: What PyTorch's allocator holds beyond what is live.
    """

    weights: float = 0.0
    adapter: float = 0.0
    gradients: float = 0.0
    optimizer: float = 0.0
    activations: float = 0.0
    context: float = 0.0
    fragmentation: float = 0.0

    @property
    def total(self) -> float:
        """All of it, GiB."""
        return float(sum(self.model_dump().values()))

    @property
    def certain(self) -> float:
        """What is counted, not estimated: it is there whatever kernels do, GiB."""
        return self.weights + self.adapter + self.gradients + self.optimizer


class Sensitivity(Document):
    """By how much a peak changes with each number of a correction, GiB for each 1.0 of it.

    Attributes:
        context: For each GiB of context.
        activation: What activations were traced as.
        fragmentation: What the allocator's spare was traced as.
    """

    context: float = 1.0
    activation: float = 0.0
    fragmentation: float = 0.0


class MemoryPhase(Document):
    """The peak of one phase, GiB.

    Attributes:
        name: Caching latents, encoding texts, loading, a training step from the second on, samples, saving.
        low: It will hardly be less.
        likely: The most likely value.
        high: It will hardly be more.
        parts: What makes the likely value.
        sensitivity: What learning from measured runs needs.
    """

    name: PhaseName
    low: float
    likely: float
    high: float
    parts: MemoryParts
    sensitivity: Sensitivity = Sensitivity()


def peak_of(phases: Sequence[MemoryPhase]) -> MemoryPhase | None:
    """Return the phase that needs most, with low and high of the whole run; None where there are none.

    A phase that is likely to need less may still need more than it, where less is known of it.

    Args:
        phases: Of one run.
    """
    most = max(phases, key=lambda phase: phase.likely, default=None)
    if most is None:
        return None
    low, high = max(phase.low for phase in phases), max(phase.high for phase in phases)
    return most.model_copy(update={"low": low, "high": high})


class MemoryForecast(Document):
    """How much memory of the GPU a plan needs.

    Attributes:
        phases: In the order of a run; empty when unknown.
        unknown: Why nothing can be said, in one sentence; None when it can.
        basis: What it rests on, in words.
        family: Whose table it rests on; empty when unknown.
    """

    phases: tuple[MemoryPhase, ...] = ()
    unknown: str | None = None
    basis: tuple[str, ...] = ()
    family: str = ""

    @property
    def peak(self) -> MemoryPhase | None:
        """What the whole run needs, as ``peak_of`` has it; None when unknown."""
        return peak_of(self.phases)

    def phase(self, name: PhaseName) -> MemoryPhase | None:
        """Return one phase; None when the run has no such phase or nothing is known."""
        return next((phase for phase in self.phases if phase.name == name), None)
