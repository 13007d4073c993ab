"""What the step counts of one run mean for the whole training, whose first part an earlier run may be."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from gui.engine.documents import Document, iterate_json_lines
from gui.engine.errors import CannotContinue, PreflightError
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.launched import LaunchedSettings, launched_settings
from gui.engine.runs.records import Manifest
from gui.engine.texts import _
from gui.engine.trainer.resume_course import ResumeSetting
from gui.engine.trainer.saved_state import StateNumbers, state_numbers

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
        processes: How many train together.
    """

    setting: ResumeSetting
    begun_at: int
    counted_from: int
    whole: int
    processes: int = 1

    @property
    def planned(self) -> ResumeSetting:
        """The whole training as it was planned, from its very beginning."""
        return replace(self.setting, whole=self.whole, begins_at=0, skips=False)

    @property
    def steps(self) -> int:
        """Steps that the run does."""
        return self.whole - self.begun_at

    def done(self, counted: int) -> int:
        """Return how many steps of the whole training are done at one of the trainer's own counts.

        Args:
            counted: As in the names and the metadata of its files, and in the tracker.
        """
        return self.begun_at + self.run_step(counted)

    def run_step(self, counted: int) -> int:
        """Return the run's step, from 1 as its bar counts, at one of the trainer's own counts."""
        return counted - self.counted_from


class CourseReader:
    """Works a run's course out from what its trainer prints before the first step.

    Args:
        settings: With what it was launched.
        state: What the state that it goes on from told; None without one.
    """

    def __init__(self, settings: LaunchedSettings, state: StateNumbers | None = None) -> None:
        self._settings = settings
        self._state = state or StateNumbers()
        self._header: dict[str, int] = {}

    def take(self, name: str, value: Any) -> None:
        """Take a fact that the trainer printed."""
        if name in (BATCHES, WHOLE) and isinstance(value, int) and value > 0:
            self._header[name] = value

    @property
    def course(self) -> RunCourse | None:
        """The course; None while it is not known, or where nothing remained to be done."""
        if len(self._header) < 2:
            return None
        settings = self._settings
        setting = ResumeSetting(
            whole=self._header[WHOLE],
            batches=self._header[BATCHES],
            accumulation=max(1, int(settings.number("gradient_accumulation_steps") or 1)),
            counts=settings.flag("network_module"),
        )
        processes = max(1, int(settings.number("num_processes") or 1))
        if not settings.resumed:
            return RunCourse(
                setting=setting, begun_at=0, counted_from=0, whole=setting.whole, processes=processes
            )
        setting = setting.at(self._begins_at(setting), skips=settings.flag("skip_until_initial_step"))
        found = setting.course()
        if found is None:  # it was refused at once, and has saved nothing
            return None
        begun_at = self._state.behind(processes) or 0
        return RunCourse(
            setting=setting,
            begun_at=begun_at,
            counted_from=found.counts_from,
            whole=begun_at + found.steps,
            processes=processes,
        )

    def _begins_at(self, setting: ResumeSetting) -> int:
        """Return where the trainer takes the training to begin (train_network.py:1232-1250)."""
        step, epoch = self._settings.number("initial_step"), self._settings.number("initial_epoch")
        if step is not None:
            return int(step)
        if epoch is not None:
            return (int(epoch) - 1) * setting.steps_per_epoch
        return self._state.counted or 0


def course_of(run: RunFolder) -> RunCourse:
    """Read where a run stands.

    Args:
        run: The folder.

    Raises:
        CannotContinue: It never came so far as to say how much it trains.
    """
    settings = launched_settings(run)
    reader = CourseReader(settings, _resumed_from(run, settings))
    for name, value in _header(run):
        reader.take(name, value)
    course = reader.course
    if course is None:
        raise CannotContinue(run.path, _("the run ended before it said how many steps it would do"))
    return course


def state_done(source: Path, course: RunCourse) -> int | None:
    """Return how many steps of the whole training are behind a state of a run; None where it tells none."""
    numbers = state_numbers(source)
    if numbers.counted is not None:
        numbers = numbers.model_copy(update={"counted": course.done(numbers.counted)})
    return numbers.behind(course.processes)


def _resumed_from(run: RunFolder, settings: LaunchedSettings) -> StateNumbers | None:
    """Return what is known of the state that a run went on from; it may be gone by now."""
    try:
        noted = Manifest.read(run.manifest).resumed_from
    except PreflightError:
        noted = None
    resume = settings.text("resume")
    return noted or (state_numbers(Path(resume)) if resume else None)


def _header(run: RunFolder) -> Iterator[tuple[str, Any]]:
    """Yield the facts that the trainer printed about the run before its first step."""
    with contextlib.suppress(OSError):
        for row in iterate_json_lines(run.events):
            if row.get("event") == "step":
                return
            if row.get("event") == "setting":
                yield str(row.get("name")), row.get("value")
