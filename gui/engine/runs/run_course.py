"""What the step counts of one run mean for the whole training, whose first part an earlier run may be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

from gui.engine.documents import Document, iterate_json_lines
from gui.engine.errors import CannotContinue, PreflightError
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.launched import LaunchedSettings, launched_settings
from gui.engine.runs.records import Manifest
from gui.engine.texts import _
from gui.engine.trainer.resume_course import ResumeSetting
from gui.engine.trainer.saved_state import state_numbers

ContinueKind = Literal["state", "weights"]
"""From what a training can go on."""

BATCHES, WHOLE = "num batches per epoch", "total optimization steps"
"""What the trainer prints before its first step (train_network.py:985-1000)."""


class RunCourse(Document):
    """Where a run stands in the whole training.

    Attributes:
        setting: What decided how its trainer counts.
        begun_at: Optimizer steps that were behind it when it began.
        counted_from: What its own count was then.
        whole: Optimizer steps of the whole training, as it was planned.
    """

    setting: ResumeSetting
    begun_at: int
    counted_from: int
    whole: int

    @property
    def planned(self) -> ResumeSetting:
        """The whole training as it was planned, from its very beginning."""
        return replace(self.setting, whole=self.whole, begins_at=0, skips=False)

    def done(self, counted: int) -> int:
        """Return how many steps of the whole training are done at one of the run's own counts.

        Args:
            counted: As in the names and the metadata of its files.
        """
        return self.begun_at - self.counted_from + counted


def course_of(run: RunFolder) -> RunCourse:
    """Read where a run stands.

    Args:
        run: The folder.

    Raises:
        CannotContinue: It never came so far as to say how much it trains.
    """
    settings = launched_settings(run)
    header = _header(run)
    whole, batches = header.get(WHOLE, 0), header.get(BATCHES, 0)
    if whole < 1 or batches < 1:
        raise CannotContinue(run.path, _("the run ended before it said how many steps it would do"))
    setting = ResumeSetting(
        whole=whole,
        batches=batches,
        accumulation=max(1, int(settings.number("gradient_accumulation_steps") or 1)),
        counts=settings.flag("network_module"),
    )
    if not settings.resumed:
        return RunCourse(setting=setting, begun_at=0, counted_from=0, whole=whole)
    begun_at = _begun_at(run, settings)
    named = settings.number("initial_step")
    setting = setting.at(
        begun_at if named is None else int(named), skips=settings.flag("skip_until_initial_step")
    )
    course = setting.course()
    if course is None:  # it was refused at once, and has saved nothing
        raise CannotContinue(run.path, _("all its steps had been done before it began"))
    return RunCourse(
        setting=setting,
        begun_at=begun_at,
        counted_from=course.counts_from,
        whole=begun_at + course.steps,
    )


def state_done(source: Path, course: RunCourse) -> int | None:
    """Return how many steps of the whole training are behind a state of a run; None where it tells none."""
    numbers = state_numbers(source)
    if numbers.counted is not None:
        numbers = numbers.model_copy(update={"counted": course.done(numbers.counted)})
    return numbers.behind


def _begun_at(run: RunFolder, settings: LaunchedSettings) -> int:
    """Return how many steps were behind the state that a run went on from; 0 where nobody knows any more."""
    try:
        noted = Manifest.read(run.manifest).begun_at
    except PreflightError:
        noted = None
    if noted is None:
        noted = state_numbers(Path(settings.text("resume"))).behind
    return noted or 0


def _header(run: RunFolder) -> dict[str, int]:
    """Return the whole numbers that the trainer printed about the run before its first step."""
    found: dict[str, int] = {}
    try:
        for row in iterate_json_lines(run.events):
            if row.get("event") == "step":
                break
            name, value = row.get("name"), row.get("value")
            if row.get("event") == "setting" and isinstance(name, str) and isinstance(value, int):
                found[name] = value
    except OSError:
        return {}
    return found
