"""What a comparison of runs says: the document of ``compare --json``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.runs.records import Versioned
from gui.engine.runs.status import VerdictWord

Cell = str | int | float | bool | None


class ComparedRun(Document):
    """One of the runs.

    Attributes:
        name: The run's.
        folder: Where it is.
        plan_name: The plan's.
        verdict: How it ended, None while it has not.
        reason: What decided the verdict.
        practice: Whether the practice trainer ran.
        images_per_step: Batch size × accumulation × processes; None where it cannot be told.
    """

    name: str
    folder: Path
    plan_name: str = ""
    verdict: VerdictWord | None = None
    reason: str = ""
    practice: bool = False
    images_per_step: int | None = None


class ComparedRow(Document):
    """One thing, of each run.

    Attributes:
        id: The argument, the key of the dataset file, or what it is.
        title: ``id`` for people.
        values: Of each run, None where it has none.
        shown: ``values`` for people.
        origins: Who said so: ``plan``, ``preset:NAME``, ``family``, ``program``; None where there is no
            value, or nobody knows. Empty for what nobody sets.
        differs: Whether they are not all the same.
        place: Whether it only says where something lies or what it is called.
    """

    id: str
    title: str = Field(default="", exclude=True)
    values: tuple[Cell, ...]
    shown: tuple[str, ...] = Field(default=(), exclude=True)
    origins: tuple[str | None, ...] = ()
    differs: bool
    place: bool = False


class LossTable(Document):
    """Mean losses over stretches of the training.

    Attributes:
        by: What is counted.
        ends: Where each stretch ends.
        losses: Of each run, of each stretch; None where it has no finite loss there.
    """

    by: Literal["steps", "images"]
    ends: tuple[int, ...]
    losses: tuple[tuple[float | None, ...], ...]


class ComparedSample(Document):
    """One sample image.

    Attributes:
        path: Where.
        step: The optimizer step that it was drawn after; None where it is not known.
        epoch: The epoch, where the name tells it.
    """

    path: Path
    step: int | None = None
    epoch: int | None = None


class SampleGroup(Document):
    """Samples that were drawn from the same prompt with the same seed (knowledge S8).

    Attributes:
        prompt: The prompt with its options; the number of it where its words are not known.
        seed: None where each sample had another one.
        samples: Of each run, in order of steps.
    """

    prompt: str
    seed: int | None = None
    samples: tuple[tuple[ComparedSample, ...], ...]


class Comparison(Versioned):
    """Two or more runs, side by side.

    Attributes:
        runs: Which.
        arguments: Differing ones first, in the order of the command; what only names places is last.
        dataset: Likewise of the dataset file, with what the trainer counted.
        environment: Likewise what it ran on.
        results: How each went.
        losses: By steps, and by images where these are known of all.
        samples: What can be put side by side.
    """

    runs: tuple[ComparedRun, ...]
    arguments: tuple[ComparedRow, ...] = ()
    dataset: tuple[ComparedRow, ...] = ()
    environment: tuple[ComparedRow, ...] = ()
    results: tuple[ComparedRow, ...] = ()
    losses: tuple[LossTable, ...] = ()
    samples: tuple[SampleGroup, ...] = ()
