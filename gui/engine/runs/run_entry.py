"""What the list of runs tells of one run."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.runs.status import RunState, VerdictWord

Condition = Literal["fine", "unattended", "newer", "broken", "foreign"]


class RunEntry(Document):
    """One folder in the place of runs.

    Attributes:
        name: The run's name.
        folder: Where it is.
        condition: ``unattended`` has no supervisor though it is not judged; ``newer`` is of a newer version
            of this program; ``broken`` cannot be read; ``foreign`` is no run.
        problem: What is wrong, in plain words; empty where nothing is.
        plan_name: The plan's.
        practice: Whether the practice trainer runs.
        state: What the run is doing, None where that cannot be read.
        verdict: How it ended, None while it has not.
        sentence: The verdict in words.
        reason: What decided the verdict, for programs.
        step: The last step.
        total: How many there are to be.
        loss: The last finite loss.
        family: The plan's.
        kind: The plan's.
        trainer: What trained: the folder's name and its version.
        started: Seconds since 1970 at which it was launched.
        ended: Seconds since 1970 at which the trainer ended; None while it has not, or nobody saw it.
        duration_seconds: From the trainer's start to its end, or until now.
        last_clean: The newest file that is safe to use.
        checkpoints: How many models it has saved that are still there.
        samples: How many sample images.
        troubles: What goes wrong with it, or did until it ended: ``loss-nonfinite``, ``stalled``, …
        tags: What a person has tagged it with.
        note: What a person has written about it.
        favourite: Whether it bears a star.
        arguments: The trainer's arguments as ``name=value``, one a line, for searches.
        queue_item: The number that it had in the queue; None where it was launched by hand.
    """

    name: str
    folder: Path
    condition: Condition = "fine"
    problem: str = ""
    plan_name: str = ""
    practice: bool = False
    state: RunState | None = None
    verdict: VerdictWord | None = None
    sentence: str = ""
    reason: str = ""
    step: int | None = None
    total: int | None = None
    loss: float | None = None
    family: str = ""
    kind: str = ""
    trainer: str = ""
    started: float | None = None
    ended: float | None = None
    duration_seconds: float | None = None
    last_clean: Path | None = None
    checkpoints: int = 0
    samples: int = 0
    troubles: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    note: str = ""
    favourite: bool = False
    arguments: str = Field(default="", exclude=True, repr=False)
    queue_item: int | None = None
