"""SIGKILL at random moments of two hundred practice runs: whoever dies, nothing is lost, no word is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from crashes import Storm, check_runs, seeded
from quick_trainer import quick_plan

from gui.engine.paths import Home
from gui.engine.runs.folder import run_names
from gui.engine.runs.queue_store import Wish
from gui.engine.trainer.installs import practice_install

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("no_leftovers"), pytest.mark.timeout(1800)]

BATCHES, QUEUED, BY_HAND = 20, 6, 4
"""At least ten runs a batch: a terminal that is killed before it launches is followed by another."""


@pytest.mark.parametrize("batch", range(BATCHES))
def test_that_nothing_is_lost_whoever_is_killed_when(batch: int, tmp_path: Path, home: Home) -> None:
    random = seeded(batch)
    storm = Storm(home, random)
    for number in range(QUEUED):
        plan = quick_plan(tmp_path, f"queued{number}", steps=random.randint(2, 8))
        storm.store.add(plan, Wish(practice_install(), gpus=(number % 2,)))
    storm.open("window", "window")
    number = 0
    while len(run_names(home)) < QUEUED + BY_HAND or number < BY_HAND:
        plan = quick_plan(tmp_path, f"by-hand{number}", steps=random.randint(2, 8))
        storm.open("terminal", "run", str(plan.path), "--practice")
        storm.blow(random.randint(2, 5), longest_pause=random.choice((0.3, 1.0, 3.0)))
        number += 1
    storm.blow(random.randint(3, 10), longest_pause=2.0)
    storm.calm_down()
    print(storm.tell())
    check_runs(storm)
