"""Watching a run from the window: all of it is told, in order, and whatever breaks is said, not raised."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot
from run_helper import FINISHES, GOES_ON, at_least_step, ended, make_run, of_kind, status, wait_until

from gui.engine.runs.events import Adopted, Answered, Guarded, Launched, VerdictGiven
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.lock import SupervisorLock
from gui.engine.runs.metrics import HostRow, StepRow
from gui.engine.runs.processes import tree_of
from gui.engine.runs.start import start_supervisor
from gui.engine.runs.status import RunStatus
from gui.engine.trainer.events import Phase, Step
from gui.window.bridges.run_watch import RunWatch

pytestmark = pytest.mark.usefixtures("no_leftovers")


class Seen:
    """All that a watch told."""

    def __init__(self, watch: RunWatch) -> None:
        self.watch = watch
        self.statuses: list[RunStatus] = []
        self.events: list[Any] = []
        self.steps: list[int | None] = []
        self.rows: list[Any] = []
        self.batches = 0
        self.troubles: list[str] = []
        self.gone: list[str] = []
        self.refused: list[str] = []
        self.taken_over: list[str] = []
        watch.status.connect(self.statuses.append)
        watch.events.connect(self._take_events)
        watch.rows.connect(self._take_rows)
        watch.trouble.connect(self.troubles.append)
        watch.gone.connect(self.gone.append)
        watch.refused.connect(self.refused.append)
        watch.taken_over.connect(self.taken_over.append)

    def _take_events(self, happenings: list[Any]) -> None:
        self.events += [happening.event for happening in happenings]
        self.steps += [happening.step for happening in happenings]

    def _take_rows(self, rows: list[Any]) -> None:
        self.batches += 1
        self.rows += rows

    def has(self, kind: type[Any]) -> bool:
        return any(isinstance(event, kind) for event in self.events)

    @property
    def state(self) -> str:
        return self.statuses[-1].state if self.statuses else ""


Watch = Callable[[RunFolder], Seen]


@pytest.fixture
def watch(qtbot: QtBot) -> Iterator[Watch]:
    """Return what begins to watch a run; ended after the test."""
    made: list[RunWatch] = []

    def begin(run: RunFolder) -> Seen:
        made.append(RunWatch(run))
        seen = Seen(made[-1])
        made[-1].start()
        return seen

    yield begin
    for each in made:
        each.close()
        each._thread.join(10)  # closing does not wait for it: the disk may hang
        assert not each._thread.is_alive()


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Callable[..., RunFolder]]:
    """Return what launches a small trainer of a test; stopped after it."""
    runs: list[RunFolder] = []

    def begin(source: str, name: str = "it", **options: Any) -> RunFolder:
        run, order = make_run(tmp_path / name, source, **options)
        runs.append(run)
        start_supervisor(run, order)
        return run

    yield begin
    for run in runs:
        if (run.path / "launcher.json").is_file():
            tree_of(run.path).stop()
        if run.status.is_file():
            wait_until(lambda run=run: not run.status.is_file() or ended(run))


def over(seen: Seen) -> Callable[[], bool]:
    return lambda: seen.state == "ended" and seen.has(VerdictGiven)


def test_that_a_run_is_told_from_beginning_to_end(launch, watch, qtbot):
    seen = watch(launch(FINISHES))
    qtbot.waitUntil(over(seen), timeout=60_000)
    assert seen.has(Launched) and seen.has(Phase)
    assert not seen.has(Step)
    qtbot.waitUntil(lambda: any(isinstance(row, HostRow) for row in seen.rows), timeout=10_000)
    assert [row.step for row in seen.rows if isinstance(row, StepRow)] == [1, 2, 3, 4, 5]
    assert seen.statuses[-1].verdict.verdict == "finished"
    assert seen.steps[-1] == 5
    assert not seen.taken_over and not seen.refused and set(seen.troubles) <= {""}


def test_that_two_windows_see_the_same_run_and_either_stops_it(launch, watch, qtbot):
    run = launch(GOES_ON)
    one, other = watch(run), watch(run)
    qtbot.waitUntil(lambda: all(s.statuses and s.statuses[-1].step for s in (one, other)), timeout=60_000)
    other.watch.ask("stop")
    qtbot.waitUntil(lambda: over(one)() and over(other)(), timeout=60_000)
    assert one.statuses[-1].verdict == other.statuses[-1].verdict
    assert one.statuses[-1].verdict.verdict == "stopped"
    assert one.events == other.events
    assert [event.by for event in one.events if isinstance(event, Answered)] == ["window"]


def test_that_a_run_pauses_and_goes_on(launch, watch, qtbot):
    run = launch(GOES_ON)
    seen = watch(run)
    qtbot.waitUntil(lambda: seen.state == "running", timeout=60_000)
    seen.watch.ask("pause")
    qtbot.waitUntil(lambda: seen.state == "paused", timeout=20_000)
    seen.watch.ask("resume")
    qtbot.waitUntil(lambda: seen.state == "running", timeout=20_000)
    seen.watch.ask("stop")
    qtbot.waitUntil(over(seen), timeout=60_000)


def test_that_what_was_asked_before_closing_is_asked(launch, watch, qtbot):
    run = launch(GOES_ON)
    seen = watch(run)
    qtbot.waitUntil(lambda: bool(seen.statuses), timeout=60_000)
    seen.watch.ask("stop")
    seen.watch.close()
    told = len(seen.statuses)
    wait_until(lambda: ended(run))
    qtbot.wait(50)
    assert len(seen.statuses) == told


def test_that_a_run_that_nobody_looks_after_gets_a_supervisor(launch, watch, qtbot):
    import os
    import signal

    run = launch(GOES_ON)
    wait_until(lambda: at_least_step(run, 2))
    os.kill(status(run).supervisor_pid, signal.SIGKILL)
    seen = watch(run)
    qtbot.waitUntil(lambda: bool(seen.taken_over) and seen.has(Adopted), timeout=60_000)
    seen.watch.ask("stop")
    qtbot.waitUntil(over(seen), timeout=60_000)
    steps = [row.step for row in seen.rows if isinstance(row, StepRow)]
    assert steps == sorted(set(steps))


def test_that_a_folder_that_is_deleted_after_the_end_is_gone(launch, watch, qtbot):
    run = launch(FINISHES)
    seen = watch(run)
    qtbot.waitUntil(over(seen), timeout=60_000)
    shutil.rmtree(run.path)
    qtbot.waitUntil(lambda: bool(seen.gone), timeout=20_000)
    assert str(run.path) in seen.gone[0]
    seen.watch.ask("stop")
    qtbot.waitUntil(lambda: bool(seen.refused), timeout=20_000)
    qtbot.wait(1200)
    assert len(seen.gone) == 1


def test_that_a_folder_that_is_deleted_while_it_trains_comes_back(launch, watch, qtbot):
    run = launch(GOES_ON)
    seen = watch(run)
    qtbot.waitUntil(lambda: bool(seen.statuses and seen.statuses[-1].step), timeout=60_000)
    shutil.rmtree(run.path, ignore_errors=True)
    wait_until(lambda: run.command.is_file() and run.status.is_file())
    qtbot.waitUntil(lambda: "folder" in " ".join(seen.statuses[-1].notices), timeout=20_000)
    seen.watch.ask("stop")
    qtbot.waitUntil(over(seen), timeout=60_000)
    assert not seen.watch.is_gone


def old_run(tmp_path: Path, steps: int) -> RunFolder:
    """Write a run that has ended, with so many steps."""
    run, _order = make_run(tmp_path, FINISHES)
    with run.events.open("w") as events, run.metrics.open("w") as metrics:
        for n in range(1, steps + 1):
            events.write(json.dumps({"event": "step", "step": n, "total": steps, "t": n / 2}) + "\n")
            metrics.write(json.dumps({"metric": "step", "step": n, "loss": "nan", "avr_loss": 0.1}) + "\n")
        events.write(json.dumps({"event": "epoch", "epoch": 1, "total": 1}) + "\n")
    RunStatus(name=run.name, plan_name="old", state="ended").write(run.status)
    return run


def test_that_a_long_history_comes_in_pieces(watch, qtbot, tmp_path):
    run = old_run(tmp_path, 20_000)
    seen = watch(run)
    qtbot.waitUntil(lambda: seen.watch.all_read, timeout=60_000)
    assert [row.step for row in seen.rows] == list(range(1, 20_001))
    assert seen.batches > 10
    assert max(len(str(row.loss)) for row in seen.rows) == 3  # nan is a figure too
    assert seen.steps == [20_000]


def test_that_broken_lines_are_passed_over(watch, qtbot, tmp_path):
    run = old_run(tmp_path, 3)
    for path in (run.events, run.metrics):
        path.write_bytes(b"\xff\xfe not json\n[1]\n{}\n\n" + b"[" * 100_000 + b"\n" + path.read_bytes())
    seen = watch(run)
    qtbot.waitUntil(lambda: seen.watch.all_read and len(seen.rows) == 3, timeout=20_000)
    assert len(seen.events) == 1


def test_that_a_broken_status_is_said_and_then_seen_again(watch, qtbot, tmp_path):
    run = old_run(tmp_path, 3)
    whole = run.status.read_bytes()
    run.status.write_text('{"schema": 1, "name": 3}')
    with SupervisorLock(run.lock):
        seen = watch(run)
        qtbot.waitUntil(lambda: bool(seen.troubles), timeout=20_000)
        assert "status.json" in seen.troubles[0]
        assert not seen.statuses
        run.status.write_bytes(whole)
        qtbot.waitUntil(lambda: bool(seen.statuses), timeout=20_000)
    assert seen.troubles[-1] == ""


def test_that_a_run_of_a_newer_program_is_said_to_be_one(watch, qtbot, tmp_path):
    run = old_run(tmp_path, 3)
    run.status.write_text('{"schema": 99}')
    seen = watch(run)
    qtbot.waitUntil(lambda: bool(seen.troubles), timeout=20_000)
    assert "newer" in seen.troubles[0]
    qtbot.wait(300)
    assert not seen.taken_over and not run.supervisor_log.exists()


def test_that_a_refused_supervisor_is_said(watch, qtbot, tmp_path):
    run = old_run(tmp_path, 3)
    RunStatus(name=run.name, state="running").write(run.status)
    run.command.write_text("{}")
    run.manifest.write_text("{}")
    seen = watch(run)
    qtbot.waitUntil(lambda: any(seen.troubles), timeout=60_000)


def test_that_the_guard_is_told_within_a_moment(launch, watch, qtbot):
    run = launch("header(100)\nstep(1, 100, 0.5)\nstep(2, 100, float('nan'))\nsleep(600)")
    seen = watch(run)
    qtbot.waitUntil(over(seen), timeout=60_000)
    assert [event.action for event in seen.events if isinstance(event, Guarded)] == ["stop"]
    assert seen.statuses[-1].first_nonfinite_step == 2
    assert len(of_kind(run, Guarded)) == 1
