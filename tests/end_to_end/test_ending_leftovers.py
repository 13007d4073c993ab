"""What is left over of an earlier run is ended, and a run that goes on is judged first."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest
from run_helper import GOES_ON, at_least_step, ended, make_run, of_kind, status, wait_until

from gui.engine.errors import CannotEnd
from gui.engine.runs import end_run as module
from gui.engine.runs.end_run import end_run
from gui.engine.runs.events import Stopping
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.lock import is_held
from gui.engine.runs.neighbours import living_runs
from gui.engine.runs.process_tree import StopReport
from gui.engine.runs.processes import tree_of
from gui.engine.runs.start import start_supervisor

pytestmark = pytest.mark.usefixtures("no_leftovers")

LEAVES_A_WORKER = """
header(1); step(1, 1, .5)
worker(own_session=True)
save(f"{out}/lora.safetensors")
saved()
"""


def kill_supervisor(run: RunFolder) -> None:
    pid = status(run).supervisor_pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_held(run.lock))


def test_that_a_worker_that_outlived_its_trainer_is_ended(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, LEAVES_A_WORKER)
    start_supervisor(run, order)
    wait_until(lambda: run.exit.exists() and tree_of(run.path).alive())
    kill_supervisor(run)
    (fact,) = [each for each in living_runs() if each.folder == str(run.path)]
    assert fact.over and not fact.watched
    assert end_run(run.path, "a test") >= 1
    assert not tree_of(run.path).alive()
    assert str(run.path) not in {each.folder for each in living_runs()}
    assert end_run(run.path, "a test") == 0


def test_that_a_run_without_a_supervisor_is_stopped_and_judged(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, GOES_ON)
    start_supervisor(run, order)
    wait_until(lambda: at_least_step(run, 1))
    kill_supervisor(run)
    assert end_run(run.path, "a test") >= 1
    wait_until(lambda: ended(run))
    verdict = status(run).verdict
    assert verdict is not None and verdict.verdict == "stopped"
    assert of_kind(run, Stopping)
    wait_until(lambda: not is_held(run.lock))


def test_that_a_run_whose_folder_is_gone_is_ended_all_the_same(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, GOES_ON)
    start_supervisor(run, order)
    wait_until(lambda: at_least_step(run, 1))
    kill_supervisor(run)
    shutil.rmtree(run.path)
    assert end_run(run.path, "a test") >= 1
    assert not tree_of(run.path).alive()


def test_that_what_does_not_end_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stubborn:
        def members(self) -> list[int]:
            return [7, 8]

        def stop(self) -> StopReport:
            return StopReport(seconds=1.0, steps=(), survivors=(7, 8))

    monkeypatch.setattr(module, "tree_of", lambda _folder: Stubborn())
    with pytest.raises(CannotEnd, match="7, 8"):
        end_run(tmp_path / "a run", "a test")
