"""The run's folder is deleted or moved while it trains: the run is watched and stopped as before."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from run_helper import FINISHES, GOES_ON, at_least_step, ended, make_run, of_kind, status, wait_until

from gui.engine.runs.events import Launching, Notice
from gui.engine.runs.follow import Follower
from gui.engine.runs.requests import ask
from gui.engine.runs.start import ensure_supervisor, start_supervisor
from gui.engine.trainer.events import Step

pytestmark = [
    pytest.mark.usefixtures("no_leftovers"),
    pytest.mark.skipif(os.name == "nt", reason="Windows lets nobody take a folder that is in use"),
]


@pytest.mark.parametrize("take", [shutil.rmtree, lambda path: path.rename(path.with_name("elsewhere"))])
def test_that_a_run_whose_folder_was_taken_away_can_be_watched_and_stopped(
    tmp_path: Path, take: Callable[[Path], object]
) -> None:
    run, order = make_run(tmp_path, GOES_ON)
    start_supervisor(run, order)
    follower = Follower(run)
    wait_until(lambda: at_least_step(run, 3))
    follower.events()
    take(run.path)
    wait_until(lambda: run.events.is_file() and of_kind(run, Notice))
    assert "deleted or moved" in " ".join(notice.sentence for notice in of_kind(run, Notice))
    wait_until(lambda: any(isinstance(event, Step) for event in follower.events()))
    follower.close()
    assert not ensure_supervisor(run), "the one that was there holds the run still"
    ask(run, "stop", "test")
    wait_until(lambda: ended(run))
    verdict = status(run).verdict
    assert verdict is not None and verdict.reason == "user"
    assert len(of_kind(run, Launching)) == 1


def test_that_a_training_whose_folder_was_deleted_still_gets_a_true_verdict(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, FINISHES.replace("sleep(0.05)", "sleep(0.5)"))
    start_supervisor(run, order)
    wait_until(lambda: at_least_step(run, 1))
    shutil.rmtree(run.path)
    wait_until(lambda: ended(run))
    verdict = status(run).verdict
    assert verdict is not None and (verdict.verdict, verdict.exit_status) == ("finished", 0)
