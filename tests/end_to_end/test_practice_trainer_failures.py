"""The practice trainer fails as the real one does: the same words, the same status, the same leftovers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from PIL import Image
from practice_runs import BASE, TRAINER, make_images, part, practice

from gui.engine.runs.diagnosis import diagnose_log
from gui.engine.trainer.safetensors_file import read_header

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def diagnosed(run) -> list[str]:
    return [diagnosis.id for diagnosis in diagnose_log([run.data])]


@pytest.mark.parametrize("folder", ["missing", "data/1_sks thing"])
def test_that_without_data_it_says_so_and_ends_with_zero(tmp_path, folder):
    run = practice(tmp_path, "--train_data_dir", tmp_path / folder)

    assert run.status == 0
    assert "ERROR    No data found. Please verify arguments (train_data_dir must be the parent" in run.text
    assert run.tally.nothing_to_train
    assert "Traceback" not in run.text
    assert not run.out.exists()


def test_that_a_folder_without_repeats_is_passed_over(tmp_path):
    make_images(tmp_path / "data" / "sks thing")
    run = practice(tmp_path)

    assert (
        "ignore directory without repeats / 繰り返し回数のないディレクトリを無視します: sks thing" in run.text
    )
    assert run.tally.nothing_to_train


@pytest.mark.parametrize("words", [("--cache_latents",), ("--enable_bucket", "--min_bucket_reso", 64)])
def test_that_a_cut_image_ends_it(tmp_path, words):
    image = make_images(tmp_path / "data" / "1_sks thing") / "img03.png"
    pixels = os.urandom(64 * 64 * 3)
    Image.frombytes("RGB", (64, 64), pixels).save(image)
    image.write_bytes(image.read_bytes()[:6000])
    run = practice(tmp_path, *words, "--max_train_steps", 20)

    assert run.status == 1
    assert f"ERROR    Error loading file: {image}" in run.text
    assert run.tally.cause.type == "OSError"
    assert run.tally.cause.message.startswith("image file is truncated")
    assert run.text.count("Traceback (most recent call last):") >= 1


def test_that_a_cut_image_is_told_by_the_worker_that_found_it(tmp_path):
    image = make_images(tmp_path / "data" / "1_sks thing", 2) / "img00.png"
    image.write_bytes(image.read_bytes()[:60])
    run = practice(tmp_path, "--max_data_loader_n_workers", 1)

    assert run.status == 1
    assert "Error: Caught " in run.text
    assert "in DataLoader worker process 0." in run.text
    assert "Original Traceback (most recent call last):" in run.text


def test_that_a_file_that_is_no_image_ends_it_in_a_division(tmp_path):
    image = make_images(tmp_path / "data" / "1_sks thing") / "img03.png"
    image.write_text("not an image", "utf-8")
    run = practice(tmp_path)

    assert run.status == 1
    assert f"WARNING  failed to get image size: {image}, error: cannot identify image file" in run.text
    assert run.tally.cause.type == "ZeroDivisionError"
    assert run.tally.cause.message == "division by zero"


def test_that_an_image_of_another_size_ends_it_without_buckets_and_cache(tmp_path):
    make_images(tmp_path / "data" / "1_sks thing", 2, (96, 64))
    run = practice(tmp_path)

    assert run.status == 1
    assert "AssertionError: image too large, but cropping and bucketing are disabled / " in run.text
    assert run.text.index("Traceback") < run.text.rindex("steps:   0%"), "the bar closes after the traceback"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--no_such_option", 3), "train_network.py: error: unrecognized arguments: --no_such_option 3"),
        (
            ("--max_train_steps", "five"),
            "train_network.py: error: argument --max_train_steps: invalid int value: 'five'",
        ),
        (
            ("--save_precision", "fp32"),
            "train_network.py: error: argument --save_precision: invalid choice: 'fp32' (choose from ",
        ),
        (
            ("--lr_warmup_steps", "100.0"),
            "train_network.py: error: argument --lr_warmup_steps: '100.0' is not an int or float",
        ),
    ],
)
def test_that_a_wrong_command_line_is_refused_with_status_two(tmp_path, words, line):
    run = practice(tmp_path, *words)

    assert run.status == 2
    assert line in run.text
    assert run.text.startswith("usage: train_network.py [-h]")


REFUSED = {
    "cached colours": (
        ("--cache_latents", "--color_aug"),
        "AssertionError: when caching latents, either color_aug or random_crop cannot be used / ",
    ),
    "half without mixed": (("--full_fp16",), "AssertionError: full_fp16 requires mixed precision='fp16' / "),
    "no such optimizer": (
        ("--optimizer_type", "Nope"),
        "AttributeError: module 'torch.optim' has no attribute 'Nope'",
    ),
    "needless warm-up": (
        ("--lr_warmup_steps", 3),
        "ValueError: constant does not require `num_warmup_steps`. Set None or 0.",
    ),
    "tracker without folder": (
        ("--log_with", "tensorboard"),
        "ValueError: logging_dir is required when log_with is tensorboard / ",
    ),
    "network of another model": (
        ("--network_module", "networks.lora_flux"),
        "ModuleNotFoundError: No module named 'networks.lora_flux'",
    ),
    "no such model": (
        ("--pretrained_model_name_or_path", "/no/such.safetensors"),
        'ValueError: The provided pretrained_model_name_or_path "/no/such.safetensors" is neither a valid',
    ),
    "no such state": (
        ("--resume", "/no/such-state"),
        "ValueError: Tried to find /no/such-state but folder does not exist",
    ),
    "nothing to train": (
        ("--network_train_unet_only", "--network_train_text_encoder_only"),
        "ValueError: optimizer got an empty parameter list",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_that_what_the_trainer_refuses_is_refused_in_its_words(tmp_path, name):
    words, last = REFUSED[name]
    run = practice(tmp_path, *words)

    assert run.status == 1
    assert last in run.text
    assert not run.out.exists()


def test_that_a_missing_network_module_is_noticed_late(tmp_path):
    run = practice(tmp_path, left_out=["network_module"])

    assert run.status == 1
    assert run.tally.cause.message == "'NoneType' object has no attribute 'startswith'"


def test_that_a_missing_output_folder_is_noticed_only_at_the_save(tmp_path):
    run = practice(tmp_path, "--max_train_steps", 4, left_out=["output_dir"])

    assert run.status == 1
    assert run.tally.last_step == 4
    assert run.tally.cause.type == "TypeError"
    assert run.tally.cause.message.endswith("not NoneType")
    assert not run.tally.model_saved


def test_that_a_cut_base_model_is_refused(tmp_path):
    cut = tmp_path / "cut.safetensors"
    cut.write_bytes(BASE.read_bytes()[:100_000])
    run = practice(tmp_path, "--pretrained_model_name_or_path", cut)

    assert run.status == 1
    assert run.tally.cause.type.endswith("SafetensorError")
    assert diagnosed(run)[0] == "model-file-incomplete"


def test_that_any_other_base_is_only_looked_at(tmp_path):
    other = tmp_path / "some model.ckpt"
    other.write_bytes(b"never unpickled")
    run = practice(tmp_path, "--pretrained_model_name_or_path", other)

    assert "a small base model takes the place of some model.ckpt" in run.text
    assert run.tally.model_saved


@pytest.mark.skipif(os.name == "nt", reason="limits of file sizes are POSIX")
def test_that_a_full_disk_leaves_a_cut_file_under_the_final_name(tmp_path):
    make_images(tmp_path / "data" / "1_sks thing")
    script = (
        "import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (30000, 30000)); "
        "sys.path.insert(0, '.'); sys.argv[0] = 'train_network.py'; "
        "runpy.run_path('train_network.py', run_name='__main__')"
    )
    words = [
        *("--pretrained_model_name_or_path", BASE, "--train_data_dir", tmp_path / "data", "--resolution", 64),
        *("--network_module", "networks.lora", "--network_dim", 8, "--output_dir", tmp_path / "out"),
        *("--max_train_steps", 4, "--save_every_n_steps", 2, "--max_data_loader_n_workers", 0),
    ]
    ended = subprocess.run(
        [sys.executable, "-B", "-c", script, *map(str, words)], cwd=TRAINER, capture_output=True, timeout=240
    )
    text = ended.stderr.decode("utf-8")

    assert ended.returncode == 1
    assert "safetensors_rust.SafetensorError: Error while serializing: IoError(Os { code: 27, " in text
    left = tmp_path / "out" / "at-step00000002.safetensors"
    assert left.stat().st_size == 30000
    assert not read_header(left).complete


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_that_a_disk_without_space_is_named_as_such(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "demo-step00000002.safetensors").symlink_to("/dev/full")
    run = practice(tmp_path, "--save_every_n_steps", 2)

    assert run.status == 1
    assert run.tally.cause.message == (
        "Error while serializing: "
        'IoError(Os { code: 28, kind: StorageFull, message: "No space left on device" })'
    )
    assert diagnosed(run)[0] == "disk-full"


SUBSET = "[[datasets.subsets]]\nimage_dir = 'x'\n"
PLACE = "data['datasets'][0]"
CONFIGS = {
    "foo = 1": "extra keys not allowed @ data['foo']",
    "[general]\nis_reg = true": "extra keys not allowed @ data['general']['is_reg']",
    f"[[datasets]]\nbatch_size = '2'\n{SUBSET}": (
        f"expected int for dictionary value @ {PLACE}['batch_size']"
    ),
    f"[[datasets]]\nenable_bucket = 1\n{SUBSET}": (
        f"expected bool for dictionary value @ {PLACE}['enable_bucket']"
    ),
    f"[[datasets]]\nvalidation_split = 0\n{SUBSET}": (
        f"expected float for dictionary value @ {PLACE}['validation_split']"
    ),
    f"[[datasets]]\nresolution = '512'\n{SUBSET}": (
        f"expected int for dictionary value @ {PLACE}['resolution']"
    ),
    f"[[datasets]]\n{SUBSET}no_such_option = 1": (
        f"extra keys not allowed @ {PLACE}['subsets'][0]['no_such_option']"
    ),
    f"[[datasets]]\n{SUBSET}custom_attributes = 1": (
        f"expected dict for dictionary value @ {PLACE}['subsets'][0]['custom_attributes']"
    ),
    "[[datasets]]\n[[datasets.subsets]]\nnum_repeats = 1": (
        f"required key not provided @ {PLACE}['subsets'][0]['image_dir']"
    ),
    f"[[datasets]]\nbatch_size = true\n{SUBSET}": None,
    f"[[datasets]]\nresolution = [512, 768]\n{SUBSET}caption_dropout_rate = 0": None,
    "[[datasets]]\nbatch_size = 1": None,
    "": None,
}
"""What the trainer's own validator said of each, run by itself."""


