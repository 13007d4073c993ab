"""The way on after a broken loss, and the prompts of samples: read from the run's folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from gui.engine.runs.folder import RunFolder
from gui.engine.runs.milder import milder_plan
from gui.engine.runs.records import CommandRecord
from gui.engine.runs.sample_prompts import sample_plan


def run_with(tmp_path: Path, *words: str, name: str | None = "mira") -> RunFolder:
    run = RunFolder(tmp_path / "run")
    run.path.mkdir()
    argv = ("python", "train_network.py", *words)
    CommandRecord(argv=argv, cwd=tmp_path, python="python", output_name=name).write(run.command)
    return run


LORA = ("--network_module", "networks.lora", "--optimizer_type", "AdamW")


def test_that_all_rates_are_halved_and_the_clean_file_is_where_it_begins(tmp_path):
    run = run_with(tmp_path, *LORA, "--unet_lr", "3e-4", "--text_encoder_lr", "1e-5", "2e-5")
    plan = milder_plan(run)
    assert plan is not None
    rates = {"unet_lr": 1.5e-4, "text_encoder_lr": [5e-6, 1e-5]}
    offer = plan.offer(507, Path("/out/m-400.safetensors"), 400)
    assert offer == (
        "Half the learning rate, from step 400",
        {**rates, "network_weights": str(Path("/out/m-400.safetensors"))},
    )
    assert plan.offer(507, None, None) == ("Half the learning rate", rates)
    assert plan.offer(507, Path("/out/m.ckpt"), 4) == ("Half the learning rate", rates)
    named = plan.offer(507, Path("/out/m.safetensors"), None)
    assert named is not None and named.words == "Half the learning rate, from the last clean file"


def test_that_at_the_first_step_the_rate_is_not_blamed_unless_it_is_mad(tmp_path):
    plan = milder_plan(run_with(tmp_path, *LORA, "--learning_rate", "1e-4"))
    assert plan is not None and plan.offer(1, None, None) is None
    assert plan.offer(None, None, None) is None


def test_that_a_mad_rate_is_replaced_not_halved(tmp_path):
    plan = milder_plan(run_with(tmp_path, *LORA, "--learning_rate", "1", "--text_encoder_lr", "1e-5"))
    assert plan is not None
    offer = plan.offer(1, Path("/out/m.safetensors"), 1)
    assert offer == ("Learning rate 0.0001 instead", {"learning_rate": 1e-4, "text_encoder_lr": 1e-5})


@pytest.mark.parametrize(
    "words",
    [
        ("--optimizer_type", "Prodigy", "--learning_rate", "1"),
        ("--optimizer_type", "AdamW"),
        ("--learning_rate", "lots"),
        ("--unet_lr", "1e-4", "lots"),
        (),
    ],
)
def test_that_there_is_no_milder_plan_where_there_is_no_rate(tmp_path, words):
    assert milder_plan(run_with(tmp_path, *words)) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.txt", "# not this\n\n one cat --w 64\n two dogs\n"),
        ("p.json", '[{"prompt": "one cat --w 64"}, {"prompt": "two dogs"}, {"prompt": 3}, 4]'),
        (
            "p.toml",
            '[prompt]\nprompt = "two dogs"\n'
            '[[prompt.subset]]\nprompt = "one cat --w 64"\n[[prompt.subset]]\n',
        ),
    ],
)
def test_that_prompts_are_numbered_as_the_trainer_does(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    plan = sample_plan(run_with(tmp_path, "--sample_prompts", name, "--sample_every_n_steps", "4"))
    assert plan.wanted and plan.output_name == "mira"
    assert (plan.prompt(0), plan.prompt(1)) == ("one cat --w 64", "two dogs")
    assert plan.prompt(None) == plan.prompt(-1) == plan.prompt(9) == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [("p.toml", "prompt = 3"), ("p.toml", "not ="), ("p.json", "{}"), ("p.json", "[" * 10_000)],
)
def test_that_broken_prompts_are_none(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert sample_plan(run_with(tmp_path, "--sample_prompts", name)).prompts == ()


def test_that_missing_files_are_none(tmp_path):
    run = run_with(tmp_path, "--sample_prompts", "gone.txt", "--sample_at_first", name="sub/mira")
    plan = sample_plan(run)
    assert plan.wanted and plan.prompts == () and plan.output_name == "mira"
    run.command.unlink()
    assert sample_plan(run) == sample_plan(RunFolder(tmp_path / "nothing"))
