"""Makes what turns plans into runs with one trainer: the launch of a person and that of the queue are one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gui.engine.findings import Finding
from gui.engine.hardware.gpu import GpuMonitor
from gui.engine.paths import Home
from gui.engine.preflight.checking import checker_for
from gui.engine.preflight.launch_look import LaunchLook
from gui.engine.runs.neighbours import living_runs
from gui.engine.runs.prepare import Preparation
from gui.engine.trainer.choosing import Trainer


def look_before_launch(home: Home, trainer: Trainer, base: Path, given: Sequence[Finding] = ()) -> LaunchLook:
    """Return what looks at a plan right before its launch.

    Args:
        home: Where runs are kept.
        trainer: Whose arguments count.
        base: The folder against which the plan's relative paths are meant.
        given: What was found before.
    """
    return LaunchLook(checker_for(base, trainer, home, runs=living_runs), given)


def preparation_for(
    home: Home, trainer: Trainer, look: LaunchLook, gpus: GpuMonitor | None = None
) -> Preparation:
    """Return what makes runs of plans.

    Args:
        home: Where runs are kept.
        trainer: Trains.
        look: Judges the plan, and tells what memory it will need.
        gpus: Looks at the GPUs.
    """
    return Preparation(
        home,
        trainer.install,
        trainer.facts,
        trainer.catalogue,
        gpus=gpus,
        judge=look.judge,
        expect=look.expect,
    )
