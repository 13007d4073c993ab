"""The practice trainer trains for real: its loss falls, its numbers overflow, its files can be used."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys

import pytest
from practice_runs import TRAINER, make_images, practice
from safetensors.numpy import load_file

from gui.engine.plan.plan_file import load_plan
from gui.engine.plan.sample import copy_sample_project
from gui.engine.trainer.events import Phase
from gui.engine.trainer.safetensors_file import read_header
from gui.engine.trainer.tensors import check_tensors

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def same(one, other) -> bool:
    first, second = load_file(one), load_file(other)
    return first.keys() == second.keys() and all((first[name] == second[name]).all() for name in first)


def up_norm(path) -> float:
    return float((load_file(path)["lora_unet_conv_in.lora_up.weight"].astype("f8") ** 2).sum() ** 0.5)


@pytest.fixture(scope="module")
def saving(tmp_path_factory):
    """A short run that writes all there is."""
    folder = tmp_path_factory.mktemp("saving run")
    return practice(
        folder,
        *("--max_train_steps", 12, "--save_every_n_steps", 3, "--save_every_n_epochs", 1, "--save_state"),
        *("--save_last_n_steps", 3, "--save_last_n_steps_state", 6, "--save_precision", "fp16"),
        *("--log_with", "tensorboard", "--logging_dir", folder / "log"),
    )


def test_that_the_loss_falls_on_the_sample_project(tmp_path):
    plan = load_plan(copy_sample_project(tmp_path / "project")).plan
    arguments, dataset = plan.arguments, plan.dataset
    folder = tmp_path / "project" / "images"
    data = tmp_path / "data"
    shutil.copytree(folder / "pimolo", data / f"{dataset['subsets'][0]['num_repeats']}_pimolo")
    run = practice(
        tmp_path,
        *("--train_data_dir", data, "--resolution", 256, "--enable_bucket", "--min_bucket_reso", 128),
        *("--train_batch_size", dataset["batch_size"], "--max_train_epochs", 6, "--cache_latents"),
        *("--network_dim", arguments["network_dim"], "--network_alpha", arguments["network_alpha"]),
        *("--unet_lr", arguments["unet_lr"], "--text_encoder_lr", arguments["text_encoder_lr"]),
    )

    assert run.tally.last_step == 54
    assert run.losses[-1] < run.losses[8] / 2 < 0.25


def test_that_a_mad_learning_rate_gives_nan_at_once_and_nobody_stops(tmp_path):
    run = practice(tmp_path, "--learning_rate", "1e6", "--max_train_steps", 8, "--save_every_n_steps", 4)

    assert run.status == 0
    assert run.tally.model_saved
    assert run.tally.first_nonfinite_step in (2, 3)
    assert all(not math.isfinite(loss) for loss in run.losses[2:])
    assert check_tensors(run.out / "demo.safetensors").finite is False


def test_that_a_rate_that_is_too_high_gives_nan_late(tmp_path):
    folder = tmp_path / "log"
    run = practice(
        tmp_path,
        *("--learning_rate", "2e-2", "--max_train_steps", 80, "--save_every_n_steps", 5),
        *("--logging_dir", folder, "--train_batch_size", 2),
    )
    own = {point.step: point.value for point in run.points if point.tag == "loss/current"}

    assert run.status == 0
    assert run.tally.first_nonfinite_step > 8
    assert check_tensors(run.out / "demo-step00000005.safetensors").finite is True
    assert math.isfinite(own[run.tally.first_nonfinite_step - 1])
    assert not math.isfinite(run.losses[-1]), "the moving mean never comes back"


def test_that_float16_overflows_where_float32_and_bfloat16_do_not(tmp_path):
    rate = ("--learning_rate", "0.3", "--max_train_steps", 2, "--train_batch_size", 2)
    runs = {
        kind: practice(tmp_path / kind, *rate, "--mixed_precision", kind) for kind in ("no", "bf16", "fp16")
    }

    assert [run.status for run in runs.values()] == [0, 0, 0]
    assert runs["no"].tally.first_nonfinite_step is None
    assert runs["bf16"].tally.first_nonfinite_step is None
    assert runs["fp16"].tally.first_nonfinite_step is not None
    # The scaler leaves out steps that overflowed, so that the weights stay finite.
    assert check_tensors(runs["fp16"].out / "demo.safetensors").finite is True


def test_that_the_seed_decides_everything(tmp_path, saving):
    again = practice(tmp_path / "again", "--max_train_steps", 12, "--save_precision", "fp16")
    other = practice(tmp_path / "other", "--max_train_steps", 12, "--save_precision", "fp16", "--seed", 1)

    assert again.losses == saving.losses != other.losses
    assert same(again.out / "demo.safetensors", saving.out / "demo.safetensors")
    assert not same(other.out / "demo.safetensors", saving.out / "demo.safetensors")


def test_that_files_and_states_have_the_trainer_s_names_and_old_ones_go(saving):
    assert saving.files == [
        "demo-000001-state",
        "demo-000001.safetensors",
        "demo-state",
        "demo-step00000006-state",
        "demo-step00000009-state",
        "demo-step00000009.safetensors",
        "demo-step00000012-state",
        "demo-step00000012.safetensors",
        "demo.safetensors",
    ]
    assert "removing old checkpoint: " in saving.text
    assert "removing old state: " in saving.text
    state = json.loads((saving.out / "demo-step00000012-state" / "train_state.json").read_text("utf-8"))
    assert state == {"current_epoch": 2, "current_step": 12}


def test_that_a_checkpoint_has_the_trainer_s_names_and_metadata(saving):
    header = read_header(saving.out / "demo.safetensors")
    pairs = {
        name.rsplit(".", 1)[0].removesuffix(".lora_up").removesuffix(".lora_down") for name in header.tensors
    }

    assert header.complete
    assert {name.split("_")[1] for name in pairs} == {"unet", "te"}
    for pair in pairs:
        assert {
            f"{pair}.alpha",
            f"{pair}.lora_up.weight",
            f"{pair}.lora_down.weight",
        } <= header.tensors.keys()
    metadata = header.metadata
    assert metadata["ss_steps"] == "12"
    assert metadata["ss_epoch"] == "2"
    assert metadata["ss_network_dim"] == "4"
    assert metadata["ss_practice_trainer"] == "True"
    assert json.loads(metadata["ss_dataset_dirs"]) == {"1_sks thing": {"n_repeats": 1, "img_count": 10}}
    assert {
        "sshs_model_hash",
        "ss_tag_frequency",
        "ss_optimizer",
        "ss_seed",
        "modelspec.title",
    } <= metadata.keys()


def test_that_a_checkpoint_can_be_trained_on(tmp_path, saving):
    weights = saving.out / "demo.safetensors"
    run = practice(
        tmp_path,
        "--network_weights",
        weights,
        "--dim_from_weights",
        "--max_train_steps",
        1,
        "--learning_rate",
        1e-9,
    )

    assert f"load network weights from {weights}: <All keys matched successfully>" in run.text
    norms = [up_norm(path) for path in (weights, run.out / "demo.safetensors")]
    assert norms[0] > 0
    assert norms[1] == pytest.approx(norms[0], rel=2e-2)


def test_that_a_state_goes_on_where_it_was_saved(tmp_path, saving):
    state = saving.out / "demo-step00000006-state"
    run = practice(tmp_path, "--max_train_steps", 12, "--resume", state, "--skip_until_initial_step")

    assert "skipping 6 steps / 6ステップをスキップします" in run.text
    assert run.tally.settings["total optimization steps"] == 12
    assert (run.tally.last_step, run.tally.total) == (6, 6)
    before, after, straight = (
        up_norm(path)
        for path in (
            state / "model.safetensors",
            run.out / "demo.safetensors",
            saving.out / "demo.safetensors",
        )
    )
    assert before < after
    assert after == pytest.approx(straight, rel=0.3)


def test_that_a_state_alone_does_not_continue_the_count(tmp_path, saving):
    state = saving.out / "demo-step00000006-state"
    run = practice(tmp_path, "--max_train_steps", 8, "--resume", state)

    assert (run.tally.last_step, run.tally.total) == (8, 8)


def test_that_the_event_file_has_the_trainer_s_tags_at_each_step(saving):
    tags = {point.tag for point in saving.points}
    own = [point.step for point in saving.points if point.tag == "loss/current"]
    average = [point.value for point in saving.points if point.tag == "loss/average"]

    assert tags == {
        *("loss/current", "loss/average", "loss/epoch_average"),
        *("lr/textencoder", "lr/unet", "lr/group1"),
    }
    assert own == list(range(1, 13))
    assert average == pytest.approx(saving.losses, rel=5e-3)
    assert [p.step for p in saving.points if p.tag == "loss/epoch_average"] == [1, 2]


def test_that_held_out_images_are_validated_under_bars_of_their_own(tmp_path):
    run = practice(
        tmp_path,
        *("--max_train_epochs", 2, "--validation_split", 0.2, "--validation_seed", 1),
        *("--validate_every_n_steps", 4, "--logging_dir", tmp_path / "log"),
    )
    tags = {point.tag: point.step for point in run.points if "validation" in point.tag}

    assert run.tally.settings["num validation images * repeats"] == 2
    assert run.tally.last_step == 16
    assert run.text.count("epoch validation steps: 100%") >= 2
    assert "val_avg_loss=" in run.text
    assert "timestep=800" in run.text
    assert tags == {
        "loss/validation/step_average": 16,
        "loss/validation/step_divergence": 16,
        "loss/validation/epoch_average": 2,
        "loss/validation/epoch_divergence": 2,
    }


def test_that_steps_are_counted_as_the_trainer_counts_them(tmp_path):
    run = practice(
        tmp_path, "--train_batch_size", 4, "--gradient_accumulation_steps", 2, "--max_train_epochs", 3
    )

    assert run.tally.settings["num batches per epoch"] == 3
    assert run.tally.settings["total optimization steps"] == 6
    assert run.tally.last_step == 6


def test_that_a_dataset_config_is_followed(tmp_path):
    make_images(tmp_path / "a", 3)
    make_images(tmp_path / "b", 2, (128, 64))
    (tmp_path / "data.toml").write_text(
        f"""
        [general]
        caption_extension = ".txt"
        [[datasets]]
        resolution = 64
        batch_size = 2
        enable_bucket = true
        min_bucket_reso = 64
        [[datasets.subsets]]
        image_dir = '{tmp_path / "a"}'
        num_repeats = 3
        [[datasets]]
        resolution = [128, 64]
        [[datasets.subsets]]
        image_dir = '{tmp_path / "b"}'
        """,
        "utf-8",
    )
    run = practice(tmp_path, "--dataset_config", tmp_path / "data.toml", "--max_train_epochs", 1)

    assert run.tally.settings["num train images * repeats"] == 11
    assert run.tally.settings["batch size per device"] == "2, 1"
    assert run.tally.last_step == 5 + 2
    assert (
        json.loads(read_header(run.out / "demo.safetensors").metadata["ss_datasets"])[0]["num_train_images"]
        == 9
    )


def test_that_learning_rates_follow_their_schedules():
    script = """
