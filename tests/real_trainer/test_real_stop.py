"""A stop in each phase of a real training leaves nothing alive and no cut file."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

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

PLAN = """
schema = 1
name = "stop"
family = "sd15"
kind = "lora"
[arguments]
pretrained_model_name_or_path = '{inputs}/sd15-random.safetensors'
tokenizer_cache_dir = '{inputs}/tokenizers'
network_module = "networks.lora"
network_dim = 4
network_alpha = 1
network_train_unet_only = true
learning_rate = 1e-4
seed = 42
mixed_precision = "no"
cache_latents = true
max_data_loader_n_workers = 2
max_train_steps = 60
save_every_n_steps = 3
output_dir = "out"
output_name = "demo"
[dataset]
resolution = [64, 64]
caption_extension = ".txt"
[[dataset.subsets]]
image_dir = '{inputs}/images/1_sks thing'
num_repeats = 1
[launch.env]
HF_HUB_OFFLINE = "1"
"""
"""A training as on a person's machine: accelerate around it, two loader workers beside it."""


def wait_for(fact: Callable[[], object], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < deadline, "what was waited for did not happen"
        time.sleep(0.02)


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
        plan.write_text(PLAN.format(inputs=real_trainer.inputs), "utf-8")
        install = install_at(real_trainer.root, real_trainer.python)
        preparation = Preparation(home, install, facts, Catalogue.from_facts(facts))
        prepared = preparation.prepare(load_plan(plan))
        start_supervisor(prepared.run, prepared.order)
        wait_for(lambda: read_launched(prepared.run.path), 60)
        return prepared.run

    return start


def wait_for_moment(run: RunFolder, moment: str) -> None:
    wait_for(lambda: re.search(MOMENTS[moment], run.output_log.read_bytes()), 240)


def verdict_of(run: RunFolder) -> str:
    wait_for(lambda: (status := read_status(run)) is not None and status.state == "ended", 60)
    status = read_status(run)
    assert status is not None
    assert status.verdict is not None
    return status.verdict.verdict


@pytest.mark.usefixtures("no_leftovers")
@pytest.mark.parametrize("moment", MOMENTS)
def test_that_a_stop_in_this_phase_leaves_nothing_alive_and_no_cut_file(
    begin: Callable[[], RunFolder], tmp_path: Path, moment: str
) -> None:
    run = begin()
    wait_for_moment(run, moment)
    members = tree_of(run.path).members()
    ask(run, "stop", "test")
    assert verdict_of(run) == "stopped"
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
    wait_for(lambda: (status := read_status(run)) is not None and status.state == "paused", 30)
    size = run.output_log.stat().st_size
    time.sleep(4)
    assert run.output_log.stat().st_size == size, "a step takes about a second and a half"
    ask(run, "resume", "test")
    wait_for(lambda: run.output_log.stat().st_size > size, 60)
    ask(run, "pause", "test")
    wait_for(lambda: tree_of(run.path).paused(), 30)
    ask(run, "stop", "test")
    assert verdict_of(run) == "stopped"
    assert not tree_of(run.path).alive()
