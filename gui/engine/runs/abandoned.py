"""Clears away folders of runs that were never written to the end: whoever prepared them was killed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from gui.engine.paths import Home
from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.trainer.accelerate_launch import CONFIG_NAME
from gui.engine.trainer.command import DATASET_NAME

AGE_SECONDS = 600.0
"""Writing such a folder takes a moment; one that is younger may belong to a launch that is on its way."""

_OF_A_RUN = re.compile(r"\d{8}-\d{6}-.")


def clear_abandoned(home: Home, *, age_seconds: float = AGE_SECONDS) -> list[Path]:
    """Remove what preparations that were cut short have left among the runs; nothing was ever launched there.

    Args:
        home: Where the runs are.
        age_seconds: Younger folders are left alone.

    Returns:
        What was removed.
    """
    found = [RunFolder(home.runs / name) for name in run_names(home) if _OF_A_RUN.match(name)]
    abandoned = [run.path for run in found if _is_abandoned(run, age_seconds)]
    for folder in abandoned:
        shutil.rmtree(folder, ignore_errors=True)
    return abandoned


def _is_abandoned(run: RunFolder, age_seconds: float) -> bool:
    """Whether it is old and has only what is written before the status, which comes last."""
    written = {path.name for path in (run.plan, run.command, run.manifest, run.requests)}
    written |= {DATASET_NAME, CONFIG_NAME}
    try:
        names = {path.name for path in run.path.iterdir() if not path.name.endswith(".tmp")}
        return names <= written and not any(run.requests.glob("*")) and run.age() >= age_seconds
    except OSError:
        return False
