"""The real parsers, the real dataset schema and the real accelerate take what this program makes."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from gui.engine.plan.dataset_judging import judge_dataset
from gui.engine.plan.dataset_toml import dataset_toml
from gui.engine.plan.model import TrainingPlan
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.command import TrainerCommand, build_command
from gui.engine.trainer.facts import TrainerFacts
from gui.engine.trainer.installs import TrainerInstall

PARSE = """
import importlib, json, sys
jobs = json.load(sys.stdin)
results = []
for script, words in jobs:
    try:
        results.append(vars(importlib.import_module(script).setup_parser().parse_args(words)))
    except SystemExit as stop:
        results.append({"exit": stop.code})
json.dump(results, sys.stdout, default=str)
"""

SANITIZE = """
import argparse, json, pathlib, sys, tempfile
from library import config_util
jobs = json.load(sys.stdin)
results = []
for text, wanted, schema in jobs:
    path = pathlib.Path(tempfile.mkdtemp()) / "dataset.toml"
    path.write_text(text, "utf-8")
    try:
        read = config_util.load_user_config(str(path))
        config_util.ConfigSanitizer(*schema).sanitize_user_config(read)
        results.append("ok" if wanted is None or read == wanted else f"read as {read}")
    except Exception as error:
        results.append(f"{type(error).__name__}: {error}")
json.dump(results, sys.stdout)
"""

LORA_SCHEMA = [True, True, False, True]


def ask(trainer, program: str, jobs) -> list:
    result = subprocess.run(
        [trainer.python, "-c", program],
        cwd=trainer.root,
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(trainer.root), "PYTHONUTF8": "1"},
        check=False,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    return json.loads(result.stdout[result.stdout.index("[") :])


def built(trainer, folder: Path, plan: TrainingPlan, **facts) -> TrainerCommand:
    install = TrainerInstall(root=trainer.root, python=trainer.python, origin="sd-scripts", label="real")
    known = TrainerFacts(
        root=str(trainer.root),
        python=str(trainer.python),
        packages={"accelerate": None, "tensorboard": None},
        **facts,
    )
    return build_command(plan, folder, install, known, Catalogue.bundled(), folder / "run", environ={})


# --- the parser -------------------------------------------------------------------------------

ODD = '내 모델 it\'s "q" %PATH% $HOME -x=1 ' + "d" * 200


def test_that_the_real_parser_reads_back_what_the_plan_says(real_trainer, tmp_path):
    arguments = {
        "pretrained_model_name_or_path": ODD,
        "output_dir": "-out",
        "output_name": "-leading",
        "network_dim": 16,
        "network_alpha": 0.5,
        "network_args": ["a=1", "b=c d", "c='=='"],
        "unet_lr": 1e-05,
        "text_encoder_lr": [1e-5, 2e-6],
        "lr_warmup_steps": "10%",
        "optimizer_args": ["betas=(0.9, 0.999)"],
        "seed": 0,
        "min_snr_gamma": 5,
        "mixed_precision": "bf16",
        "gradient_checkpointing": True,
        "xformers": False,
        "training_comment": "",
        "max_train_epochs": 3,
    }
    dataset = {"subsets": [{"image_dir": ODD}]}
    files = {"clip_l": "c", "t5xxl": "t", "ae": "a"}
    commands = [
        built(
            real_trainer, tmp_path, TrainingPlan(family=family, arguments=arguments | more, dataset=dataset)
        )
        for family, more in (("sd15", {}), ("sdxl", {}), ("flux1", files))
    ]
    jobs = []
    for command in commands:
        start = next(i for i, word in enumerate(command.argv) if word.endswith(command.script))
        jobs.append((command.script.removesuffix(".py"), command.argv[start + 1 :]))
    for command, read in zip(commands, ask(real_trainer, PARSE, jobs), strict=True):
        paths = {
            name: str(tmp_path / arguments[name]) for name in ("pretrained_model_name_or_path", "output_dir")
        }
        for name, value in (arguments | paths | {"lr_warmup_steps": 0.1}).items():
            assert read[name] == value, (command.script, name)
        assert read["network_module"] in ("networks.lora", "networks.lora_flux")
        assert read["dataset_config"] == str(tmp_path / "run" / "dataset.toml")
        assert read["log_with"] == "tensorboard"


# --- the dataset file ----------------------------------------------------------------------------


def test_that_the_real_schema_takes_the_dataset_file(real_trainer, tmp_path):
    everything = {
        "resolution": [768, 512],
        "batch_size": 2,
        "enable_bucket": True,
        "network_multiplier": 1,
        "validation_split": 0,
        "validation_seed": 1,
        "alpha_mask": True,
        "caption_extension": ".txt",
        "class_tokens": "x",
        "face_crop_aug_range": [2, 4],
        "token_warmup_step": 0.5,
        "caption_dropout_rate": 0,
        "resize_interpolation": "area",
        "subsets": [
            {"image_dir": "a", "num_repeats": 3, "is_reg": True, "custom_attributes": {"x": {"y": True}}}
        ],
    }
    jobs = [
        (dataset_toml(everything, tmp_path), None, LORA_SCHEMA),
        (dataset_toml({"datasets": [everything, everything]}, tmp_path), None, LORA_SCHEMA),
        (
            dataset_toml({"subsets": [{"metadata_file": "m.json"}]}, tmp_path),
            None,
            [False, True, False, True],
        ),
        (
            dataset_toml({"subsets": [{"image_dir": "a", "conditioning_data_dir": "c"}]}, tmp_path),
            None,
            [False, False, True, True],
        ),
    ]
    assert ask(real_trainer, SANITIZE, jobs) == ["ok"] * len(jobs)


REFUSED = [
    {"batchsize": 1},
    {"enable_bucket": 1},
    {"batch_size": 2.0},
    {"resolution": "768,768"},
    {"resolution": [768]},
    {"face_crop_aug_range": [1.0, 2.0, 3.0]},
    {"caption_prefix": 3},
    {"subsets": [{"image_dir": "a", "batch_size": 1}]},
    {"subsets": [{"image_dir": "a", "validation_split": 0.1}]},
    {"subsets": [{"num_repeats": 1}]},
    {"subsets": [{"image_dir": "a"}, {"metadata_file": "m", "image_dir": "a"}]},
    {"subsets": [{"image_dir": "a", "conditioning_data_dir": "c"}]},
    {"prior_loss_weight": 1.0},
]


def test_that_the_real_schema_refuses_what_is_judged_wrong(real_trainer, tmp_path):
    for dataset in REFUSED:
        assert judge_dataset(dataset, "train_network.py"), dataset
    jobs = [(dataset_toml(dataset, tmp_path), None, LORA_SCHEMA) for dataset in REFUSED]
    answers = ask(real_trainer, SANITIZE, jobs)
    taken = [dataset for dataset, answer in zip(REFUSED, answers, strict=True) if answer == "ok"]
    assert taken == []


def test_that_the_trainers_own_toml_reader_reads_odd_texts_as_meant(real_trainer, tmp_path):
    import random
    import tomllib

    from gui.engine.plan.dataset_toml import is_writable

    draw = random.Random(7)
    signs = [
        *"aZ0\\'\"#[],={} .$%&한😀\u2028\t\n\r",
        "\\u00e9",
        "\\x41",
        "'''",
        '"""',
        "C:\\new\\Users\\",
        "\r\n",
    ]
    texts = ["".join(draw.choices(signs, k=draw.randrange(10))) for _ in range(6000)]
    texts = [text for text in texts if is_writable(text)]
    assert len(texts) > 5000
    jobs = []
    for start in range(0, len(texts), 20):
        subsets = [{"image_dir": "a", "caption_prefix": text} for text in texts[start : start + 20]]
        written = dataset_toml({"subsets": subsets}, tmp_path)
        jobs.append((written, tomllib.loads(written), LORA_SCHEMA))
    assert set(ask(real_trainer, SANITIZE, jobs)) == {"ok"}


