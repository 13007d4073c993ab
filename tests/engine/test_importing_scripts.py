"""Scripts and pasted command lines become the plan that was meant, and what was mended is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from gui.engine.errors import CannotRead
from gui.engine.importers.reading import read_setup, read_setup_text
from gui.engine.trainer.catalogue import Catalogue

CATALOGUE = Catalogue.bundled()

N17 = """accelerate launch --num_cpu_threads_per_process=1 train_network.py \\
  --pretrained_model_name_or_path="model.safetensors" --train_data_dir="train" \\
  --resolution="512, 512" --enable_bucket=false --network_module=networks.lora \\
  --network_dim=16 --network_alpha=16 --train_batch_size=2 --gradient_accumulation_steps=4 \\
  --max_train_steps=4000 --learning_rate=1e-4 --unet_lr=1e-4 --text_encoder_lr=1e-5 \\
  --lr_scheduler=cosine --lr_warmup_steps=200 --mixed_precision=bf16 --clip_skip=2 --seed -1
"""


def paste(text: str, tmp_path: Path, script: str | None = None):
    return read_setup_text(text, script, CATALOGUE, base=tmp_path)


def notes_of(given) -> str:
    return "\n".join(given.file.notes)


def test_that_the_guides_command_gives_the_meant_plan_with_notes(tmp_path: Path) -> None:
    (tmp_path / "train" / "5_mira").mkdir(parents=True)
    given = paste(N17, tmp_path)
    plan = given.file.plan
    assert (plan.script, plan.family, plan.kind) == ("train_network.py", "sd15", "lora")
    assert plan.dataset["enable_bucket"] is False
    assert (plan.dataset["resolution"], plan.dataset["batch_size"]) == ([512, 512], 2)
    assert plan.dataset["subsets"][0]["class_tokens"] == "mira"
    assert plan.launch.num_cpu_threads_per_process == 1
    assert plan.arguments["lr_warmup_steps"] == 200
    assert plan.arguments["text_encoder_lr"] == [1e-5]
    assert plan.arguments["seed"] == -1
    assert "--enable_bucket=false" in notes_of(given)
    assert "512,512" in notes_of(given)


@pytest.mark.parametrize(
    ("line", "arguments", "note"),
    [
        ("--resolution 768, 768", {}, "768,768"),
        ("--gradient_check", {"gradient_checkpointing": True}, "is short for --gradient_checkpointing"),
        ("--xformers true", {"xformers": True}, "read as on"),
        ("--xformers=perhaps", {"xformers": "perhaps"}, "a switch takes no value"),
        ("--xformers perhaps", {"xformers": True}, "a switch takes no value"),
        ("--output_name my cat", {"output_name": "my cat"}, "Quotes are missing"),
        ("--lowvram", {"lowvram": True}, "does not know: lowvram"),
        ("--my_list a b", {"my_list": ["a", "b"]}, "my_list"),
        ("stray --seed 1", {"seed": 1}, "no argument takes it: stray"),
        ("--optimizer_args a=1 'b=(2, 3)'", {"optimizer_args": ["a=1", "b=(2, 3)"]}, ""),
        ("--output_name", {"output_name": ""}, ""),
        ("--lr_warmup_steps 0.1", {"lr_warmup_steps": 0.1}, ""),
    ],
)
def test_that_what_the_parser_would_refuse_is_mended_and_said(tmp_path: Path, line, arguments, note) -> None:
    given = paste(f"python train_network.py {line}", tmp_path)
    assert given.file.plan.arguments == arguments
    assert note in notes_of(given)


def test_that_an_argument_given_twice_is_found_and_the_last_counts(tmp_path: Path) -> None:
    given = paste("python flux_train_network.py --seed 1 --seed 2", tmp_path)
    assert given.file.plan.arguments == {"seed": 2}
    assert [(each.id, each.arguments) for each in given.findings] == [("dup-arg", ("seed",))]


def test_that_the_training_command_of_a_batch_file_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "run me.bat"
    file.write_text(
        "@echo off\r\nset MODEL=C:\\my models\\a.safetensors\r\ncd /d %~dp0\r\n"
        "call venv\\Scripts\\activate.bat\r\nset CUDA_VISIBLE_DEVICES=1\r\n"
        'accelerate launch --mixed_precision fp16 --gpu_ids 0 "sd-scripts\\sdxl_train_network.py" ^\r\n'
        ' --pretrained_model_name_or_path "%MODEL%" ^\r\n --seed 5 > log.txt\r\n'
        "python sdxl_train_network.py --seed 6\r\npython train_network.py --seed 7\r\npause\r\n",
        newline="",
    )
    given = read_setup(file, None, CATALOGUE)
    plan = given.file.plan
    assert (given.kind, plan.name, plan.script) == ("script", "run me", "sdxl_train_network.py")
    assert plan.arguments["seed"] == 5
    assert plan.arguments["pretrained_model_name_or_path"].endswith("a.safetensors")
    assert (plan.launch.gpu_ids, plan.launch.env) == ((0,), {"CUDA_VISIBLE_DEVICES": "1"})
    said = notes_of(given)
    assert "2 more commands start trainings" in said
    assert "activate.bat" in said
    assert "mixed_precision of accelerate" in said


def test_that_a_powershell_script_with_lists_is_read(tmp_path: Path) -> None:
    given = paste(
        '$steps = 300\n$more = @("--cache_latents", "--unet_lr=2e-4")\n$env:HF_HOME = "hf"\n'
        "if ($x) { $y = 1 }\n"
        "& accelerate launch --num_processes 2 --multi_gpu `\n  ./train_network.py `\n"
        "  --max_train_steps=$steps $more --output_name $missing",
        tmp_path,
    )
    plan = given.file.plan
    expected = {"max_train_steps": 300, "cache_latents": True, "unet_lr": 2e-4, "output_name": "$missing"}
    assert plan.arguments == expected
    assert (plan.launch.num_processes, plan.launch.env) == (2, {"HF_HOME": "hf"})
    assert "missing" in notes_of(given)
    assert "decides some things" in notes_of(given)


@pytest.mark.parametrize(
    ("words", "launch"),
    [
        ("--num_processes two --gpu_ids x --deepspeed_config a", {}),
        ("--gpu_ids all --dynamo_backend INDUCTOR", {"dynamo_backend": "inductor"}),
        ("--num-processes 3 --num_machines=2 --quiet", {"num_processes": 3, "num_machines": 2}),
    ],
)
def test_that_options_of_accelerate_become_launch_settings(tmp_path: Path, words, launch) -> None:
    given = paste(f"accelerate launch {words} train_network.py", tmp_path)
    told = given.file.plan.launch.model_dump(exclude_defaults=True)
    assert told == launch
    assert bool(launch) or "num_processes two, gpu_ids x, deepspeed_config" in notes_of(given)


@pytest.mark.parametrize(
    "start",
    [
        "python3.10",
        "python -m accelerate.commands.launch",
        "C:\\py\\python.exe",
        "!python",
        "uv run",
        "$ python",
    ],
)
def test_that_every_way_to_start_a_script_is_known(tmp_path: Path, start: str) -> None:
    assert paste(f"{start} train_network.py --seed 3", tmp_path).file.plan.arguments == {"seed": 3}


def test_that_tokens_are_kept_out_of_the_plan_and_of_every_word(tmp_path: Path) -> None:
    token = "hf_" + "s" * 20
    given = paste(
        f"export WANDB_API_KEY=abc123key\npython train_network.py --huggingface_token {token} --seed 1",
        tmp_path,
    )
    assert set(given.secrets) == {"huggingface_token", "wandb_api_key"}
    assert given.secrets["huggingface_token"].reveal() == token
    assert given.file.plan.arguments == {"seed": 1}
    shown = repr(given) + str(given.secrets) + notes_of(given)
    assert token not in shown
    assert "abc123key" not in shown
    (note,) = given.file.notes
    assert note.endswith("left out of the plan: huggingface_token, wandb_api_key.")


def test_that_several_arguments_on_a_line_need_only_the_scripts_name(tmp_path: Path) -> None:
    given = paste('--seed 1 --output_name "a b" ^\n --xformers', tmp_path, "train_network.py")
    assert given.file.plan.arguments == {"seed": 1, "output_name": "a b", "xformers": True}
    named = paste("# script: sdxl_train_network\n--seed 1\n", tmp_path)
    assert named.file.plan.script == "sdxl_train_network.py"
    with pytest.raises(CannotRead, match="quote"):
        paste('--seed 1 --output_name "a', tmp_path, "train_network.py")


BROKEN = {
    "a.bat": [
        ("@echo off\r\npython train_network.py ^ \r\n --seed 5 ^\r\n --xformers\r\npause\r\n", "line 3"),
        ("python train_network.py \\\r\n --seed 5 \\\r\n --xformers\r\n", "lines 2, 3"),
        (
            "cd \\\r\naccelerate launch --quiet ^  \r\n  train_network.py --seed 5\r\n  --xformers\r\n",
            "lines 3, 4",
        ),
    ],
    "a.sh": [
        ("python train_network.py \\ \n --seed 5 \\\n # --no\n --xformers\n", "lines 2, 4"),
        ("python train_network.py ^\n --seed 5 ^\n --xformers\n", "lines 2, 3"),
    ],
    "a.ps1": [
        ("python train_network.py ` \n --seed 5 `\n --xformers\n", "line 2"),
        ("python train_network.py \\\n --seed 5 ^\n --xformers\n", "lines 2, 3"),
    ],
    "a.txt": [
        ("python D:\\train_network.py ^ \n --seed 5 ^\n --xformers\n", "line 2"),
        ("python train_network.py ` \n --seed 5\n --xformers\n", "lines 2, 3"),
    ],
}


@pytest.mark.parametrize(
    ("name", "text", "lines"), [(name, *case) for name, cases in BROKEN.items() for case in cases]
)
def test_that_lines_behind_a_wrong_mark_are_taken_and_it_is_said(tmp_path: Path, name, text, lines) -> None:
    file = tmp_path / name
    file.write_text(text, newline="")
    given = read_setup(file, None, CATALOGUE)
    assert given.file.plan.arguments == {"seed": 5, "xformers": True}
    assert f"before {lines} and lose" in notes_of(given)
    assert notes_of(given).count("\n") <= ("cd " in text)


def test_that_pasted_arguments_behind_wrong_marks_are_taken(tmp_path: Path) -> None:
    given = paste("--seed 1 --output_name a \\ \n --xformers", tmp_path, "train_network.py")
    assert given.file.plan.arguments == {"seed": 1, "output_name": "a", "xformers": True}
    assert "before line 2 and lose" in notes_of(given)


def test_that_a_blank_as_a_value_is_no_wrong_mark(tmp_path: Path) -> None:
    given = paste("python train_network.py --caption_separator ' '\necho done", tmp_path)
    assert given.file.plan.dataset["caption_separator"] == " "
    assert not given.file.notes


def test_that_a_text_beyond_all_size_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotRead, match="too large"):
        paste("#" * (5 * 1024 * 1024), tmp_path)


def test_that_settings_files_named_on_the_line_are_read(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[a]\nseed = 1\nunet_lr = 1\n[b]\nmy_own = 2\n")
    (tmp_path / "data.toml").write_text("[general]\nshuffle_caption = true\n[[datasets]]\nresolution = 512\n")
    given = paste(
        "python train_network.py --config_file config --dataset_config data.toml --seed 2 "
        "--train_batch_size 3 --train_data_dir x",
        tmp_path,
    )
    plan = given.file.plan
    assert plan.arguments == {"seed": 2, "unet_lr": 1.0, "my_own": 2}
    assert plan.dataset == {"batch_size": 3, "shuffle_caption": True, "resolution": 512}
    assert "data.toml was taken over" in notes_of(given)
