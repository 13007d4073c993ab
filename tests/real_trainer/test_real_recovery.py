"""The real trainer after a breakdown: recovery's first choice ends with a finished run."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from gui.cli.main import run as command_line
from gui.engine.paths import Home
from gui.engine.plan.plan_file import load_plan
from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.runs.prepare import Preparation
from gui.engine.runs.records import Manifest
from gui.engine.runs.recovery import recovery_of
from gui.engine.runs.start import read_status, start_supervisor
from gui.engine.runs.status import Verdict
from gui.engine.trainer.choosing import open_trainer
from gui.engine.trainer.installs import install_at

PLAN = """
schema = 1
name = "too fast"
family = "sd15"
kind = "lora"
[arguments]
pretrained_model_name_or_path = '{inputs}/sd15-random.safetensors'
tokenizer_cache_dir = '{inputs}/tokenizers'
network_module = "networks.lora"
network_dim = 4
network_alpha = 1
network_train_unet_only = true
unet_lr = 1e3
seed = 42
mixed_precision = "no"
cache_latents = true
max_data_loader_n_workers = 0
max_train_steps = 12
save_every_n_steps = 6
output_dir = "out put"
output_name = "demo"
[dataset]
resolution = [64, 64]
caption_extension = ".txt"
[[dataset.subsets]]
image_dir = '{inputs}/images/1_sks thing'
[launch.env]
HF_HUB_OFFLINE = "1"
"""

pytestmark = [pytest.mark.usefixtures("no_leftovers"), pytest.mark.timeout(1200)]


def verdict_of(run: RunFolder, seconds: float = 600) -> Verdict:
    deadline = time.monotonic() + seconds
    while (status := read_status(run)) is None or status.verdict is None or status.state != "ended":
        assert time.monotonic() < deadline, "it did not end"
        time.sleep(0.1)
    return status.verdict


def test_that_the_first_choice_after_a_nan_is_a_finished_run(
    real_trainer, home: Home, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(inputs=real_trainer.inputs), "utf-8")
    trainer = open_trainer(home, install_at(real_trainer.root, real_trainer.python))
    prepared = Preparation(home, trainer.install, trainer.facts, trainer.catalogue).prepare(load_plan(plan))
    start_supervisor(prepared.run, prepared.order)
    broke = verdict_of(prepared.run)
    assert (broke.verdict, broke.reason) == ("stopped", "guard")

    recovery = recovery_of(prepared.run)
    first = recovery.tries[0]
    assert (recovery.kind, first.id, first.point) == ("loss", "safe-rate", None)
    assert first.changes["unet_lr"] == 1e-4
    assert command_line(["recover", prepared.run.name, "--run"]) == 0
    second = RunFolder(home.runs / run_names(home)[0])
    verdict = verdict_of(second)
    assert (verdict.verdict, verdict.step, verdict.weights) == ("finished", 12, "finite")
    noted = Manifest.read(second.manifest).follows
    assert noted is not None and (noted.run, noted.way) == (prepared.run.name, "safe-rate")