import argparse, json, sys
from library.optimizers import _factor
base = dict(lr_decay_steps=2, lr_scheduler_num_cycles=2, lr_scheduler_power=2, lr_scheduler_timescale=None,
            lr_scheduler_min_lr_ratio=0.1)
rates = {}
for name, warmup in json.loads(sys.argv[1]):
    args = argparse.Namespace(**base, lr_warmup_steps=warmup)
    rates[name] = [round(_factor(args, name, 8, step), 4) for step in range(9)]
print(json.dumps(rates))
"""
    # What transformers.optimization, which the trainer uses, gave for the same arguments.
    expected = {
        "constant_with_warmup": [0, 0.25, 0.5, 0.75, 1, 1, 1, 1, 1],
        "linear": [0, 0.5, 1, 0.8333, 0.6667, 0.5, 0.3333, 0.1667, 0],
        "cosine": [1, 0.9619, 0.8536, 0.6913, 0.5, 0.3087, 0.1464, 0.0381, 0],
        "cosine_with_restarts": [1, 0.8536, 0.5, 0.1464, 1, 0.8536, 0.5, 0.1464, 0],
        "polynomial": [1, 0.7656, 0.5625, 0.3906, 0.25, 0.1406, 0.0625, 0.0156, 0],
        "warmup_stable_decay": [0.1, 0.55, 1, 1, 1, 1, 1, 0.1, 0.1],
        "inverse_sqrt": [0, 0.5, 1, 0.8165, 0.7071, 0.6325, 0.5774, 0.5345, 0.5],
        "cosine_with_min_lr": [1, 0.8682, 0.55, 0.2318, 0.1, 0.2318, 0.55, 0.8682, 1],
    }
    warmups = {"constant_with_warmup": 4, "linear": 0.25, "warmup_stable_decay": 2, "inverse_sqrt": 2}
    asked = json.dumps([(name, warmups.get(name, 0)) for name in expected])
    done = subprocess.run(
        [sys.executable, "-B", "-c", script, asked], cwd=TRAINER, capture_output=True, text=True, timeout=120
    )

    assert json.loads(done.stdout or done.stderr) == expected


def test_that_large_weights_are_scaled_down_where_that_is_asked_for(tmp_path):
    run = practice(tmp_path, "--learning_rate", 1e-2, "--scale_weight_norms", 0.5)

    assert "Keys Scaled=" in run.text
    assert "Average key norm=" in run.text
    assert run.tally.model_saved


def test_that_the_script_for_sdxl_keeps_what_the_text_encoder_made(tmp_path):
    words = ("--cache_latents", "--cache_text_encoder_outputs", "--mixed_precision", "bf16")
    script = "sdxl_train_network.py"
    run = practice(tmp_path, *words, "--network_train_unet_only", script=script)
    refused = practice(tmp_path, *words, script=script)

    phases = [event.phase for event in run.events if isinstance(event, Phase)]
    assert phases[:3] == ["loading", "caching-latents", "caching-text"]
    assert "text_encoder [1] dtype: torch.float32" in run.text
    assert run.tally.last_step == 6
    assert run.tally.model_saved
    assert refused.tally.cause.message.startswith("network for Text Encoder cannot be trained with caching")


def test_that_the_compiler_that_is_spared_at_the_start_comes_when_it_is_wanted():
    script = """
import sys, torch
from library.quick_start import without_compiler
without_compiler()
weight = torch.nn.Parameter(torch.ones(2))
optimizer = torch.optim.AdamW([weight], lr=0.1, weight_decay=0)
weight.sum().backward()
optimizer.step()
print("torch._dynamo.utils" in sys.modules, round(weight[0].item(), 3))
print(torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1)).item())
optimizer.step()
"""
    done = subprocess.run(
        [sys.executable, "-B", "-c", script], cwd=TRAINER, capture_output=True, text=True, timeout=240
    )

    assert done.stdout.split() == ["False", "0.9", "2.0"], done.stderr
    assert done.returncode == 0
