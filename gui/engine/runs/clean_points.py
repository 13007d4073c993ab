"""The points of a run from which a training can go on: states and weights that were judged clean."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gui.engine.documents import Document
from gui.engine.errors import CannotContinue, PreflightError
from gui.engine.preflight.state_look import NETWORK_FILES, STATE_END, is_whole_state, look_at_state
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.records import mark_of
from gui.engine.runs.run_course import ContinueKind, RunCourse, course_of, state_done
from gui.engine.runs.series import saved_model
from gui.engine.runs.start import read_status
from gui.engine.runs.status import FileNow, RunStatus
from gui.engine.texts import _
from gui.engine.trainer.tensors import check_tensors

CLEAN = "clean"

UNUSABLE = frozenset({"nonfinite", "incomplete"})
"""Judgements of files from which nothing can go on, whatever is changed."""


class CleanPoint(Document):
    """Something that a training can go on from.

    Attributes:
        path: The state's folder or the file, a kept copy where the trainer has removed its own.
        step: Steps of the whole training that are behind it.
        kind: Which of them.
        sentence: What it is, and why it is taken for clean.
    """

    path: Path
    step: int
    kind: ContinueKind
    sentence: str


def model_of(run: RunFolder, source: Path) -> FileNow | None:
    """Return what is known of a saved model, or of the model that was saved with a state.

    Args:
        run: The folder.
        source: A state's folder, a model file, or a kept copy of one.
    """
    status = read_status(run)
    if status is None:
        return None
    models = (file for file in status.files if file.kind == "model")
    return next((file for file in models if source in (file.path, file.kept_as)), _saved_with(source, status))


def clean_points(run: RunFolder) -> list[CleanPoint]:
    """Return the clean states and weights of a run, the newest first, a state before weights of its step.

    A state is as clean as the model file that was saved with it; where there is none any more its own
    weights are read, which takes as long as reading the file.

    Args:
        run: The folder.
    """
    seen = _seen(run)
    found = [] if seen is None else [*_states(*seen), *_weights(*seen)]
    return sorted(found, key=lambda point: (-point.step, point.kind != "state"))


def lost_points(run: RunFolder) -> list[CleanPoint]:
    """Return the clean weights of a run that are gone, or are other ones by now, the newest first.

    Args:
        run: The folder.
    """
    seen = _seen(run)
    return [] if seen is None else sorted(_weights(*seen, lost=True), key=lambda point: -point.step)


def _seen(run: RunFolder) -> tuple[RunStatus, RunCourse] | None:
    """Return what is known of a run; None where it saved nothing whose step could be told."""
    status = read_status(run)
    try:
        return None if status is None else (status, course_of(run))
    except CannotContinue:
        return None


def _weights(status: RunStatus, course: RunCourse, *, lost: bool = False) -> Iterator[CleanPoint]:
    for file in status.files:
        path = file.kept_as if file.removed else file.path
        if file.kind != "model" or file.judgement != CLEAN or path is None or is_as_judged(file) == lost:
            continue
        counted = saved_model(path).step
        if counted is None and file.step is None:
            continue
        done = course.begun_at + (file.step or 0) if counted is None else course.done(counted)
        text = _("Weights of step {step}: complete, finite, grown no more than before.")
        sentence = text.format(step=f"{done:,}")
        yield CleanPoint(path=path, step=done, kind="weights", sentence=sentence)


def _states(status: RunStatus, course: RunCourse) -> Iterator[CleanPoint]:
    for file in status.files:
        if file.kind != "state" or not file.complete or not is_whole_state(look_at_state(str(file.path))):
            continue
        done = state_done(file.path, course)
        if done is None or not _is_clean(file, done, course, status):
            continue
        text = _("State of step {step}, with optimizer and schedule; its weights are finite.")
        yield CleanPoint(path=file.path, step=done, kind="state", sentence=text.format(step=f"{done:,}"))


def is_as_judged(file: FileNow) -> bool:
    """Whether a saved model, or its kept copy, is there as it was when it was looked at.

    Another training under the same name writes files of the same size, which nobody has judged.
    """
    if file.removed:
        return file.kept_as is not None and file.kept_as.exists()
    mark = mark_of(file.path)
    return mark is not None and file.modified_ns in (None, mark.mtime_ns)


def _saved_with(state: Path, status: RunStatus) -> FileNow | None:
    """Return the model that was saved with a state."""
    stem = state.with_name(state.name.removesuffix(STATE_END))
    paths = (stem, stem.with_name(f"{stem.name}.safetensors"))
    return next((file for file in status.files if file.kind == "model" and file.path in paths), None)


def _is_clean(file: FileNow, done: int, course: RunCourse, status: RunStatus) -> bool:
    beside, nonfinite = _saved_with(file.path, status), status.first_nonfinite_step
    if beside is not None and beside.judgement is not None and beside.judgement != "not-checked":
        return beside.judgement == CLEAN
    if nonfinite is not None and done >= course.begun_at + nonfinite:
        return False
    try:
        report = check_tensors(next(path for name in NETWORK_FILES if (path := file.path / name).is_file()))
    except PreflightError:
        return False
    return report.finite is True