@pytest.mark.parametrize("config", CONFIGS)
def test_that_a_dataset_config_is_judged_as_the_trainer_judges_it(config):
    schema = part("config_schema")
    reason = CONFIGS[config]

    if reason is None:
        schema.check_user_config(tomllib.loads(config))
    else:
        with pytest.raises(schema.MultipleInvalid, match=re.escape(reason)):
            schema.check_user_config(tomllib.loads(config))


@pytest.mark.parametrize(
    ("config", "last"),
    [
        (
            f"[[datasets]]\n{SUBSET}no_such_option = 1",
            "voluptuous.error.MultipleInvalid: extra keys not allowed @ "
            "data['datasets'][0]['subsets'][0]['no_such_option']",
        ),
        ("[[datasets]\n", "toml.decoder.TomlDecodeError: "),
    ],
)
def test_that_a_wrong_dataset_config_ends_it_in_the_trainer_s_words(tmp_path, config, last):
    (tmp_path / "data.toml").write_text(config, "utf-8")
    run = practice(tmp_path, "--dataset_config", tmp_path / "data.toml")

    assert run.status == 1
    assert last in run.text


def test_that_a_settings_file_is_taken_as_it_is(tmp_path):
    (tmp_path / "run.toml").write_text("[training]\nmax_train_steps = 2\nno_such_option = 3\n", "utf-8")
    run = practice(tmp_path, "--config_file", tmp_path / "run.toml", left_out=["max_train_steps"])
    missing = practice(tmp_path, "--config_file", tmp_path / "nope.toml")

    assert run.tally.last_step == 2
    assert run.tally.model_saved
    assert missing.status == 1
    assert "nope.toml not found." in missing.text


