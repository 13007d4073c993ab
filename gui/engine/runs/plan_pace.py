"""Tells how long a step of a plan takes on this machine, by the runs that were launched alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gui.engine.errors import PreflightError
from gui.engine.hardware.visible import lasting_names
from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.preflight.check import Checker
from gui.engine.runs.earlier import EarlierPace, earlier_pace
from gui.engine.trainer.choosing import Trainer
from gui.engine.trainer.command import build_command


def pace_of_plan(
    plan: TrainingPlan, base: Path, trainer: Trainer, home: Home, gpu_uuids: Sequence[str]
) -> EarlierPace | None:
    """Return how fast the newest run of the same kind was; None without one, or where the plan cannot run.

    Args:
        plan: The plan.
        base: What its relative paths are against.
        trainer: Would train it.
        home: Where runs and the user's presets are.
        gpu_uuids: Of all NVIDIA devices in NVML's order.
    """
    try:
        command = build_command(
            plan,
            base,
            trainer.install,
            trainer.facts,
            trainer.catalogue,
            home.runs / "not made",
            gpu_uuids=gpu_uuids,
            library=PresetLibrary(home.presets),
        )
    except PreflightError:
        return None
    return earlier_pace(home, command, [gpu.name for gpu in trainer.facts.gpus])


def with_pace(checker: Checker, plan: TrainingPlan, trainer: Trainer, home: Home) -> Checker:
    """Let what checks a plan know how long a step of it takes, where a run of the same kind tells.

    Args:
        checker: Checks the plan on this machine.
        plan: The plan.
        trainer: Would train it.
        home: Where runs and the user's presets are.
    """
    names = lasting_names(checker.facts.gpu or ())
    pace = pace_of_plan(plan, checker.base, trainer, home, names)
    if pace is None:
        return checker
    known = checker.facts.model_copy(update={"seconds_per_step": pace.seconds_per_step})
    return replace(checker, facts=known)
