"""Reads what a rehearsal has shown from its folder, and says whether to launch the plan."""

from __future__ import annotations

import contextlib
import math
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median

from pydantic import ValidationError

from gui.engine.documents import read_json, write_atomically
from gui.engine.errors import CannotRead
from gui.engine.hardware.memory.forecasts import MemoryForecast, PhaseName
from gui.engine.hardware.memory.words import phase_words
from gui.engine.paths import Home
from gui.engine.quantities import GIB
from gui.engine.runs.events import FileKind, read_events
from gui.engine.runs.figures import size
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.measured_memory import RunMemory, measured_memory
from gui.engine.runs.phase_names import PHASE_NAMES
from gui.engine.runs.records import Manifest
from gui.engine.runs.rehearsal_result import RehearsalOrder, RehearsalResult, RehearsedPhase
from gui.engine.runs.smaller_plan import SmallerPlan, ran_out, smaller_plan_or_none
from gui.engine.runs.status import RunStatus
from gui.engine.texts import _
from gui.engine.trainer.events import Phase, Step
from gui.engine.trainer.events import PhaseName as TrainerPhase

RESULT_NAME = "rehearsal.json"
SCRATCH_NAME = "scratch"

FEWEST_STEPS = 3
"""The first two are slower than all others."""

RISEN = 1.1
"""A loss this many times its beginning has risen, whatever chance does from step to step."""


@dataclass
class _Story:
    """What happened when: seconds of each phase, and each step with its loss."""

    seconds: dict[PhaseName, float] = field(default_factory=dict)
    saves: int = 0
    samples: int = 0
    steps: list[Step] = field(default_factory=list)
    trained_from: float | None = None

    @property
    def losses(self) -> list[float]:
        told = (step.avr_loss if step.loss is None else step.loss for step in self.steps)
        return [loss for loss in told if loss is not None]

    @property
    def pace(self) -> float | None:
        """Seconds a step, of the usual step: one that waits for a disk does not count."""
        times = [step.t for step in self.steps if step.t is not None]
        if len(times) < FEWEST_STEPS:
            return None
        return median(after - before for before, after in pairwise(times[1:]))


def scratch_of(run: RunFolder) -> Path:
    """Return where a rehearsal keeps copies of images, and what its trainer writes."""
    return run.path / SCRATCH_NAME


def conclude_rehearsal(run: RunFolder) -> RehearsalResult:
    """Write down what a rehearsal that is over has shown, and remove all but its record.

    Args:
        run: Its folder.

    Raises:
        CannotRead: Its record is damaged.
        CannotWrite: The disk is full.
    """
    result = _read(run)
    write_atomically(run.path / RESULT_NAME, result.model_dump_json(by_alias=True, indent=1) + "\n")
    shutil.rmtree(scratch_of(run), ignore_errors=True)
    return result


def rehearsal_result(run: RunFolder) -> RehearsalResult:
    """Return what a rehearsal has shown.

    Args:
        run: Its folder; where it is not over yet, what it has shown so far.

    Raises:
        CannotRead: It is no rehearsal, or its record is damaged.
    """
    with contextlib.suppress(CannotRead, ValidationError):
        return RehearsalResult.model_validate(read_json(run.path / RESULT_NAME))
    return _read(run)


def rehearsals_in(home: Home) -> list[RunFolder]:
    """Return the rehearsals that are kept, the newest first."""
    if not home.rehearsals.is_dir():
        return []
    folders = [RunFolder(path) for path in sorted(home.rehearsals.iterdir(), reverse=True)]
    return [run for run in folders if run.exists()]


def _read(run: RunFolder) -> RehearsalResult:
    manifest, status = Manifest.read(run.manifest), RunStatus.read(run.status)
    order = manifest.rehearsal
    if order is None:
        raise CannotRead(run.manifest, _("this run is no rehearsal"))
    story, memory = _story(run), measured_memory(run)
    forecast = manifest.memory.forecast if manifest.memory else MemoryForecast()
    phases = tuple(_phases(story, memory, forecast))
    saved = {file.kind: file.size for file in status.files if file.complete}
    shown = RehearsalResult(
        run=run.name,
        folder=run.path,
        practice=manifest.practice,
        order=order,
        steps=len(story.steps),
        losses=tuple(story.losses),
        finite=all(map(math.isfinite, story.losses)) if story.losses else None,
        falling=_is_falling(story.losses) if order.kind == "isolation" else None,
        phases=phases,
        peak=max((phase for phase in phases if phase.measured), key=_measured, default=None),
        seconds_per_step=story.pace,
        start_seconds=_start(story),
        whole_seconds=_whole_seconds(story, order),
        save_bytes=saved.get("model"),
        state_bytes=saved.get("state"),
        sample_bytes=_size_of(status.last_sample),
        whole_bytes=_whole_bytes(saved, order),
    )
    judged = _judged(shown, status, memory)
    return _with_way_out(judged, smaller_plan_or_none(run)) if ran_out(status) else judged


def _with_way_out(result: RehearsalResult, found: SmallerPlan | None) -> RehearsalResult:
    """Say what would fit where memory ran out, as the banner of a run does."""
    if found is None:
        return result
    changes = found.changes if found.advised.fits else {}
    return result.model_copy(update={"notes": (*found.steps(), *result.notes), "changes": changes})


def _story(run: RunFolder) -> _Story:
    story, since, last = _Story(), 0.0, 0.0
    name: TrainerPhase = "loading"
    for event in read_events(run.events):
        last = last if event.t is None else max(last, event.t)
        if isinstance(event, Step):
            story.steps.append(event)
        if isinstance(event, Phase) and event.t is not None:
            _add(story, name, event.t - since)
            name, since = event.phase, event.t
            if name == "training" and story.trained_from is None:
                story.trained_from = event.t
            story.saves += name == "saving"
            story.samples += name == "sampling"
    _add(story, name, last - since)
    return story