# --- accelerate ------------------------------------------------------------------------------------

SPY = """
import json, os, sys
names = ("CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "WORLD_SIZE", "RANK", "MASTER_ADDR")
kept = {name: value for name, value in os.environ.items() if name.startswith("ACCELERATE_") or name in names}
print("SPY" + json.dumps([sys.argv[1:], kept, os.getcwd()]), flush=True)
"""

HOSTILE = {
    "deepspeed": "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\nmixed_precision: fp16\n"
    "num_processes: 4\ndeepspeed_config:\n  zero_stage: 3\n",
    "two gpus": "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nmixed_precision: fp16\n"
    "num_processes: 2\ngpu_ids: '6,7'\ndynamo_config:\n  dynamo_backend: INDUCTOR\n",
    "sagemaker": "compute_environment: AMAZON_SAGEMAKER\ndistributed_type: 'NO'\nec2_instance_type: x\n"
    "iam_role_name: y\nprofile: z\nregion: r\nmixed_precision: 'no'\n",
    "cpu": "compute_environment: LOCAL_MACHINE\ndistributed_type: 'NO'\nuse_cpu: true\n"
    "mixed_precision: bf16\ndebug: true\nnum_processes: 1\ngpu_ids: '5'\n",
    "broken": "}{",
}


@pytest.fixture
def spied(real_trainer, tmp_path):
    """Return a stand-in checkout whose script tells how it was started."""
    root = tmp_path / "check out"
    root.mkdir()
    (root / "train_network.py").write_text(SPY)
    return type(real_trainer)(root, real_trainer.python, real_trainer.inputs)


