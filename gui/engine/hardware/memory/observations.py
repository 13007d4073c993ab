"""What a run has measured of its own memory, beside what was forecast: the food of learning."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.hardware.memory.forecasts import MemoryForecast
from gui.engine.hardware.memory.ladder import Ways
from gui.engine.hardware.memory.question import MemoryQuestion
from gui.engine.hardware.memory.room import Room

MOST_GIB = 1e6
"""More is no memory of a GPU, nor of all there are."""

Amount = Annotated[float, Field(ge=0, le=MOST_GIB)]
Measured = Annotated[float, Field(gt=0, le=MOST_GIB)] | None


class Machine(Document):
    """What learned numbers hold for: a GPU, and the software between it and the trainer.

    Attributes:
        gpu: The GPU's lasting name.
        name: Its model, for reading.
        torch: Version of the trainer's torch.
        driver: Version of the driver.
    """

    gpu: str
    name: str = ""
    torch: str = ""
    driver: str = ""

    @property
    def software(self) -> str:
        """What a context's size belongs to: both versions in one word."""
        return f"torch {self.torch or '?'}, driver {self.driver or '?'}"


class MemoryExpectation(Document):
    """What was forecast of a run before it was launched; kept with it, to learn from.

    Attributes:
        question: What was asked.
        forecast: What was answered.
        room: What memory the GPU had for it then; None when not known.
        ways: What of the plan could have been changed.
    """

    question: MemoryQuestion
    forecast: MemoryForecast
    room: Room | None = None
    ways: Ways = Ways()


class MeasuredStep(Document):
    """What the training steps of a run needed of one GPU, GiB; None where nobody told.

    Attributes:
        allocated: The most that tensors took, by torch.
        reserved: The most that torch took from the driver.
        process: The most that the process took, by the driver.
        censored: The run was at the limit: it would have taken more. What was measured is a lower bound.
    """

    allocated: Measured = None
    reserved: Measured = None
    process: Measured = None
    censored: bool = False

    @property
    def tells(self) -> bool:
        """Whether there is anything to learn from."""
        return not (self.allocated is None and self.reserved is None and self.process is None)


class Observation(Document):
    """A run's measured step beside its forecast as traced, before any correction; GiB.

    Attributes:
        run: The run's name.
        at: Seconds since 1970.
        source: A whole run, or a rehearsal.
        software: As ``Machine.software``.
        family: Whose table was asked.
        checkpointing: As in the question: activations differ.
        attention: Likewise.
        fixed: Weights, adapter, gradients and states.
        activations: As traced.
        spare: What the traced allocator held beyond what was live.
        measured: What came of it.
    """

    run: str = ""
    at: float = 0.0
    source: Literal["run", "rehearsal"] = "run"
    software: str
    family: str
    checkpointing: bool
    attention: str
    fixed: Amount
    activations: Amount
    spare: Amount
    measured: MeasuredStep

    @property
    def key(self) -> str:
        """What the multiplier of activations belongs to."""
        return activation_key(self.family, self.attention, checkpointing=self.checkpointing)


def activation_key(family: str, attention: str, *, checkpointing: bool) -> str:
    """Return the name of a multiplier of activations."""
    return f"{family}, {'checkpointing' if checkpointing else 'no checkpointing'}, {attention}"


def observe(
    expected: MemoryExpectation,
    measured: MeasuredStep,
    machine: Machine,
    *,
    run: str = "",
    at: float = 0.0,
    source: Literal["run", "rehearsal"] = "run",
) -> Observation | None:
    """Put a run's figures beside its forecast.

    Args:
        expected: What was forecast before the launch.
        measured: What came of it.
        machine: Where.
        run: The run's name.
        at: Seconds since 1970.
        source: What was run.

    Returns:
        None where there was no forecast of a step, one of more than any memory is, or nothing was measured.
    """
    question, forecast = expected.question, expected.forecast
    step = forecast.phase("step")
    if step is None or not measured.tells:
        return None
    fixed, traced = step.parts.certain, step.sensitivity
    if not all(0 <= each <= MOST_GIB for each in (fixed, traced.activation, traced.fragmentation)):
        return None
    return Observation(
        run=run,
        at=at,
        source=source,
        software=machine.software,
        family=forecast.family or question.family,
        checkpointing=question.checkpointing,
        attention=question.attention,
        fixed=fixed,
        activations=traced.activation,
        spare=traced.fragmentation,
        measured=measured,
    )
