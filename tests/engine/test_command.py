"""A plan becomes exactly one command line: readable, complete, free of tokens, sure of its paths."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gui.engine.errors import NewerDocument, PlanNotRunnable, ScriptNotUsable, WrongUsage
from gui.engine.plan.model import TrainingPlan
from gui.engine.trainer.accelerate_launch import accelerate_config_text, free_port
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.command import TrainerCommand, build_command
from gui.engine.trainer.facts import GpuSeen, TrainerFacts
from gui.engine.trainer.installs import TrainerInstall
from gui.engine.trainer.preview import preview

TOKEN = "hf_" + "b" * 24
GPUS = tuple(GpuSeen(index=index, name=f"GPU {index}") for index in range(2))
CUDA = {"backend": "cuda", "gpus": GPUS}
BUNDLED = Catalogue.bundled()


class Bench:
    """Builds commands for one trainer in one folder."""

    def __init__(self, folder: Path) -> None:
        self.base = folder / "plans"
        self.run_folder = folder / "runs" / "one"
        self.install = TrainerInstall(
            root=folder / "sd-scripts",
            python=folder / "venv" / "bin" / "python",
            origin="sd-scripts",
            label="x",
        )

    def facts(self, **values) -> TrainerFacts:
        packages = values.pop("packages", {"accelerate": "1.6.0", "tensorboard": "2.21.0"})
        return TrainerFacts(
            root=str(self.install.root), python=str(self.install.python), packages=packages, **values
        )

    def plan(self, arguments=None, **values) -> TrainingPlan:
        basic = {"pretrained_model_name_or_path": "m.safetensors", "output_dir": "out"}
        dataset = values.pop("dataset", {"resolution": 512, "subsets": [{"image_dir": "images"}]})
        family = values.pop("family", "sd15")
        return TrainingPlan(family=family, arguments=basic | (arguments or {}), dataset=dataset, **values)

    def build(self, plan: TrainingPlan, facts: TrainerFacts | None = None, **values) -> TrainerCommand:
        values.setdefault("environ", {})
        return build_command(
            plan, self.base, self.install, facts or self.facts(), BUNDLED, self.run_folder, **values
        )

    def refused(self, plan: TrainingPlan, facts: TrainerFacts | None = None, **values) -> list[tuple]:
        with pytest.raises(PlanNotRunnable) as caught:
            self.build(plan, facts, **values)
        assert str(caught.value)
        return [(finding.id, finding.where) for finding in caught.value.findings]


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def options(command: TrainerCommand) -> dict[str, list[str]]:
    """Return the words after the script: flag to values."""
    script = next(i for i, word in enumerate(command.argv) if word.endswith(command.script))
    found: dict[str, list[str]] = {}
    for word in command.argv[script + 1 :]:
        if word.startswith("--"):
            flag, sign, value = word.partition("=")
            last = found[flag] = [value] if sign else []
        else:
            last.append(word)
    return found


# --- the whole --------------------


def test_that_a_simple_plan_is_the_expected_command(bench):
    plan = bench.plan({"network_dim": 16, "unet_lr": 1e-4, "gradient_checkpointing": True, "sdpa": False})
    command = bench.build(plan)
    run = bench.run_folder
    assert command.argv == (
        str(bench.install.python),
        *("-m", "accelerate.commands.launch"),
        *(
            "--config_file",
            str(run / "accelerate.yaml"),
            "--cpu",
            "--num_processes",
            "1",
            "--num_machines",
            "1",
        ),
        *("--machine_rank", "0", "--mixed_precision", "no", "--dynamo_backend", "no"),
        *("--num_cpu_threads_per_process", "2", "--gpu_ids", "all"),
        str(bench.install.root / "train_network.py"),
        *("--pretrained_model_name_or_path", str(bench.base / "m.safetensors")),
        *("--dataset_config", str(run / "dataset.toml"), "--output_dir", str(bench.base / "out")),
        *("--network_module", "networks.lora", "--network_dim", "16", "--unet_lr", "0.0001"),
        *("--gradient_checkpointing", "--logging_dir", str(run / "tracker"), "--log_with", "tensorboard"),
    )
    assert command.cwd == bench.install.root
    assert command.environment == {
        "PYTHONUNBUFFERED": "1",
        "PYTHONUTF8": "1",
        "PYTHONIOENCODING": "utf-8",
        "COLUMNS": "400",
    }
    assert command.expected_final == bench.base / "out" / "last.safetensors"
    assert command.logging_dir == run / "tracker"
    assert set(command.files(run)) == {run / "dataset.toml", run / "accelerate.yaml"}


def test_that_the_same_plan_gives_the_same_words_whatever_the_order_of_its_keys(bench):
    arguments = {"network_dim": 4, "seed": 1, "cache_latents": True, "network_args": ["a=1", "b=2"]}
    turned = dict(reversed(arguments.items()))
    assert bench.build(bench.plan(arguments)).argv == bench.build(bench.plan(turned)).argv


def test_that_without_accelerate_the_script_is_run_plainly(bench):
    command = bench.build(bench.plan(), bench.facts(packages={}))
    assert command.argv[1] == str(bench.install.root / "train_network.py")
    assert command.accelerate_config is None
    assert "--log_with" not in command.argv
    assert command.logging_dir is None
    assert set(command.files(bench.run_folder)) == {bench.run_folder / "dataset.toml"}


def test_that_a_trainer_config_file_is_never_used(bench):
    assert bench.refused(bench.plan({"config_file": "x.toml"})) == [("config-file", "config_file")]
    assert bench.refused(bench.plan({"output_config": True})) == [("config-file", "output_config")]
    assert bench.build(bench.plan({"output_config": False})).argv


def test_that_a_newer_plan_is_not_run(bench):
    with pytest.raises(NewerDocument):
        bench.build(TrainingPlan(schema=2, family="sd15"))


def test_that_a_script_that_the_trainer_lacks_is_said(bench):
    with pytest.raises(ScriptNotUsable, match=r"my_train\.py"):
        bench.build(bench.plan(script="my_train.py"))


# --- the family's part --------------------


def test_that_the_family_fills_in_script_and_network_module(bench):
    files = {"clip_l": "c", "t5xxl": "t", "ae": "a"}
    command = bench.build(bench.plan(files, family="flux1"))
    assert command.script == "flux_train_network.py"
    assert options(command)["--network_module"] == ["networks.lora_flux"]
    mine = bench.build(bench.plan({**files, "network_module": "lycoris.kohya"}, family="flux1"))
    assert options(mine)["--network_module"] == ["lycoris.kohya"]


def test_that_kinds_without_a_network_get_no_module(bench):
    command = bench.build(bench.plan(family="sd15", kind="dreambooth"))
    assert command.script == "train_db.py"
    assert "--network_module" not in command.argv


def test_that_a_script_of_its_own_still_gets_what_the_family_knows(bench):
    command = bench.build(bench.plan(script="train_network"))
    assert options(command)["--network_module"] == ["networks.lora"]
    foreign = bench.build(
        bench.plan({"network_module": "networks.lora"}, family="", script="train_network.py")
    )
    assert foreign.script == "train_network.py"
    other = bench.build(
        bench.plan({"network_module": "n.l", "qwen3": "q", "vae": "v"}, script="anima_train_network")
    )
    assert other.script == "anima_train_network.py"


@pytest.mark.parametrize(
    ("arguments", "values", "missing"),
    [
        ({"output_dir": None}, {}, ["output_dir"]),
        ({"output_dir": ""}, {}, ["output_dir"]),
        ({"pretrained_model_name_or_path": None}, {}, ["pretrained_model_name_or_path"]),
        ({}, {"family": "flux1"}, ["clip_l", "t5xxl", "ae"]),
        ({}, {"kind": "textual_inversion"}, ["token_string"]),
        ({}, {"family": "", "script": "train_network.py"}, ["network_module"]),
    ],
)
def test_that_what_the_run_needs_late_is_asked_for_now(bench, arguments, values, missing):
    wanted = [("arg-missing", name) for name in missing]
    assert [
        finding for finding in bench.refused(bench.plan(arguments, **values)) if finding[0] == "arg-missing"
    ] == wanted


def test_that_unknown_and_wrong_arguments_are_all_named_at_once(bench):
    plan = bench.plan({"netwrk_dim": 4, "seed": "x", "mixed_precision": "fp8"}, dataset={"batch": 1})
    assert bench.refused(plan, bench.facts(**CUDA)) == [
        ("arg-unknown", "netwrk_dim"),
        ("arg-type", "seed"),
        ("enum", "mixed_precision"),
        ("dataset-unknown", "dataset.batch"),
    ]


def test_that_a_mere_warning_does_not_refuse(bench):
    assert bench.build(bench.plan({"training_comment": ""})).argv


# --- paths --------------------


LONG = "/".join(["d" * 50] * 6)


@pytest.mark.parametrize(
    "name", ["with space", "내 모델", 'it\'s "q"', "-dash", LONG, "a%PATH%b", "$HOME", "x;y&z"]
)
def test_that_odd_paths_stand_absolute_in_one_word(bench, name):
    plan = bench.plan(
        {"output_dir": name, "output_name": "-n", "sample_prompts": name, "base_weights": [name, "b"]},
        dataset={"subsets": [{"image_dir": name}]},
    )
    command = bench.build(plan)
    found, path = options(command), str(bench.base / name)
    assert found["--output_dir"] == found["--sample_prompts"] == [path]
    assert found["--base_weights"] == [path, str(bench.base / "b")]
    assert found["--output_name"] == ["-n"]
    assert "--output_name=-n" in command.argv
    assert command.expected_final == Path(path) / "-n.safetensors"


def test_that_the_plans_own_folder_counts_among_what_the_dataset_file_can_hold(bench):
    bench.base = bench.base / "bad\x1bfolder"
    assert ("dataset-type", "dataset.subsets.0.image_dir") in bench.refused(bench.plan())


def test_that_hub_names_stay_and_folders_do_not(bench):
    (bench.base / "local" / "model").mkdir(parents=True)
    hub = bench.build(bench.plan({"pretrained_model_name_or_path": "runwayml/sd"}))
    assert options(hub)["--pretrained_model_name_or_path"] == ["runwayml/sd"]
    local = bench.build(bench.plan({"pretrained_model_name_or_path": "local/model"}))
    assert options(local)["--pretrained_model_name_or_path"] == [str(bench.base / "local" / "model")]


def test_that_relative_run_folders_become_absolute(bench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bench.run_folder = Path("runs/two")
    assert options(bench.build(bench.plan()))["--dataset_config"] == [str(tmp_path / "runs/two/dataset.toml")]


# --- the dataset --------------------


def test_that_dataset_options_among_the_arguments_move_into_the_file(bench):
    (bench.base / "train" / "3_cat").mkdir(parents=True)
    arguments = {"train_data_dir": "train", "resolution": "768,512", "train_batch_size": 2, "flip_aug": True}
    command = bench.build(bench.plan(arguments, dataset={"batch_size": 4}))
    assert not {"--train_data_dir", "--resolution", "--train_batch_size", "--flip_aug"} & set(
        options(command)
    )
    assert "resolution = [768, 512]" in command.dataset_toml
    assert "batch_size = 4" in command.dataset_toml  # the file wins, as in the trainer
    assert str(bench.base / "train" / "3_cat") in command.dataset_toml
    kept = bench.build(
        bench.plan(
            {"train_batch_size": 9}, dataset={"general": {"batch_size": 4}, "subsets": [{"image_dir": "i"}]}
        )
    )
    assert "batch_size = 4" in kept.dataset_toml and "= 9" not in kept.dataset_toml


def test_that_images_in_two_places_are_refused(bench):
    assert bench.refused(bench.plan({"train_data_dir": "x"})) == [("dataset-twice", "train_data_dir")]
    assert bench.refused(bench.plan({"dataset_config": "d.toml"})) == [("dataset-twice", "dataset_config")]


@pytest.mark.parametrize("arguments", [{}, {"train_data_dir": "nowhere"}])
def test_that_a_plan_without_images_is_refused(bench, arguments):
    assert bench.refused(bench.plan(arguments, dataset={"resolution": 512})) == [
        ("no-data", "dataset.subsets")
    ]


def test_that_a_dataset_without_subsets_is_no_images_either(bench):
    for datasets in ([], [{"resolution": 512}], [{"subsets": []}]):
        assert bench.refused(bench.plan(dataset={"datasets": datasets})) == [("no-data", "dataset.subsets")]


def test_that_a_dataset_file_of_the_users_own_is_passed_on(bench):
    command = bench.build(bench.plan({"dataset_config": "mine.toml"}, dataset={}))
    assert command.dataset_toml is None
    assert options(command)["--dataset_config"] == [str(bench.base / "mine.toml")]


def test_that_a_dataset_class_keeps_its_arguments(bench):
    command = bench.build(bench.plan({"dataset_class": "a.B", "resolution": "512"}, dataset={}))
    assert options(command)["--resolution"] == ["512"]
    assert "--dataset_config" not in command.argv


# --- the tracker --------------------


def test_that_the_users_tracker_stands(bench):
    wandb = bench.build(bench.plan({"log_with": "wandb"}))
    assert options(wandb)["--log_with"] == ["wandb"]
    assert wandb.logging_dir is None
    folder = bench.build(bench.plan({"logging_dir": "logs"}))
    assert folder.logging_dir == bench.base / "logs"
    both = bench.build(bench.plan({"log_with": "all"}), bench.facts(packages={"accelerate": None}))
    assert both.logging_dir == bench.run_folder / "tracker"


# --- accelerate --------------------


def test_that_gpus_and_precision_are_told_to_accelerate(bench):
    plan = bench.plan(
        {"mixed_precision": "bf16"}, launch={"num_processes": 2, "num_cpu_threads_per_process": 4}
    )
    words = list(bench.build(plan, bench.facts(**CUDA)).argv)
    assert "--multi_gpu" in words and "--cpu" not in words
    launch = words[: words.index(str(bench.install.root / "train_network.py"))]
    assert launch[launch.index("--mixed_precision") + 1] == "bf16"
    assert launch[launch.index("--num_cpu_threads_per_process") + 1] == "4"
    assert 0 < int(launch[launch.index("--main_process_port") + 1]) < 65536
    one = bench.build(bench.plan(), bench.facts(**CUDA)).argv
    assert "--multi_gpu" not in one and "--main_process_port" not in one and "--cpu" not in one


@pytest.mark.parametrize(
    ("launch", "facts", "finding"),
    [
        ({"num_processes": 0}, {}, ("launch-processes", "launch.num_processes")),
        ({"num_processes": 2}, {}, ("multigpu", "launch.num_processes")),
        ({"num_processes": 3}, CUDA, ("multigpu", "launch.num_processes")),
        ({"num_processes": 2}, {"packages": {}}, ("multigpu", "launch.num_processes")),
        ({"num_machines": 2}, {}, ("launch-machines", "launch.num_machines")),
        ({"num_cpu_threads_per_process": 0}, {}, ("launch-threads", "launch.num_cpu_threads_per_process")),
        ({"dynamo_backend": "warp"}, {}, ("launch-dynamo", "launch.dynamo_backend")),
    ],
)
def test_that_what_accelerate_would_refuse_is_refused(bench, launch, facts, finding):
    assert bench.refused(bench.plan(launch=launch), bench.facts(**facts)) == [finding]


def test_that_the_stand_in_configuration_changes_nothing(bench):
    import yaml

    assert yaml.safe_load(accelerate_config_text(bench.facts())) == {
        "compute_environment": "LOCAL_MACHINE",
        "distributed_type": "NO",
        "mixed_precision": "no",
        "num_machines": 1,
        "num_processes": 1,
        "use_cpu": True,
    }
    assert yaml.safe_load(accelerate_config_text(bench.facts(**CUDA)))["use_cpu"] is False


def test_that_a_free_port_can_be_bound():
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", free_port()))


# --- environment and tokens --------------------


def test_that_gpus_are_chosen_by_uuid_in_bus_order(bench):
    plan = bench.plan(launch={"gpu_ids": [1, 0]})
    environment = bench.build(plan, bench.facts(**CUDA), gpu_uuids=["GPU-a", "GPU-b"]).environment
    assert environment["CUDA_VISIBLE_DEVICES"] == "GPU-b,GPU-a"
    assert environment["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert bench.build(plan, bench.facts(**CUDA)).environment["CUDA_VISIBLE_DEVICES"] == "1,0"
    assert "CUDA_VISIBLE_DEVICES" not in bench.build(bench.plan(), gpu_uuids=["GPU-a"]).environment


@pytest.mark.parametrize("ids", [[2], [-1], [0, 0]])
def test_that_a_gpu_that_is_not_here_is_refused(bench, ids):
    plan = bench.plan(launch={"gpu_ids": ids})
    assert bench.refused(plan, bench.facts(**CUDA), gpu_uuids=["GPU-a", "GPU-b"]) == [
        ("gpuid", "launch.gpu_ids")
    ]


def test_that_the_users_variables_are_added_but_cannot_spoil_the_output(bench):
    plan = bench.plan(launch={"env": {"HF_HOME": "/cache", "COLUMNS": "20"}})
    environment = bench.build(plan).environment
    assert environment["HF_HOME"] == "/cache"
    assert environment["COLUMNS"] == "400"


@pytest.mark.parametrize("name", ["", "A=B", "A\0"])
def test_that_impossible_variables_are_refused(bench, name):
    assert bench.refused(bench.plan(launch={"env": {name: "1"}})) == [("env-name", f"env.{name}")]


def test_that_what_would_disturb_is_left_out(bench):
    inherited = {
        **dict.fromkeys(
            ("PATH", "HOME", "RANK", "WORLD_SIZE", "TQDM_DISABLE", "ACCELERATE_MIXED_PRECISION"), "1"
        ),
        **dict.fromkeys(("PYTHONPATH", "PYTHONHOME", "PYTHONINSPECT", "PYTHONOPTIMIZE", "FORCE_COLOR"), "1"),
        "COVERAGE_PROCESS_CONFIG": "1",
        "COLUMNS": "80",
        "VIRTUAL_ENV": sys.prefix,
        "ACCELERATE_LOG_LEVEL": "debug",
    }
    command = bench.build(bench.plan(launch={"env": {"ACCELERATE_LOG_LEVEL": "info"}}), environ=inherited)
    assert set(inherited) - set(command.unset) == {"PATH", "HOME", "COLUMNS", "ACCELERATE_LOG_LEVEL"}
    child = command.child_environment(inherited)
    assert child["PATH"] == "1"
    assert child["COLUMNS"] == "400"
    assert child["ACCELERATE_LOG_LEVEL"] == "info"
    assert "RANK" not in child


def test_that_tokens_go_by_environment_only(bench):
    plan = bench.plan({"huggingface_token": TOKEN, "huggingface_repo_id": "me/x"})
    command = bench.build(plan, tokens={"WANDB_API_KEY": "w" * 40, "EMPTY": ""})
    assert command.environment["HF_TOKEN"] == TOKEN
    assert command.environment["WANDB_API_KEY"] == "w" * 40
    assert "EMPTY" not in command.environment
    assert not any(TOKEN in word for word in command.argv)
    for shown in (
        repr(command),
        command.redacted().model_dump_json(),
        preview(command, "posix", bench.run_folder),
    ):
        assert TOKEN not in shown and "w" * 40 not in shown
    assert set(command.secrets()) == {TOKEN, "w" * 40}


def test_that_a_token_in_any_other_argument_is_refused(bench):
    plan = bench.plan({"training_comment": f"with {TOKEN}"})
    assert bench.refused(plan) == [("secret-in-arguments", "training_comment")]
    mine = bench.plan({"wandb_run_name": "secret-word"})
    assert bench.refused(mine, tokens={"HF_TOKEN": "secret-word"}) == [
        ("secret-in-arguments", "wandb_run_name")
    ]


def test_that_a_command_too_long_for_windows_is_refused_there(bench):
    plan = bench.plan({"network_args": [f"key{number}={'x' * 60}" for number in range(600)]})
    assert bench.build(plan, bench.facts(platform="linux")).argv
    assert bench.refused(plan, bench.facts(platform="win32")) == [("command-too-long", None)]


# --- what will be left behind --------------------


@pytest.mark.parametrize(
    ("family", "kind", "arguments", "name"),
    [
        ("sd15", "lora", {}, "last.safetensors"),
        ("sd15", "lora", {"save_model_as": "ckpt", "output_name": "a"}, "a.ckpt"),
        ("sd15", "textual_inversion", {"token_string": "x"}, "last.pt"),
        ("sd15", "controlnet", {}, "last.safetensors"),
        ("flux1", "full", {"save_model_as": "ckpt"}, "last.safetensors"),
        ("sdxl", "full", {}, "last"),
        ("sdxl", "full", {"save_model_as": "safetensors"}, "last.safetensors"),
        ("sdxl", "full", {"save_model_as": "ckpt"}, "last.ckpt"),
        ("sdxl", "full", {"save_model_as": "ckpt", "use_safetensors": True}, "last.safetensors"),
        ("sdxl", "full", {"save_model_as": "diffusers"}, "last"),
        ("sdxl", "full", {"pretrained_model_name_or_path": "here.safetensors"}, "last.ckpt"),
        (
            "sdxl",
            "full",
            {"pretrained_model_name_or_path": "here.safetensors", "use_safetensors": True},
            "last.safetensors",
        ),
    ],
)
def test_that_the_last_files_name_is_known(bench, family, kind, arguments, name):
    bench.base.mkdir()
    (bench.base / "here.safetensors").write_text("")
    files = {"clip_l": "c", "t5xxl": "t", "ae": "a"} if family == "flux1" else {}
    subset = {"image_dir": "i"} | ({"conditioning_data_dir": "c"} if kind == "controlnet" else {})
    plan = bench.plan(files | arguments, family=family, kind=kind, dataset={"subsets": [subset]})
    command = bench.build(plan)
    assert command.expected_final == bench.base / "out" / name
    assert command.save_extension == Path(name).suffix


# --- previews --------------------


@pytest.mark.skipif(
    shutil.which("bash") is None or os.name == "nt", reason="there is no bash on this machine"
)
def test_that_the_preview_pasted_into_bash_starts_the_same(bench):
    script = "import json, os, sys; print(json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]))"
    bench.install.root.mkdir()
    python = bench.install.python
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{script}' \"$@\"\n")
    python.chmod(0o755)
    plan = bench.plan(
        {"output_name": "it's $HOME", "network_args": ["a=1", "b='x y'"]}, launch={"env": {"A": "1 2"}}
    )
    inherited = {"PATH": os.environ["PATH"], "RANK": "3"}
    command = bench.build(plan, environ=inherited)
    text = preview(command, "posix", bench.run_folder)
    result = subprocess.run(["bash"], input=text, capture_output=True, text=True, env=inherited, check=True)
    import json

    words, folder, environment = json.loads(result.stdout)
    assert tuple(words) == command.argv[1:]
    assert Path(folder) == command.cwd
    assert command.environment.items() <= environment.items()
    assert "RANK" not in environment


def test_that_previews_say_where_the_dataset_is_and_what_is_hidden(bench):
    plan = bench.plan({"huggingface_token": TOKEN, "output_name": '50% "off"'}, launch={"env": {"A": "x&y"}})
    command = bench.build(plan, environ={"RANK": "1"})
    powershell = preview(command, "powershell", bench.run_folder)
    assert powershell.startswith("# ")
    assert str(bench.run_folder / "dataset.toml") in powershell.splitlines()[0]
    assert "HF_TOKEN" in powershell.splitlines()[1]
    assert "${env:HF_TOKEN}" not in powershell
    assert "${env:A} = 'x&y'" in powershell
    assert "Remove-Item Env:RANK -ErrorAction Ignore" in powershell
    cmd = preview(command, "cmd", bench.run_folder)
    assert 'set "COLUMNS=400"' in cmd and "set A=x^&y" in cmd and "set RANK=" in cmd
    assert cmd.startswith("rem ")


def test_that_a_preview_that_cannot_be_typed_is_refused(bench):
    command = bench.build(bench.plan({"training_comment": "a\nb"}))
    assert "'a\nb'" in preview(command, "posix", bench.run_folder)
    with pytest.raises(WrongUsage, match="cmd"):
        preview(command, "cmd", bench.run_folder)