def start(command: TrainerCommand, folder: Path, environ: dict[str, str]) -> list:
    for path, text in command.files(folder / "run").items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    result = subprocess.run(
        command.argv,
        cwd=command.cwd,
        env=command.child_environment(environ),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    return json.loads(result.stdout.split("SPY")[1])


@pytest.mark.parametrize("backend", ["cpu", "cuda"])
@pytest.mark.parametrize("kind", HOSTILE)
def test_that_a_stray_accelerate_configuration_changes_nothing(spied, tmp_path, kind, backend):
    plan = TrainingPlan(
        family="sd15",
        arguments={
            "pretrained_model_name_or_path": ODD,
            "output_dir": "o",
            "output_name": "-n",
            "caption_prefix": "",
        },
        dataset={"subsets": [{"image_dir": ODD}]},
    )
    command = built(spied, tmp_path, plan, backend=backend)
    config = tmp_path / "hf" / "accelerate" / "default_config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(HOSTILE[kind])
    environ = {**os.environ, "HF_HOME": str(tmp_path / "hf")}
    words, variables, folder = start(command, tmp_path, environ)
    script = command.argv.index(str(spied.root / "train_network.py"))
    assert tuple(words) == command.argv[script + 1 :]
    assert Path(folder) == spied.root
    config.unlink()
    assert (words, variables) == tuple(start(command, tmp_path, environ)[:2])
    assert variables["ACCELERATE_MIXED_PRECISION"] == "no"
    assert variables["ACCELERATE_DYNAMO_BACKEND"] == "NO"
    assert variables["OMP_NUM_THREADS"] == "2"
    assert variables["ACCELERATE_USE_CPU"] == str(backend == "cpu")
    assert not {"WORLD_SIZE", "RANK", "ACCELERATE_USE_DEEPSPEED", "ACCELERATE_DEBUG_MODE"} & variables.keys()


def test_that_the_stray_configuration_would_have_changed_the_run(spied, tmp_path):
    """What the test above protects from is real: without the stand-in, accelerate obeys the stray file."""
    (tmp_path / "hf" / "accelerate").mkdir(parents=True)
    (tmp_path / "hf" / "accelerate" / "default_config.yaml").write_text(HOSTILE["cpu"])
    result = subprocess.run(
        [spied.python, "-m", "accelerate.commands.launch", str(spied.root / "train_network.py")],
        env={**os.environ, "HF_HOME": str(tmp_path / "hf")},
        capture_output=True,
        text=True,
        check=True,
    )
    variables = json.loads(result.stdout.split("SPY")[1])[1]
    assert variables["ACCELERATE_MIXED_PRECISION"] == "bf16"
    assert variables["CUDA_VISIBLE_DEVICES"] == "5"


def test_that_variables_of_another_launcher_change_nothing(spied, tmp_path):
    plan = TrainingPlan(
        family="sd15",
        arguments={"pretrained_model_name_or_path": "m", "output_dir": "o"},
        dataset={"subsets": [{"image_dir": "i"}]},
        launch={"gpu_ids": [1]},
    )
    hostile = {
        "ACCELERATE_MIXED_PRECISION": "fp16",
        "ACCELERATE_USE_DEEPSPEED": "true",
        "ACCELERATE_GRADIENT_ACCUMULATION_STEPS": "7",
        "RANK": "1",
        "WORLD_SIZE": "2",
    }
    environ = {**os.environ, **hostile}
    install = TrainerInstall(root=spied.root, python=spied.python, origin="sd-scripts", label="spied")
    facts = TrainerFacts(root="", python="", packages={"accelerate": None}, backend="cuda")
    command = build_command(
        plan,
        tmp_path,
        install,
        facts,
        Catalogue.bundled(),
        tmp_path / "run",
        gpu_uuids=["GPU-a", "GPU-b"],
        environ=environ,
    )
    _, variables, _ = start(command, tmp_path, environ)
    assert variables["ACCELERATE_MIXED_PRECISION"] == "no"
    assert variables["CUDA_VISIBLE_DEVICES"] == "GPU-b"
    assert not {"WORLD_SIZE", "RANK", "ACCELERATE_USE_DEEPSPEED"} & variables.keys()
    assert "ACCELERATE_GRADIENT_ACCUMULATION_STEPS" not in variables


def test_that_two_processes_find_each_other(spied, tmp_path):
    """On a machine without GPUs accelerate's ``--multi_gpu`` still starts its processes."""
    (spied.root / "train_network.py").write_text(
        "import os, torch.distributed as d\n"
        "d.init_process_group('gloo')\n"
        "print('SPY' + str([os.environ['RANK'], d.get_world_size()]), flush=True)\n"
        "d.destroy_process_group()\n"
    )
    plan = TrainingPlan(
        family="sd15",
        arguments={"pretrained_model_name_or_path": "m", "output_dir": "o"},
        dataset={"subsets": [{"image_dir": "i"}]},
        launch={"num_processes": 2, "num_cpu_threads_per_process": 1},
    )
    command = built(spied, tmp_path, plan, backend="cuda")
    for path, text in command.files(tmp_path / "run").items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    result = subprocess.run(
        command.argv,
        cwd=command.cwd,
        env=command.child_environment(dict(os.environ)),
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert result.returncode == 0, result.stderr[-2000:]
    assert sorted(line for line in result.stdout.splitlines() if "SPY" in line) == [
        "SPY['0', 2]",
        "SPY['1', 2]",
    ]
