"""What a rehearsal is made of and what it says: the models that its record and its answer consist of."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.hardware.memory.forecasts import PhaseName
from gui.engine.trainer.events import Figure

RehearsalKind = Literal["rehearsal", "isolation"]
"""``isolation`` trains on one or two images at a low rate, to tell data from settings (N3)."""


class RehearsalOrder(Document):
    """What a rehearsal stands for: kept in its manifest, written before it begins.

    Attributes:
        kind: Which of the two.
        plan_name: The plan's.
        plan_file: Where it came from.
        bucket: Width and height in pixels of the bucket that is trained on.
        batch: Images at once.
        images: How many are trained on.
        steps: How many steps are trained.
        total_steps: How many the whole plan has; None when not known.
        total_images: How many different images it has; None when not known.
        saves: How many models the whole plan leaves.
        states: How many states it leaves.
        other_bytes: What samples, caches and logs of the whole plan are forecast to take.
        free_gib: What was free of the GPU's memory; None when not known.
        reserve_gib: What of it had better be left over.
        free_bytes: Room on the disk of the plan's own output folder; None when not known.
        output_dir: That folder.
        speed_key: The same for every plan that would be as fast (``runs.earlier``).
    """

    kind: RehearsalKind = "rehearsal"
    plan_name: str = ""
    plan_file: str | None = None
    bucket: tuple[int, int]
    batch: int
    images: int
    steps: int
    total_steps: int | None = None
    total_images: int | None = None
    saves: int = 1
    states: int = 0
    other_bytes: int = 0
    free_gib: float | None = None
    reserve_gib: float = 0.0
    free_bytes: int | None = None
    output_dir: Path | None = None
    speed_key: str = ""


class RehearsedPhase(Document):
    """One phase as it was seen, beside what was forecast of it; memory in GiB, None where nobody told.

    Attributes:
        name: The phase, as the forecast names it.
        seconds: How long it took, all stretches of it together.
        measured: The most that the training took: by the driver, else what torch held.
        low: It was forecast to need hardly less.
        likely: The most likely value.
        high: It was forecast to need hardly more.
    """

    name: PhaseName
    seconds: float
    measured: float | None = None
    low: float | None = None
    likely: float | None = None
    high: float | None = None


class RehearsalResult(Document):
    """What a rehearsal says of a plan.

    Attributes:
        run: The rehearsal's own name.
        folder: Its folder.
        practice: Whether the practice trainer ran.
        order: What it stands for.
        verdict: Whether to launch; None when it was stopped before it could tell.
        reasons: Why not, in plain sentences; empty for ``go``.
        notes: What else is worth knowing, such as that no memory could be measured.
        changes: Where the GPU's memory ran out, what would make the plan fit: target to value; else empty.
        steps: How many steps were trained.
        losses: Of each of them.
        finite: Whether all of them were numbers; None when there was none.
        falling: In an isolation test, whether the loss fell; None when that cannot be told.
        phases: In the order of a run.
        peak: The phase that took most; None where nothing was measured.
        seconds_per_step: From the second step on; None with less than three.
        start_seconds: From the trainer's start to its first step, without caching.
        whole_seconds: What the whole plan will take; None when not known.
        save_bytes: One saved model; None where none was saved.
        state_bytes: One saved state.
        sample_bytes: One sample image.
        whole_bytes: What the whole plan will leave; None when not known.
    """

    schema_: int = Field(default=1, alias="schema")
    run: str
    folder: Path
    practice: bool = False
    order: RehearsalOrder
    verdict: Literal["go", "no-go"] | None = None
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    changes: dict[str, Any] = Field(default_factory=dict)
    steps: int = 0
    losses: tuple[Figure, ...] = ()
    finite: bool | None = None
    falling: bool | None = None
    phases: tuple[RehearsedPhase, ...] = ()
    peak: RehearsedPhase | None = None
    seconds_per_step: float | None = None
    start_seconds: float | None = None
    whole_seconds: float | None = None
    save_bytes: int | None = None
    state_bytes: int | None = None
    sample_bytes: int | None = None
    whole_bytes: int | None = None
