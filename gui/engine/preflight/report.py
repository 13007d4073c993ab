"""What ``check --json`` prints: findings, steps and forecast of one plan. An interface: see cli.md."""

from __future__ import annotations

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.findings import CheckVerdict, Finding

SCHEMA = 1


class Steps(Document):
    """How much would be trained.

    Attributes:
        images: Training images, regularisation images not counted.
        repeats: Where all subsets have the same; None otherwise.
        batches_per_epoch: Batches of one epoch over all datasets.
        epochs: Epochs, the last one perhaps cut short.
        total_steps: Optimizer steps of the whole run.
    """

    images: int | None = None
    repeats: int | None = None
    batches_per_epoch: int | None = None
    epochs: int | None = None
    total_steps: int | None = None


class Resume(Document):
    """What resuming from a saved state would do.

    Attributes:
        step: Optimizer steps behind the state, over all its trainings.
        whole: Those of the whole training.
        steps: Those that the trainer would do.
        overwrites: Names in the output folder that it would write over.
        sentence: All that in words.
    """

    step: int
    whole: int
    steps: int
    overwrites: tuple[str, ...] = ()
    sentence: str


class VramForecast(Document):
    """The peak of GPU memory, GiB."""

    low: float
    likely: float
    high: float


class Forecast(Document):
    """What the run would need.

    Attributes:
        vram_gib: GPU memory; None while it cannot be forecast.
        disk_gib: What it would write, GiB.
        seconds: Duration; None while nothing like it was measured on this machine.
    """

    vram_gib: VramForecast | None = None
    disk_gib: float | None = None
    seconds: float | None = None


class CheckReport(Document):
    """The answer of preflight.

    Attributes:
        verdict: ``stop`` when a finding blocks the launch, ``caution`` with dangers or warnings.
        script: The training script; empty when nothing tells which.
        family: The plan's family.
        findings: The worst first.
        steps: How much would be trained; None when the images are not known.
        forecast: What it would need.
        resume: What resuming would do; None for a plan that resumes nothing, or where it is not known. The
            document of the command line, which is fixed, has none of it.
    """

    schema_: int = Field(default=SCHEMA, alias="schema")
    verdict: CheckVerdict
    script: str
    family: str
    findings: tuple[Finding, ...]
    steps: Steps | None = None
    forecast: Forecast = Field(default_factory=Forecast)
    resume: Resume | None = Field(default=None, exclude=True)
