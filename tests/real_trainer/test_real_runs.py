"""The real trainer under supervision: finished means finished, NaN is stopped, supervisors may die."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from real_plan import real_plan, verdict_of
from run_helper import wait_until

from gui.cli.main import run as command_line
from gui.engine.documents import iterate_json_lines
from gui.engine.paths import Home
from gui.engine.plan.plan_file import load_plan
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.lock import is_held
from gui.engine.runs.prepare import Preparation
from gui.engine.runs.processes import read_exit, tree_of
from gui.engine.runs.start import read_status, start_supervisor
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.facts import TrainerFacts
from gui.engine.trainer.installs import install_at
from gui.engine.trainer.probe import probe

pytestmark = [pytest.mark.usefixtures("no_leftovers"), pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def facts(real_trainer, tmp_path_factory: pytest.TempPathFactory) -> TrainerFacts:
    return probe(install_at(real_trainer.root, real_trainer.python), tmp_path_factory.mktemp("cache"))


@pytest.fixture
def launch(real_trainer, facts: TrainerFacts, home: Home, tmp_path: Path) -> Callable[..., RunFolder]:
    def start(*, rate: float = 1e-4, steps: int = 30, every: int = 10) -> RunFolder:
        plan = tmp_path / "plan.toml"
        text = real_plan(
            real_trainer.inputs,
            "real 훈련",
            learning_rate=rate,
            max_train_steps=steps,
            save_every_n_steps=every,
        )
        plan.write_text(text, "utf-8")
        install = install_at(real_trainer.root, real_trainer.python)
        prepared = Preparation(home, install, facts, Catalogue.from_facts(facts)).prepare(load_plan(plan))
        start_supervisor(prepared.run, prepared.order)
        return prepared.run

    return start


def events(run: RunFolder, name: str) -> list[dict]:
    return [event for event in iterate_json_lines(run.events) if event["event"] == name]


def kill_supervisor_at_step(run: RunFolder, step: int) -> None:
    seen = re.compile(rb"steps:[^\r\n]* %d/" % step)
    wait_until(lambda: run.output_log.exists() and seen.search(run.output_log.read_bytes()), 600)
    status = read_status(run)
    assert status is not None
    assert status.supervisor_pid is not None
    os.kill(status.supervisor_pid, signal.SIGKILL)
    wait_until(lambda: not is_held(run.lock))
    assert tree_of(run.path).alive(), "the trainer trains on"


def assert_all_thirty_steps_are_there_once(run: RunFolder) -> None:
    assert [event["step"] for event in events(run, "step")] == list(range(1, 31))


def test_that_thirty_steps_end_finished_with_their_losses_and_files(launch, tmp_path: Path) -> None:
    run = launch()
    verdict = verdict_of(run)
    assert (verdict.verdict, verdict.step, verdict.total, verdict.weights) == ("finished", 30, 30, "finite")
    names = ["demo-step00000010", "demo-step00000020", "demo-step00000030", "demo"]
    assert [path.stem for path in verdict.clean] == names
    assert verdict.final == tmp_path / "out put" / "demo.safetensors"
    assert_all_thirty_steps_are_there_once(run)
    losses = [event["loss"] for event in events(run, "step")]
    assert all(isinstance(loss, float) and 0.3 < loss < 3 for loss in losses), "the tracker's own losses"
    assert events(run, "saved")[-1]["final"]
    rates = {row["lr"]["unet"] for row in iterate_json_lines(run.metrics) if row["metric"] == "step"}
    assert rates == {1e-4}


def test_that_a_mad_rate_is_stopped_and_its_files_are_told_apart(launch) -> None:
    run = launch(rate=1e3, steps=300, every=1)
    verdict = verdict_of(run)
    assert (verdict.verdict, verdict.reason) == ("stopped", "guard")
    assert verdict.first_nonfinite_step in (2, 3, 4)
    assert not tree_of(run.path).alive()
    judgements = [event["judgement"] for event in events(run, "judged")]
    assert "clean" not in judgements[1:], "what a mad rate has touched is not clean"
    assert set(judgements) & {"grown", "after-nonfinite", "nonfinite"}
    asked = [event for event in events(run, "stopping") if event["stage"] == "asked"]
    assert asked[0]["latency_seconds"] < 1
    gone = [event for event in events(run, "stopping") if event["stage"] == "gone"]
    assert gone[0]["t"] - events(run, "loss-nonfinite")[0]["t"] < 26, "a save of at most 15 s may end first"


def test_that_a_killed_supervisor_costs_nothing(launch, capsys) -> None:
    run = launch()
    kill_supervisor_at_step(run, 8)
    assert command_line(["attach", str(run.path)]) == 0
    verdict = verdict_of(run)
    assert (verdict.verdict, verdict.step) == ("finished", 30)
    assert_all_thirty_steps_are_there_once(run)
    assert "finished" in capsys.readouterr().out.lower()


def test_that_a_training_which_ended_unseen_gets_its_right_verdict(launch) -> None:
    run = launch()
    kill_supervisor_at_step(run, 8)
    wait_until(lambda: read_exit(run.path) is not None and not tree_of(run.path).alive(), 600)
    assert command_line(["attach", str(run.path)]) == 0
    verdict = verdict_of(run)
    assert (verdict.verdict, verdict.step, verdict.exit_status) == ("finished", 30, 0)
    assert_all_thirty_steps_are_there_once(run)
