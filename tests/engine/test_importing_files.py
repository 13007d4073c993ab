"""TOML files of the trainer and of LoRA_Easy_Training_Scripts, and trained files, become plans."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from gui.engine.errors import CannotRead, ScriptNeeded
from gui.engine.importers.reading import read_setup
from gui.engine.importers.typed_values import typed_value
from gui.engine.trainer.argument import Argument
from gui.engine.trainer.catalogue import Catalogue

CATALOGUE = Catalogue.bundled()


def read(tmp_path: Path, text: str, script: str | None = None, name: str = "a.toml"):
    (tmp_path / name).write_text(text)
    return read_setup(tmp_path / name, script, CATALOGUE)


def test_that_a_config_file_needs_its_script_or_names_it(tmp_path: Path) -> None:
    text = "[x]\nnetwork_dim = 8\nlearning_rate = 1\n"
    with pytest.raises(ScriptNeeded):
        read(tmp_path, text)
    given = read(tmp_path, f"# script: train_network.py\n{text}")
    assert (given.kind, given.file.plan.arguments) == ("config", {"network_dim": 8, "learning_rate": 1.0})
    assert read(tmp_path, text, "sdxl_train_network").file.plan.family == "sdxl"


def test_that_a_pair_of_files_becomes_one_plan(tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text('[[datasets]]\n[[datasets.subsets]]\nimage_dir = "i"\nnum_repeats = 2\n')
    given = read(
        tmp_path, 'dataset_config = "d.toml"\nresolution = "512,512"\nseed = 3\n', "train_network.py"
    )
    plan = given.file.plan
    assert plan.arguments == {"seed": 3}
    assert plan.dataset["resolution"] == [512, 512]
    assert plan.dataset["subsets"][0]["num_repeats"] == 2


def test_that_a_dataset_file_alone_is_a_beginning(tmp_path: Path) -> None:
    text = "[general]\nflip_aug = true\n[[datasets]]\nresolution = 512\n[[datasets]]\nresolution = 768\n"
    given = read(tmp_path, text)
    assert given.kind == "dataset"
    assert given.file.plan.script is None
    assert given.file.plan.dataset == {
        "flip_aug": True,
        "datasets": [{"resolution": 512}, {"resolution": 768}],
    }
    with pytest.raises(CannotRead, match="no plan"):
        read(tmp_path, "general = 5\n")


EASY = """
[[subsets]]
image_dir = "C:/images"
num_repeats = 4
name = "one"
[train_mode]
train_mode = "lora"
[general_args.args]
sdxl = true
seed = 5
xformers = true
max_train_epochs = 3
[general_args.dataset_args]
batch_size = 2
resolution = [1024, 1024]
[network_args.args]
network_dim = 8
[network_args.args.network_args]
algo = "loha"
conv_dim = 4
betas = [1, 2]
[optimizer_args.args]
optimizer_type = "AdamW8bit"
warmup_ratio = 0.1
save_n_epoch_ratio = 2
made_up = 5
[optimizer_args.args.optimizer_args]
weight_decay = 0.1
"""


def test_that_settings_of_lora_easy_training_scripts_are_read(tmp_path: Path) -> None:
    given = read(tmp_path, EASY)
    plan = given.file.plan
    assert (given.kind, plan.script, plan.family) == ("lora-easy", "sdxl_train_network.py", "sdxl")
    assert plan.arguments == {
        "seed": 5,
        "xformers": True,
        "max_train_epochs": 3,
        "network_module": "lycoris.kohya",
        "network_args": ["algo=loha", "conv_dim=4", "betas=1,2"],
        "network_dim": 8,
        "optimizer_type": "AdamW8bit",
        "optimizer_args": ["weight_decay=0.1"],
        "lr_warmup_steps": 0.1,
    }
    assert plan.dataset["batch_size"] == 2
    assert plan.dataset["subsets"][0]["num_repeats"] == 4
    assert "made_up, save_n_epoch_ratio" in "\n".join(given.file.notes)


@pytest.mark.parametrize(
    ("part", "script", "module"),
    [
        ("[a.args]\nfa = true\n", "train_network.py", "networks.lora_fa"),
        ("[a.args.network_args]\nalgo = 'lora'\nunit = 4\n", "train_network.py", "networks.dylora"),
        ("[flux_args.args]\nt5xxl = 'x'\n", "flux_train_network.py", "networks.lora_flux"),
        (
            "[train_mode]\ntrain_mode = 'textual_inversion'\n[a.args]\nseed = 1\n",
            "train_textual_inversion.py",
            None,
        ),
    ],
)
def test_that_lora_easy_chooses_script_and_module(tmp_path: Path, part, script, module) -> None:
    plan = read(tmp_path, part).file.plan
    assert plan.script == script
    assert plan.arguments.get("network_module") == module


def model(path: Path, metadata: dict[str, str]) -> Path:
    header = json.dumps(
        {"__metadata__": metadata, "a": {"dtype": "F16", "shape": [1], "data_offsets": [0, 2]}}
    )
    raw = header.encode()
    path.write_bytes(struct.pack("<Q", len(raw)) + raw + b"\0\0")
    return path


def test_that_a_trained_file_gives_its_own_settings_again(tmp_path: Path) -> None:
    metadata = {
        "ss_base_model_version": "sdxl_base_v1-0",
        "ss_network_module": "networks.lora",
        "ss_network_dim": "16",
        "ss_network_alpha": "8.0",
        "ss_network_args": '{"conv_dim": "4"}',
        "ss_learning_rate": "0.0001",
        "ss_unet_lr": "None",
        "ss_optimizer": "bitsandbytes.optim.adamw.AdamW8bit(weight_decay=0.1,betas=(0.9, 0.99))",
        "ss_gradient_checkpointing": "True",
        "ss_full_fp16": "False",
        "ss_max_train_steps": "300",
        "ss_mixed_precision": "bf16",
        "ss_sd_model_name": "base.safetensors",
        "ss_datasets": json.dumps(
            [
                {
                    "batch_size_per_device": 2,
                    "enable_bucket": True,
                    "resolution": [1024, 1024],
                    "subsets": [
                        {"image_dir": "5_mira", "num_repeats": 5, "class_tokens": "mira", "is_reg": False}
                    ],
                }
            ]
        ),
    }
    given = read_setup(model(tmp_path / "mira.safetensors", metadata), None, CATALOGUE)
    plan = given.file.plan
    assert (given.kind, plan.name, plan.family) == ("model", "mira", "sdxl")
    assert plan.arguments == {
        "network_module": "networks.lora",
        "network_dim": 16,
        "network_alpha": 8.0,
        "network_args": ["conv_dim=4"],
        "learning_rate": 0.0001,
        "optimizer_type": "AdamW8bit",
        "optimizer_args": ["weight_decay=0.1", "betas=(0.9,0.99)"],
        "gradient_checkpointing": True,
        "max_train_steps": 300,
        "mixed_precision": "bf16",
    }
    assert (plan.dataset["batch_size"], plan.dataset["resolution"]) == (2, [1024, 1024])
    assert plan.dataset["subsets"][0]["class_tokens"] == "mira"
    assert "base.safetensors" in "\n".join(given.file.notes)


def test_that_an_old_files_flat_metadata_is_read(tmp_path: Path) -> None:
    metadata = {
        "ss_base_model_version": "sd_v2_768_v",
        "ss_v2": "True",
        "ss_network_module": "networks.lora",
        "ss_optimizer": "my.own.Optimizer",
        "ss_resolution": "(512, 768)",
        "ss_batch_size_per_device": "4",
        "ss_dataset_dirs": '{"3_cat": {"n_repeats": 3, "img_count": 4}, "cats": {}}',
        "ss_reg_dataset_dirs": "{'broken",
    }
    plan = read_setup(model(tmp_path / "cat.bin", metadata), None, CATALOGUE).file.plan
    assert plan.family == "sd2-v"
    assert plan.arguments["optimizer_type"] == "my.own.Optimizer"
    assert plan.dataset["resolution"] == [512, 768]
    assert plan.dataset["batch_size"] == 4
    assert [subset.get("num_repeats") for subset in plan.dataset["subsets"]] == [3, None]


def test_that_several_datasets_of_a_file_stay_several(tmp_path: Path) -> None:
    metadata = {
        "ss_network_module": "x",
        "ss_datasets": '[{"resolution": "(512, 512)"}, {"resolution": null}]',
    }
    plan = read_setup(model(tmp_path / "a.safetensors", metadata), None, CATALOGUE).file.plan
    assert [entry.get("resolution") for entry in plan.dataset["datasets"]] == [[512, 512], None]


def test_that_a_file_that_tells_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotRead, match="how it was trained"):
        read_setup(model(tmp_path / "a.safetensors", {}), None, CATALOGUE)


@pytest.mark.parametrize(
    ("row", "value", "typed"),
    [
        ({"type": "int"}, 5.0, 5),
        ({"type": "int"}, "5", 5),
        ({"type": "int"}, "five", "five"),
        ({"type": "int"}, 5.5, 5.5),
        ({"type": "float"}, 1, 1.0),
        ({"type": "float"}, [2], 2.0),
        ({"type": "str"}, 5.0, "5"),
        ({"type": "str"}, True, True),
        ({"type": "int_or_float"}, "10%", "10%"),
        ({"type": "int_or_float"}, "0.1", 0.1),
        ({"type": "int_or_float"}, 100.0, 100),
        ({"nargs": "*", "type": "float"}, "1 2", [1.0, 2.0]),
        ({"nargs": "*"}, "'a", ["'a"]),
        ({"nargs": "*"}, ("a",), ["a"]),
        ({"nargs": "*", "type": "float"}, 5, [5.0]),
        ({"action": "_StoreTrueAction"}, 1.0, True),
        ({"action": "_StoreTrueAction"}, "no", False),
        ({"action": "_StoreTrueAction"}, "maybe", "maybe"),
    ],
)
def test_that_values_get_the_type_of_the_parser(row, value, typed) -> None:
    got = typed_value(Argument(flags=("--a",), dest="a", **row), value)
    assert (got, type(got)) == (typed, type(typed))
    assert typed_value(None, value) == value
