"""Settings of the kohya_ss GUI give the plan that the GUI would have trained."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gui.engine.errors import CannotRead
from gui.engine.importers.kohya_rules import gui_rules
from gui.engine.importers.reading import read_setup
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.judging import judge_arguments
from gui.engine.trainer.values import Words, words_for

CATALOGUE = Catalogue.bundled()
PEERS = os.environ.get("KOHYA_PREFLIGHT_PEER_PRESETS")


def read(settings: dict, tmp_path: Path):
    file = tmp_path / "settings.json"
    file.write_text(json.dumps(settings))
    return read_setup(file, None, CATALOGUE)


def assert_accepted(plan) -> None:
    """Every argument is known to the script and can be spelled for its parser."""
    known = CATALOGUE.script(plan.script)
    assert [each.title for each in judge_arguments(plan.arguments, known, CATALOGUE)] == []
    for name, value in plan.arguments.items():
        assert isinstance(words_for(known.arguments[name], value), Words)


@pytest.mark.skipif(
    not PEERS, reason="KOHYA_PREFLIGHT_PEER_PRESETS names no folder of presets of the kohya_ss GUI"
)
def test_that_every_preset_of_the_gui_imports_and_is_accepted() -> None:
    files = sorted(Path(PEERS or "").rglob("*.json"))
    assert len(files) >= 37
    for file in files:
        given = read_setup(file, None, CATALOGUE)
        assert given.kind == "kohya-gui"
        assert given.file.plan.family
        assert_accepted(given.file.plan)


def test_that_a_lora_of_sdxl_is_read_by_the_guis_own_rules(tmp_path: Path) -> None:
    given = read(
        {
            "LoRA_type": "Standard",
            "sdxl": True,
            "sdxl_no_half_vae": True,
            "sdxl_cache_text_encoder_outputs": False,
            "flux1_cache_text_encoder_outputs": True,
            "v2": False,
            "optimizer": "AdamW8bit",
            "optimizer_args": '"weight_decay=0.1" betas=0.9,0.99',
            "learning_rate": "0.0001",
            "unet_lr": 0.0002,
            "text_encoder_lr": 0,
            "lr_warmup": "10",
            "epoch": 8,
            "max_train_epochs": "",
            "max_train_steps": 0,
            "max_resolution": "1024,768",
            "train_batch_size": 2.0,
            "seed": "",
            "clip_skip": "1",
            "max_token_length": "75",
            "noise_offset_type": "Multires",
            "noise_offset": 0.05,
            "multires_noise_iterations": 6,
            "multires_noise_discount": 0.2,
            "network_dim": 32,
            "rank_dropout": 0,
            "module_dropout": 0.1,
            "xformers": True,
            "lowvram": True,
            "model_list": "custom",
            "num_cpu_threads_per_process": 4,
            "gpu_ids": "0,1",
            "extra_accelerate_launch_args": "--num_machines 1",
            "additional_parameters": '--max_grad_norm=0 --log_prefix="x"',
            "sample_prompts": "a cat --w 512",
            "hunyuan_vae": "",
            "wandb_api_key": "0123456789",
            "unheard_of": 5,
        },
        tmp_path,
    )
    plan = given.file.plan
    assert (plan.script, plan.family, plan.kind) == ("sdxl_train_network.py", "sdxl", "lora")
    assert plan.arguments == {
        "no_half_vae": True,
        "optimizer_type": "AdamW8bit",
        "optimizer_args": ["weight_decay=0.1", "betas=0.9,0.99"],
        "learning_rate": 0.0001,
        "clip_skip": 1,
        "multires_noise_iterations": 6,
        "multires_noise_discount": 0.2,
        "network_dim": 32,
        "network_module": "networks.lora",
        "network_args": ["module_dropout=0.1"],
        "unet_lr": 0.0002,
        "network_train_unet_only": True,
        "xformers": True,
        "max_train_epochs": 8,
        "lr_warmup_steps": 0.1,
        "max_grad_norm": 0.0,
        "log_prefix": "x",
    }
    assert plan.dataset == {"resolution": [1024, 768], "batch_size": 2}
    assert (plan.launch.gpu_ids, plan.launch.num_cpu_threads_per_process) == ((0, 1), 4)
    assert set(given.secrets) == {"wandb_api_key"}
    said = "\n".join(given.file.notes)
    for part in ("unheard_of", "lowvram was removed", "max_train_epochs", "sample_prompts"):
        assert part in said
    assert "0123456789" not in said
    assert_accepted(plan)


@pytest.mark.parametrize("lora_type", sorted(gui_rules().lora_types))
@pytest.mark.parametrize("box", ["", "sdxl", "flux1_checkbox", "sd3_checkbox"])
def test_that_every_lora_type_gives_a_module_and_arguments_that_are_accepted(
    tmp_path, lora_type, box
) -> None:
    full = {
        "LoRA_type": lora_type,
        "LyCORIS_preset": "full",
        "conv_dim": 4,
        "conv_alpha": 1,
        "rank_dropout": 0,
    }
    plan = read({**full, **({box: True} if box else {}), "network_dim": 8}, tmp_path).file.plan
    assert "." in plan.arguments["network_module"]
    assert_accepted(plan)


@pytest.mark.parametrize(
    ("settings", "script", "arguments"),
    [
        ({"lr_warmup": 0, "sd3_checkbox": True, "sd3_clip_l": "l"}, "sd3_train.py", {"clip_l": "l"}),
        (
            {
                "full_path": True,
                "train_dir": "d",
                "use_latent_files": "Yes",
                "latent_metadata_filename": "m.json",
                "image_folder": "i",
                "batch_size": 3,
            },
            "fine_tune.py",
            {},
        ),
        (
            {"lr_warmup": 0, "token_string": "x", "lr_warmup_steps": 7},
            "train_textual_inversion.py",
            {"token_string": "x", "lr_warmup_steps": 7},
        ),
        ({"optimizer": "Lion", "sdpa": True, "xformers": "none"}, "train_db.py", {"optimizer_type": "Lion"}),
        (
            {"lr_warmup": 0, "use_8bit_adam": True, "xformers": "sdpa"},
            "train_db.py",
            {"optimizer_type": "AdamW8bit", "sdpa": True},
        ),
        (
            {
                "LoRA_type": "Flux1",
                "split_mode": True,
                "text_encoder_lr": 1e-5,
                "t5xxl_lr": 2e-5,
                "unet_lr": 0,
                "sample_prompts": "p.txt",
                "stop_text_encoder_training": 5,
            },
            "flux_train_network.py",
            {
                "split_mode": True,
                "network_module": "networks.lora_flux",
                "network_args": ["train_blocks=single"],
                "text_encoder_lr": [1e-5, 2e-5],
                "network_train_text_encoder_only": True,
                "sample_prompts": "p.txt",
            },
        ),
        ({"LoRA_type": "Brand new"}, "train_network.py", {"network_module": "networks.lora"}),
    ],
)
def test_that_other_kinds_of_training_find_their_script(
    tmp_path: Path, monkeypatch, settings, script, arguments
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = read(settings, tmp_path).file.plan
    assert plan.script == script
    assert plan.arguments == arguments


@pytest.mark.parametrize("text", ["schema: 1\n", "a: [\n"])
def test_that_broken_rules_are_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(text)
    with pytest.raises(CannotRead):
        gui_rules(file)


def test_that_a_value_no_plan_can_hold_is_named(tmp_path: Path) -> None:
    plan = read({"LoRA_type": "Standard", "num_processes": {"a": 1}, "network_dim": [3]}, tmp_path).file.plan
    assert plan.arguments["network_dim"] == 3
