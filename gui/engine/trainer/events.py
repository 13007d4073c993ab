"""What the trainer said, as typed messages: the words of ``parse --json-lines`` and ``events.jsonl``.

Every event carries ``t``, the seconds since the trainer started where that is known, else None.
A figure that is not finite is written as the string ``"nan"``, ``"inf"`` or ``"-inf"``.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field, PlainSerializer, TypeAdapter

from gui.engine.documents import Document


def _to_json(value: float | None) -> float | str | None:
    if value is None or math.isfinite(value):
        return value
    return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")


Figure = Annotated[
    float | None,
    PlainSerializer(_to_json, return_type=float | str | None, when_used="json"),
]
"""A number that may be missing or not finite."""

PhaseName = Literal[
    "loading", "caching-latents", "caching-text", "training", "validating", "sampling", "saving", "done"
]


class _Event(Document):
    t: float | None = None


class Phase(_Event):
    """The trainer began something else."""

    event: Literal["phase"] = "phase"
    phase: PhaseName


class Progress(_Event):
    """A bar moved; ``name`` is its description, may be empty.

    The bar of training steps, ``steps``, comes so only when it begins at 0; then steps follow.
    """

    event: Literal["progress"] = "progress"
    name: str
    done: int
    total: int | None


class Epoch(_Event):
    """An epoch began; counted from 1."""

    event: Literal["epoch"] = "epoch"
    epoch: int
    total: int


class Step(_Event):
    """One optimizer step was done.

    Attributes:
        step: Its number, from 1, as the bar counts.
        total: How many the bar expects.
        avr_loss: The bar's moving mean over one epoch of batches; sticks at nan (trainer-facts 9).
        loss: The step's own loss from the tracker, None without one.
        rate: Steps a second now, from the last steps' times; the bar's own figure is a whole-run mean.
        epoch: The epoch that it belongs to, as last announced.
    """

    event: Literal["step"] = "step"
    step: int
    total: int | None
    avr_loss: Figure = None
    loss: Figure = None
    rate: float | None = None
    epoch: int | None = None


class LossNonfinite(_Event):
    """A loss that is not finite was seen for the first time, or again after finite ones.

    Attributes:
        step: The step whose loss it is.
        source: ``bar`` for the moving mean, ``tracker`` for the step's own loss.
        value: nan, inf or -inf.
    """

    event: Literal["loss-nonfinite"] = "loss-nonfinite"
    step: int
    source: Literal["bar", "tracker"] = "bar"
    value: Figure = None


class Saved(_Event):
    """The trainer announced that it writes a file; the announcement comes before the writing.

    Attributes:
        path: As the trainer named it.
        kind: What it is.
        final: Whether it is the run's last file, where the trainer's words tell.
    """

    event: Literal["saved"] = "saved"
    path: str
    kind: Literal["model", "state", "sample"]
    final: bool = False


class Setting(_Event):
    """A fact about the run that the trainer printed, such as ``total optimization steps``."""

    event: Literal["setting"] = "setting"
    name: str
    value: int | float | str


class Warned(_Event):
    """A record of level WARNING, a Python warning, or a bare line known to be one.

    Attributes:
        message: Its words.
        source: The trainer's file and line, None where it was not printed.
        count: How often the same words have come by now; told at 1, 2, 4, 8 …
    """

    event: Literal["warning"] = "warning"
    message: str
    source: str | None = None
    count: int = 1


class Error(_Event):
    """A traceback, an ERROR record or a parser's refusal.

    Attributes:
        type: The exception's name, None for a log record.
        message: Its words.
        traceback: The whole text, None for a log record.
        wrapper: Whether it is a launcher's own (accelerate, torchrun), never the cause.
        line: The line of the log, from 1, at which it begins.
        rank: The process of a distributed run that raised it, None where the output does not tell.
    """

    event: Literal["error"] = "error"
    type: str | None = None
    message: str
    traceback: str | None = None
    wrapper: bool = False
    line: int | None = None
    rank: int | None = None


class Exit(_Event):
    """The trainer's process ended.

    Attributes:
        status: Its exit status, negative for a signal, None where it could not be known.
    """

    event: Literal["exit"] = "exit"
    status: int | None


TrainerEvent = Annotated[
    Phase | Progress | Epoch | Step | LossNonfinite | Saved | Setting | Warned | Error | Exit,
    Field(discriminator="event"),
]
TRAINER_EVENT: TypeAdapter[TrainerEvent] = TypeAdapter(TrainerEvent)
