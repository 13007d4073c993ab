"""Which arguments have the trainer do just the steps that remain when it goes on from a state.

The schedule is laid out over ``max_train_steps`` and goes on where it stood. Where the rate depends on
that length, the whole length must stay, and epochs decide where the training ends. Else the rest can be
asked for as such, counted from 0, which is exact always.

Source: trainer-facts 2.3 (train_network.py:1232-1275, train_util.py:5274-5343).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from gui.engine.trainer.resume_course import Course, ResumeSetting

LENGTHLESS = ("constant", "constant_with_warmup", "inverse_sqrt", "piecewise_constant", "adafactor")
"""Schedules whose rate does not depend on how long the training is (train_util.py:5313-5343)."""

OWN_COUNT = ("skip_until_initial_step", "initial_step", "initial_epoch")
"""The arguments about where to begin."""


class ResumeWay(NamedTuple):
    """Arguments with which the trainer goes on, and what it does then.

    Attributes:
        changes: Argument to value; None leaves it out.
        course: What the trainer does.
    """

    changes: dict[str, Any]
    course: Course


def is_lengthless(scheduler: str, optimizer: str, *, foreign: bool, warmup_share: bool) -> bool:
    """Return whether the learning rate at a step does not depend on how many steps there are to be.

    Args:
        scheduler: ``lr_scheduler``; empty for the trainer's default.
        optimizer: Its name in small letters: some have no schedule.
        foreign: Whether ``lr_scheduler_type`` names another one.
        warmup_share: Whether the warm-up is a share of the whole.
    """
    if optimizer.endswith("schedulefree"):
        return True
    name = (scheduler or "constant").partition(":")[0]
    return name in LENGTHLESS and not foreign and not warmup_share


def best_way(setting: ResumeSetting, done: int, counted: int | None, *, lengthless: bool) -> ResumeWay | None:
    """Return the arguments that fit best.

    Args:
        setting: The whole training as it was planned, from its very beginning.
        done: Steps of it that are behind the state.
        counted: The step that the state itself says; None for none.
        lengthless: Whether the schedule does not depend on the length.

    Returns:
        None where nothing trains what remains at the right rates, or nothing remains.
    """
    remaining = setting.whole - done
    if remaining < 1:
        return None
    kept = list(_whole_kept(setting, done, counted)) if setting.counts else []
    exact = next((way for way in kept if way.course.steps == remaining), None)
    if exact is not None:
        return exact
    if lengthless:
        return _rest(remaining, counts=setting.counts)
    if setting.accumulation == 1 and kept:
        return kept[0]  # repeats nothing, and leaves nothing out
    return min(kept, key=lambda way: abs(way.course.steps - remaining), default=None)


def _rest(remaining: int, *, counts: bool) -> ResumeWay:
    """Return the way that asks for the rest alone."""
    own = dict.fromkeys(OWN_COUNT) | {"initial_step": 0} if counts else {}
    length = {"max_train_steps": remaining, "max_train_epochs": None}
    return ResumeWay({**own, **length}, Course(remaining, 0, 1))


def _whole_kept(setting: ResumeSetting, done: int, counted: int | None) -> Iterator[ResumeWay]:
    """Yield the ways with the length as it was planned, the one that repeats nothing first.

    Beside gradient accumulation the trainer skips too much, so that only whole epochs are left.
    """
    per_epoch = setting.steps_per_epoch
    starts = [(done, True)] if setting.accumulation == 1 else []
    starts += [(epochs * per_epoch, False) for epochs in (done // per_epoch, -(-done // per_epoch))]
    for begins_at, skips in starts:
        course = setting.at(begins_at, skips=skips).course()
        if course is None or course.steps < 1:
            continue
        own = dict.fromkeys(OWN_COUNT)
        if skips:
            own |= {"skip_until_initial_step": True}
        if begins_at != counted:
            own |= {"initial_step": begins_at}
        yield ResumeWay(own, course)
