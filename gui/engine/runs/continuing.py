"""Goes on from what a run has saved: the plan's changes, the steps that remain, and no file written over.

From a state the trainer has weights, optimizer and schedule back, but counts anew (``resume_course``):
which arguments make it do just the steps that remain depends on the schedule, on gradient accumulation
and on whether the state was saved between two epochs. From weights alone the plan begins anew with
fewer steps. Names get the step that was gone on from, so that the earlier files stay.

A state also brings its learning rates and its optimizer's settings back: new ones do not take effect
(``optimizer.load_state_dict`` and the schedule's ``base_lrs``). A lower rate needs the weights.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gui.engine.documents import Document
from gui.engine.errors import CannotContinue
from gui.engine.preflight.state_look import STATE_END, is_whole_state, look_at_state
from gui.engine.runs.clean_points import UNUSABLE, CleanPoint, clean_points, model_of
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.launched import LaunchedSettings, launched_settings
from gui.engine.runs.records import CommandRecord
from gui.engine.runs.run_course import ContinueKind, RunCourse, course_of, state_done
from gui.engine.runs.save_names import DEFAULT_LAST_NAME
from gui.engine.runs.saves import collisions
from gui.engine.runs.series import saved_model
from gui.engine.texts import _
from gui.engine.trainer.resume_ways import OWN_COUNT, ResumeWay, best_way, is_lengthless
from gui.engine.trainer.saved_state import state_numbers
from gui.engine.trainer.tensors import MODEL_SUFFIXES

__all__ = ["CleanPoint", "Continuation", "clean_points", "continuation"]

_ADDED = re.compile(r"-from\d+(?:-\d+)?$")


class Continuation(Document):
    """How a run's plan goes on.

    Attributes:
        changes: Target in the run's plan to its new value.
        kind: From a state, or from weights alone.
        done_steps: Optimizer steps that are done already.
        remaining_steps: Those that the trainer will do.
        sentence: Both in words, and that nothing is written over.
    """

    changes: dict[str, Any]
    kind: ContinueKind
    done_steps: int
    remaining_steps: int
    sentence: str


def continuation(run: RunFolder, source: Path) -> Continuation:
    """Return how a run's plan goes on from something that the run has saved.

    Args:
        run: Its folder.
        source: A state's folder, a model file, or a kept copy of one.

    Raises:
        CannotContinue: Nothing can go on from there; it says why.
    """
    judged = model_of(run, source)
    if judged is not None and judged.judgement in UNUSABLE:
        raise CannotContinue(source, judged.sentence or _("its weights are no use"))
    settings, course = launched_settings(run), course_of(run)
    if source.is_dir() and source.name.endswith(STATE_END):
        return _from_state(run, source, settings, course)
    return _from_weights(run, source, settings, course)


def _from_state(run: RunFolder, source: Path, settings: LaunchedSettings, course: RunCourse) -> Continuation:
    state = look_at_state(str(source))
    if state is None or not state.has_optimizer:
        raise CannotContinue(source, _("it holds no state of an optimizer"))
    if not is_whole_state(state):
        raise CannotContinue(source, _("its weights or its optimizer are missing or cut short"))
    done = state_done(source, course)
    if done is None:
        raise CannotContinue(source, _("it does not say at which step it was saved"))
    remaining = course.whole - done
    if remaining < 1:
        raise CannotContinue(
            source, _("all {whole} steps of the plan are done").format(whole=f"{course.whole:,}")
        )
    way = _way(source, done, settings, course)
    whole = {} if course.whole == course.setting.whole else _length(course.whole, settings, course)
    begun = _without_beginning(settings)
    changes = {"resume": str(source), **begun, **whole, **way.changes, "output_name": _free_name(run, done)}
    return Continuation(
        changes=_only_needed(changes, settings),
        kind="state",
        done_steps=done,
        remaining_steps=way.course.steps,
        sentence=_state_sentence(done, course.whole, way.course.steps),
    )


def _without_beginning(settings: LaunchedSettings) -> dict[str, Any]:
    """Leave out the weights that the run itself began with, where they are gone: the state has newer ones."""
    begun = settings.text("network_weights")
    gone = bool(begun) and not settings.flag("dim_from_weights") and not Path(begun).exists()
    return {"network_weights": None} if gone else {}


def _way(source: Path, done: int, settings: LaunchedSettings, course: RunCourse) -> ResumeWay:
    way = best_way(course.planned, done, state_numbers(source).counted, lengthless=_is_lengthless(settings))
    if way is None:
        text = _(
            "{script} would lay the schedule out anew over the steps that remain, and begin it in the "
            "middle. Go on from the saved model instead"
        )
        raise CannotContinue(source, text.format(script=settings.script))
    return way


def _from_weights(
    run: RunFolder, source: Path, settings: LaunchedSettings, course: RunCourse
) -> Continuation:
    if not source.exists() or (source.is_file() and source.suffix.lower() not in MODEL_SUFFIXES):
        raise CannotContinue(source, _("there is no saved model of that name"))
    counted = saved_model(source).step
    done = course.done(counted) if counted is not None else None
    if done is None:
        raise CannotContinue(source, _("it does not say how many steps are behind it"))
    remaining = course.whole - done
    again = remaining < 1
    if again:
        remaining = course.whole
    changes = {
        weights_argument(settings): str(source),
        **_length(remaining, settings, course),
        **dict.fromkeys(("resume", *OWN_COUNT)),
        "output_name": _free_name(run, done),
    }
    return Continuation(
        changes=_only_needed(changes, settings),
        kind="weights",
        done_steps=done,
        remaining_steps=remaining,
        sentence=_weights_sentence(done, course.whole, remaining, again=again),
    )


def weights_argument(settings: LaunchedSettings) -> str:
    """Return which argument of a script takes what it has saved itself."""
    script = settings.script
    if settings.flag("network_module") or "lllite" in script:
        return "network_weights"
    if "textual_inversion" in script:
        return "weights"
    if "control_net" in script:
        return "controlnet_model_name_or_path"
    return "pretrained_model_name_or_path"


def _length(remaining: int, settings: LaunchedSettings, course: RunCourse) -> dict[str, Any]:
    """Return the new length in the unit that the plan has, where that is exact."""
    per_epoch = course.setting.steps_per_epoch
    if settings.flag("max_train_epochs") and remaining % per_epoch == 0:
        return {"max_train_epochs": remaining // per_epoch}
    return {"max_train_steps": remaining, "max_train_epochs": None}


def _is_lengthless(settings: LaunchedSettings) -> bool:
    return is_lengthless(
        settings.text("lr_scheduler"),
        settings.optimizer,
        foreign=settings.flag("lr_scheduler_type"),
        warmup_share=0 < (settings.number("lr_warmup_steps") or 0) < 1,
    )


def _only_needed(changes: Mapping[str, Any], settings: LaunchedSettings) -> dict[str, Any]:
    """Leave out removals of what the run was not given, so that the difference shows what is one."""
    return {name: value for name, value in changes.items() if value is not None or settings.flag(name)}


def _free_name(run: RunFolder, done: int) -> str:
    """Return an output name that tells where was gone on from and that no file bears yet."""
    command = CommandRecord.read(run.command)
    stem = f"{_ADDED.sub('', command.output_name or DEFAULT_LAST_NAME)}-from{done}"
    name, number = stem, 2
    while command.output_dir is not None and collisions(command.output_dir, name):
        name, number = f"{stem}-{number}", number + 1
    return name


def _state_sentence(done: int, whole: int, steps: int) -> str:
    if done + steps == whole:
        text = _("Continues at step {done} of {whole}; saves will not overwrite the old ones.")
    else:
        text = _(
            "Continues at step {done} of {whole} and trains {steps} steps more, whole epochs as the trainer "
            "counts; saves will not overwrite the old ones."
        )
    return text.format(done=f"{done:,}", whole=f"{whole:,}", steps=f"{steps:,}")


def _weights_sentence(done: int, whole: int, steps: int, *, again: bool) -> str:
    if again:
        text = _(
            "All {whole} steps are done; it trains {steps} more from these weights. The optimizer starts "
            "afresh, and saves will not overwrite the old ones."
        )
    else:
        text = _(
            "Begins with the weights of step {done}: {steps} of {whole} steps remain. The optimizer starts "
            "afresh, and saves will not overwrite the old ones."
        )
    return text.format(done=f"{done:,}", whole=f"{whole:,}", steps=f"{steps:,}")
