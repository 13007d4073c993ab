"""What the folder of a saved state tells without its tensors: where it stands and with which rates.

Two counts are kept in it. ``train_state.json`` has the trainer's own, which begins anew whenever a
training goes on; the schedule in ``scheduler.bin`` counts on (trainer-facts 2.3, 7.4). A schedule stays
behind by the steps that fp16's scaler dropped, and goes ahead by one step a process (train_util.py:5274).
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from gui.engine.documents import Document
from gui.engine.trainer.torch_numbers import read_plain_table

STEP_FILE = "train_state.json"
STEP_FILE_BYTES = 4096
SCHEDULE_FILE = "scheduler.bin"
RANDOM_FILES = "random_states_*.pkl"


class StateNumbers(Document):
    """Where a saved state stands.

    Attributes:
        counted: The step that ``train_state.json`` says; None where it says none.
        scheduled: How often the schedule has been moved; None where that cannot be read.
        rates: The base learning rate of each parameter group, which resuming brings back.
        has_random: Whether random numbers were saved: by the main process alone, however many there are.
    """

    counted: int | None = None
    scheduled: int | None = None
    rates: tuple[float, ...] = ()
    has_random: bool = False

    def behind(self, processes: int) -> int | None:
        """Return how many optimizer steps are behind the state in all, over all its trainings.

        Args:
            processes: How many saved it: the state does not tell.
        """
        return steps_behind(self.counted, self.scheduled, processes)


def steps_behind(counted: int | None, scheduled: int | None, processes: int) -> int | None:
    """Return how many optimizer steps are behind a state; None where neither count tells.

    Args:
        counted: As the trainer counted, from 0 whenever a training went on.
        scheduled: How often the schedule was moved.
        processes: How many processes moved it at each step.
    """
    moved = None if scheduled is None else scheduled // max(1, processes)
    return max((step for step in (counted, moved) if step is not None), default=None)


def state_numbers(folder: Path) -> StateNumbers:
    """Return what a state tells; what cannot be read is left out."""
    table = read_plain_table(folder / SCHEDULE_FILE) or {}
    rates = table.get("base_lrs")
    return StateNumbers(
        counted=_counted(folder / STEP_FILE),
        scheduled=_whole(table.get("last_epoch")),
        rates=tuple(map(float, rates)) if isinstance(rates, list) and all(map(_is_rate, rates)) else (),
        has_random=any(folder.glob(RANDOM_FILES)),
    )


def _counted(path: Path) -> int | None:
    try:
        with path.open("rb") as file:
            told = json.loads(file.read(STEP_FILE_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    return _whole(told.get("current_step")) if isinstance(told, dict) else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _is_rate(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
