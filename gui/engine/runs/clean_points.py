"""The points of a run from which a training can go on: states and weights that were judged clean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from gui.engine.documents import Document
from gui.engine.errors import CannotContinue, PreflightError
from gui.engine.preflight.state_look import NETWORK_FILES, OPTIMIZER_FILES, STATE_END
from gui.engine.runs.folder import RunFolder
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
    beside = _models_by_stem(status).get(source.with_name(source.name.removesuffix(STATE_END)))
    return next((file for file in models if source in (file.path, file.kept_as)), beside)


def clean_points(run: RunFolder) -> list[CleanPoint]:
    """Return the clean states and weights of a run, the newest first, a state before weights of its step.

    A state is as clean as the model file that was saved with it; where there is none any more its own
    weights are read, which takes as long as reading the file.

    Args:
        run: The folder.
    """
    status = read_status(run)
    try:
        course = course_of(run)
    except CannotContinue:
        return []
    if status is None:
        return []
    found = [*_states(status, course), *_weights(status, course)]
    return sorted(found, key=lambda point: (-point.step, point.kind != "state"))


def _weights(status: RunStatus, course: RunCourse) -> Iterator[CleanPoint]:
    for file in status.files:
        path = file.kept_as if file.removed else file.path
        if file.kind != "model" or file.judgement != CLEAN or path is None or not path.exists():
            continue
        counted = saved_model(path).step
        if counted is None and file.step is None:
            continue
        done = course.begun_at + (file.step or 0) if counted is None else course.done(counted)
        text = _("Weights of step {step}: complete, finite, grown no more than before.")
        sentence = text.format(step=f"{done:,}")
        yield CleanPoint(path=path, step=done, kind="weights", sentence=sentence)


def _states(status: RunStatus, course: RunCourse) -> Iterator[CleanPoint]:
    judged = _models_by_stem(status)
    for file in status.files:
        if file.kind != "state" or not file.complete or not is_whole_state(file.path):
            continue
        done = state_done(file.path, course)
        if done is None or not _is_clean(file, judged, done, course, status.first_nonfinite_step):
            continue
        text = _("State of step {step}, with optimizer and schedule; its weights are finite.")
        yield CleanPoint(path=file.path, step=done, kind="state", sentence=text.format(step=f"{done:,}"))


def _models_by_stem(status: RunStatus) -> dict[Path, FileNow]:
    return {
        file.path.with_suffix("") if file.path.suffix == ".safetensors" else file.path: file
        for file in status.files
        if file.kind == "model"
    }


def is_whole_state(folder: Path) -> bool:
    """Whether a state's folder holds weights and an optimizer."""
    return all(any((folder / name).is_file() for name in names) for names in (NETWORK_FILES, OPTIMIZER_FILES))


def _is_clean(
    file: FileNow, judged: Mapping[Path, FileNow], done: int, course: RunCourse, nonfinite: int | None
) -> bool:
    beside = judged.get(file.path.with_name(file.path.name.removesuffix(STATE_END)))
    if beside is not None and beside.judgement is not None and beside.judgement != "not-checked":
        return beside.judgement == CLEAN
    if nonfinite is not None and done >= course.begun_at + nonfinite:
        return False
    try:
        report = check_tensors(next(path for name in NETWORK_FILES if (path := file.path / name).is_file()))
    except PreflightError:
        return False
    return report.finite is True