def test_that_settings_can_be_written_to_a_file_once(tmp_path):
    words = ("--output_config", "--config_file", tmp_path / "new.toml", "--huggingface_token", "hf_secret")
    first, second = practice(tmp_path, *words), practice(tmp_path, *words)

    assert (first.status, second.status) == (0, 1)
    assert "Saved config file / " in first.text
    assert "Config file already exists. Aborting... / " in second.text
    written = (tmp_path / "new.toml").read_text("utf-8")
    assert "learning_rate = 0.0001" in written
    assert "hf_secret" not in written


def test_that_without_torch_it_says_how_to_add_it(tmp_path):
    script = (
        "import sys; sys.modules['torch'] = None; import runpy; sys.path.insert(0, '.'); "
        "sys.argv[0] = 'train_network.py'; runpy.run_path('train_network.py', run_name='__main__')"
    )
    ended = subprocess.run(
        [sys.executable, "-B", "-c", script], cwd=TRAINER, capture_output=True, text=True, timeout=60
    )

    assert ended.returncode == 1
    assert ended.stdout == ""
    assert ended.stderr.count("\n") == 1
    assert "-m pip install torch" in ended.stderr


def test_that_paths_with_spaces_and_hangul_are_fine(tmp_path):
    folder = tmp_path / "한글 폴더 'n'"
    run = practice(folder, "--output_name", "결과 1", "--max_train_steps", 1)

    assert run.files == ["결과 1.safetensors"]
    shutil.rmtree(folder)
