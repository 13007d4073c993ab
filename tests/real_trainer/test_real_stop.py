"""A stop in each phase of a real training leaves nothing alive and no cut file."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from real_plan import real_plan, verdict_of
from run_helper import wait_until

from gui.engine.documents import iterate_json_lines
from gui.engine.paths import Home
from gui.engine.plan.plan_file import load_plan
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.prepare import Preparation
from gui.engine.runs.processes import read_exit, read_launched, tree_of
from gui.engine.runs.requests import ask
from gui.engine.runs.start import read_status, start_supervisor
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.facts import TrainerFacts
from gui.engine.trainer.installs import install_at
from gui.engine.trainer.probe import probe
from gui.engine.trainer.safetensors_file import read_header

MOMENTS = {
    "launching": rb"",
    "loading": rb"(?i)loading u-net",
    "caching": rb"caching latents",
    "training": rb"steps:[^\r\n]* 2/",
    "saving": rb"saving checkpoint: ",
}


@pytest.fixture(scope="module")
def facts(real_trainer, tmp_path_factory: pytest.TempPathFactory) -> TrainerFacts:
    return probe(install_at(real_trainer.root, real_trainer.python), tmp_path_factory.mktemp("cache"))


@pytest.fixture
def begin(real_trainer, facts: TrainerFacts, home: Home, tmp_path: Path) -> Callable[[], RunFolder]:
    def start() -> RunFolder:
        plan = tmp_path / "plan.toml"
        # As on a person's machine: accelerate around it, two loader workers beside it.
        text = real_plan(
            real_trainer.inputs,
            "stop",
            subset={"num_repeats": 1},
            learning_rate=1e-4,
            max_data_loader_n_workers=2,
            max_train_steps=60,
            save_every_n_steps=3,
            output_dir="out",
        )
        plan.write_text(text, "utf-8")
        install = install_at(real_trainer.root, real_trainer.python)
        preparation = Preparation(home, install, facts, Catalogue.from_facts(facts))
        prepared = preparation.prepare(load_plan(plan))
        start_supervisor(prepared.run, prepared.order)
        wait_until(lambda: read_launched(prepared.run.path), 60)
        return prepared.run

    return start


def wait_for_moment(run: RunFolder, moment: str) -> None:
    wait_until(lambda: re.search(MOMENTS[moment], run.output_log.read_bytes()), 240)


@pytest.mark.usefixtures("no_leftovers")
@pytest.mark.parametrize("moment", MOMENTS)
def test_that_a_stop_in_this_phase_leaves_nothing_alive_and_no_cut_file(
    begin: Callable[[], RunFolder], tmp_path: Path, moment: str
) -> None:
    run = begin()
    wait_for_moment(run, moment)
    members = tree_of(run.path).members()
    ask(run, "stop", "test")
    assert verdict_of(run).verdict == "stopped"
    assert not tree_of(run.path).alive()
    assert len(members) >= (5 if moment in ("training", "saving") else 2), "launcher, trainer, its workers"
    ended = read_exit(run.path)
    assert ended is not None
    assert ended.status == -15
    for file in (tmp_path / "out").glob("*.safetensors"):
        assert read_header(file).complete, file
    stages = [event["stage"] for event in iterate_json_lines(run.events) if event["event"] == "stopping"]
    assert stages[0] == "announced"
    assert stages[-1] == "gone"


@pytest.mark.usefixtures("no_leftovers")
def test_that_a_paused_training_halts_goes_on_and_can_be_stopped(begin: Callable[[], RunFolder]) -> None:
    run = begin()
    wait_for_moment(run, "training")
    ask(run, "pause", "test")
    wait_until(lambda: (status := read_status(run)) is not None and status.state == "paused", 30)
    size = run.output_log.stat().st_size
    time.sleep(4)
    assert run.output_log.stat().st_size == size, "a step takes about a second and a half"
    ask(run, "resume", "test")
    wait_until(lambda: run.output_log.stat().st_size > size, 60)
    ask(run, "pause", "test")
    wait_until(lambda: tree_of(run.path).paused(), 30)
    ask(run, "stop", "test")
    assert verdict_of(run).verdict == "stopped"
    assert not tree_of(run.path).alive()