def _add(story: _Story, name: TrainerPhase, seconds: float) -> None:
    known = PHASE_NAMES.get(name)
    if known is not None:
        story.seconds[known] = story.seconds.get(known, 0.0) + max(0.0, seconds)


def _phases(story: _Story, memory: RunMemory, forecast: MemoryForecast) -> Iterator[RehearsedPhase]:
    for name, seconds in story.seconds.items():
        seen = [
            peaks.process or peaks.reserved or 0
            for gpu in memory.gpus
            for peaks in gpu.phases
            if PHASE_NAMES.get(peaks.phase) == name
        ]
        most, thought = max(seen, default=0), forecast.phase(name)
        yield RehearsedPhase(
            name=name,
            seconds=round(seconds, 2),
            measured=round(most / GIB, 3) if most else None,
            low=thought.low if thought else None,
            likely=thought.likely if thought else None,
            high=thought.high if thought else None,
        )


def _measured(phase: RehearsedPhase) -> float:
    return phase.measured or 0.0


def _is_falling(losses: Sequence[float]) -> bool | None:
    """Return whether a loss fell; None where chance from step to step hides it."""
    third = len(losses) // 3
    if third == 0 or not all(map(math.isfinite, losses)):
        return None
    before, after = fmean(losses[:third]), fmean(losses[-third:])
    if after < before:
        return True
    return False if after > RISEN * before else None


def _start(story: _Story) -> float | None:
    """Return the seconds before training, and what the first step took beyond the usual one."""
    first = story.steps[0].t if story.steps else None
    if first is None or story.trained_from is None:
        return None
    slow = max(0.0, first - story.trained_from - (story.pace or 0.0))
    return story.seconds.get("load", 0.0) + slow


def _whole_seconds(story: _Story, order: RehearsalOrder) -> float | None:
    start = _start(story)
    if story.pace is None or start is None or order.total_steps is None:
        return None
    caching = story.seconds.get("latents", 0.0) + story.seconds.get("text", 0.0)
    images = order.total_images or order.images
    saving = story.seconds.get("saving", 0.0) / max(1, story.saves) * order.saves
    return round(start + caching / order.images * images + story.pace * order.total_steps + saving, 1)


def _whole_bytes(saved: Mapping[FileKind, int], order: RehearsalOrder) -> int | None:
    if "model" not in saved:
        return None
    return saved["model"] * order.saves + saved.get("state", 0) * order.states + order.other_bytes


def _size_of(path: Path | None) -> int | None:
    try:
        return path.stat().st_size if path else None
    except OSError:
        return None


def _judged(shown: RehearsalResult, status: RunStatus, memory: RunMemory) -> RehearsalResult:
    verdict = status.verdict
    notes = tuple(_notes(shown, status))
    if verdict is None or (verdict.verdict == "stopped" and verdict.reason != "guard"):
        return shown.model_copy(update={"notes": (_("It was stopped before it could tell."), *notes)})
    reasons = tuple(_reasons(shown, status, spilled=memory.spilled))
    return shown.model_copy(
        update={"verdict": "no-go" if reasons else "go", "reasons": reasons, "notes": notes}
    )


def _reasons(shown: RehearsalResult, status: RunStatus, *, spilled: bool) -> Iterator[str]:
    """Yield why the plan had better not be launched."""
    verdict, order = status.verdict, shown.order
    if verdict is not None and verdict.verdict != "finished":
        yield verdict.sentence
        yield from (cause.title for cause in verdict.causes[:2])
    if shown.finite is False and order.kind == "isolation":
        yield _("The loss is no number even on one or two images: look at the data and the precision.")
    if shown.falling is False:
        yield _("On one or two images the loss rises: the settings themselves do not train.")
    if spilled:
        yield _("The GPU’s memory spilled over into RAM: every step would take many times as long.")
    if (
        shown.whole_bytes is not None
        and order.free_bytes is not None
        and shown.whole_bytes > order.free_bytes
    ):
        yield _("All that the plan saves takes {needed}; on the disk {free} are free.").format(
            needed=size(shown.whole_bytes), free=size(order.free_bytes)
        )


def _notes(shown: RehearsalResult, status: RunStatus) -> Iterator[str]:
    """Yield what else is worth knowing."""
    order, peak = shown.order, shown.peak
    if shown.practice:
        yield _("The practice trainer ran: what it shows holds for no other.")
    if peak is None:
        yield status.gpu_problem or _("No memory of a GPU was measured.")
        return
    words, most = phase_words()[peak.name], _measured(peak)
    if order.free_gib is not None and most > order.free_gib - order.reserve_gib:
        yield _("It is tight: {phase} took {gib:.1f} GiB of {free:.1f} GiB that were free.").format(
            phase=words, gib=most, free=order.free_gib
        )
    for phase in shown.phases:
        if phase.measured and phase.high is not None and phase.low is not None:
            yield from _against_forecast(phase, phase.measured, phase.low, phase.high)


def _against_forecast(phase: RehearsedPhase, measured: float, low: float, high: float) -> Iterator[str]:
    if low <= measured <= high:
        return
    text = (
        _("{phase} took {gib:.1f} GiB, more than forecast ({low:.1f} to {high:.1f}).")
        if measured > high
        else _("{phase} took {gib:.1f} GiB, less than forecast ({low:.1f} to {high:.1f}).")
    )
    yield text.format(phase=phase_words()[phase.name], gib=measured, low=low, high=high)
