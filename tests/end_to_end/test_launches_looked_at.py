"""Runs that were prepared: whoever looks keeps off a launch, and judges one that never came."""

from __future__ import annotations

from pathlib import Path

import pytest
from run_helper import FINISHES, ended, left_alone, make_run, status, wait_until

from gui.engine.runs.events import Launching
from gui.engine.runs.journal import Lines
from gui.engine.runs.processes import boot_id, boottime
from gui.engine.runs.session import look_after
from gui.engine.runs.start import ensure_supervisor, start_supervisor

pytestmark = pytest.mark.usefixtures("no_leftovers")


def test_that_a_run_that_was_never_launched_is_not_launched_by_looking(tmp_path: Path) -> None:
    run, _order = make_run(tmp_path, FINISHES)
    verdict = look_after(run, None)
    assert verdict is not None and (verdict.verdict, verdict.reason) == ("failed", "not-started")
    assert not run.output_log.exists()


def test_that_whoever_looks_does_not_come_in_the_way_of_a_launch(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, FINISHES)
    assert not ensure_supervisor(run), "it was prepared a moment ago, and is about to be launched"
    start_supervisor(run, order)
    wait_until(lambda: ended(run))
    verdict = status(run).verdict
    assert verdict is not None and verdict.verdict == "finished"


def test_that_a_run_whose_launch_never_came_is_judged_when_somebody_looks(tmp_path: Path) -> None:
    run = left_alone(make_run(tmp_path, FINISHES)[0])
    assert ensure_supervisor(run)
    wait_until(lambda: ended(run))
    verdict = status(run).verdict
    assert verdict is not None and verdict.reason == "not-started"


def test_that_a_launch_that_was_cut_short_is_told(tmp_path: Path) -> None:
    run, _order = make_run(tmp_path, FINISHES)
    lines = Lines(run.events)
    lines.add(Launching(boot_id=boot_id(), boot_seconds=boottime()))
    lines.close()
    verdict = look_after(run, None)
    assert verdict is not None and verdict.reason == "not-started"
