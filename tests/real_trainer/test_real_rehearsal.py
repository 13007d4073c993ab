"""A rehearsal with the real trainer: what it shows on the CPU, and that it touches nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gui.engine.paths import Home
from gui.engine.plan.plan_file import load_plan
from gui.engine.preflight.checking import checker_for
from gui.engine.runs.rehearsal import Rehearsals, rehearse
from gui.engine.trainer.choosing import open_trainer
from gui.engine.trainer.installs import install_at

PLAN = """
schema = 1
name = "real"
family = "sd15"
[arguments]
pretrained_model_name_or_path = '{inputs}/sd15-random.safetensors'
tokenizer_cache_dir = '{inputs}/tokenizers'
network_module = "networks.lora"
network_dim = 4
network_train_unet_only = true
learning_rate = 1e-4
seed = 42
mixed_precision = "no"
cache_latents = true
cache_latents_to_disk = true
max_data_loader_n_workers = 0
max_train_steps = 200
save_every_n_steps = 50
save_state = true
sample_prompts = "prompts.txt"
sample_every_n_steps = 50
output_dir = "out"
output_name = "demo"
[dataset]
resolution = [128, 128]
enable_bucket = true
min_bucket_reso = 64
caption_extension = ".txt"
[[dataset.subsets]]
image_dir = "images"
num_repeats = 10
[launch.env]
HF_HUB_OFFLINE = "1"
"""

pytestmark = [pytest.mark.usefixtures("no_leftovers"), pytest.mark.timeout(900)]


def test_that_the_real_trainer_is_rehearsed(real_trainer, home: Home, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    shutil.copytree(real_trainer.inputs / "images" / "1_sks thing", mine / "images")
    (mine / "prompts.txt").write_text("a cat --w 128 --h 128 --s 2\n", "utf-8")
    (mine / "plan.toml").write_text(PLAN.format(inputs=real_trainer.inputs), "utf-8")
    before = sorted(mine.rglob("*"))
    trainer = open_trainer(home, install_at(real_trainer.root, real_trainer.python))
    file = load_plan(mine / "plan.toml")
    prepared = Rehearsals(home, trainer, checker_for(file.base, trainer, home)).prepare(file)
    result = rehearse(prepared)
    assert (result.verdict, result.reasons, result.steps, result.finite) == ("go", (), 8, True)
    assert {phase.name for phase in result.phases} >= {"load", "latents", "step", "samples", "saving"}
    assert result.peak is None and any("NVIDIA" in note for note in result.notes), "no memory on the CPU"
    assert result.seconds_per_step and result.save_bytes and result.state_bytes and result.sample_bytes
    assert result.whole_seconds and result.whole_seconds > 200 * result.seconds_per_step
    assert sorted(mine.rglob("*")) == before
