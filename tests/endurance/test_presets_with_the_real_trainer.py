"""The real trainer takes a step with what presets compose, for every caution and every kind of SD 1.5.

Minutes for each, since the CPU computes what a GPU would: not part of the ordinary tests.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import psutil
import pytest

from gui.engine.documents import write_atomically
from gui.engine.plan.presets import compose
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.command import TrainerCommand, build_command
from gui.engine.trainer.facts import TrainerFacts
from gui.engine.trainer.installs import TrainerInstall, install_at
from gui.engine.trainer.probe import probe

pytestmark = [pytest.mark.usefixtures("no_leftovers"), pytest.mark.timeout(1200)]

NEEDED_GIB = {"lora": 8, "textual_inversion": 7, "controlnet": 9, "dreambooth": 13, "full": 13}
"""RAM that one step takes on the CPU, where all is computed that a GPU would."""


@pytest.fixture(scope="module")
def install(real_trainer) -> TrainerInstall:
    return install_at(real_trainer.root, real_trainer.python)


@pytest.fixture(scope="module")
def facts(install, tmp_path_factory: pytest.TempPathFactory) -> TrainerFacts:
    return probe(install, tmp_path_factory.mktemp("cache"))


def metadata(images: Path, place: Path) -> str:
    """What the fine-tuning script reads instead of captions beside images."""
    captions = {str(file): {"caption": "sks thing"} for file in sorted(images.glob("*.png"))}
    place.write_text(json.dumps(captions), "utf-8")
    return str(place)


def command_for(kind: str, caution: str, inputs: Path, install, facts, folder: Path) -> TrainerCommand:
    """The composed settings, but for one step of the smallest images."""
    composition = compose("sd15", kind, "character", caution, 12.0, images=20)
    images = inputs / "images" / "1_sks thing"
    subset = {"image_dir": str(images)}
    arguments = {
        "pretrained_model_name_or_path": str(inputs / "sd15-random.safetensors"),
        "tokenizer_cache_dir": str(inputs / "tokenizers"),
        "output_dir": "out",
        "output_name": "demo",
        "max_train_steps": 1,
        "mixed_precision": "no",  # PyTorch's bf16 on the CPU lacks what its CUDA side has
    }
    if kind == "textual_inversion":
        arguments |= {"token_string": "zqxmira", "init_word": "thing"}
    elif kind == "controlnet":
        subset["conditioning_data_dir"] = str(images)
    elif kind == "full":
        subset["metadata_file"] = metadata(images, folder / "metadata.json")
    dataset = {"resolution": [64, 64], "min_bucket_reso": 64, "subsets": [subset]}
    plan = composition.plan("demo").model_copy(update={"arguments": arguments, "dataset": dataset})
    plan = plan.model_copy(update={"launch": plan.launch.model_copy(update={"env": {"HF_HUB_OFFLINE": "1"}})})
    return build_command(plan, folder, install, facts, Catalogue.from_facts(facts), folder / "run")


def trained(command: TrainerCommand, folder: Path) -> str:
    """Train, and return what was printed."""
    for path, text in command.files(folder / "run").items():
        write_atomically(path, text)
    result = subprocess.run(
        command.argv,
        cwd=command.cwd,
        env=command.child_environment(os.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    printed = result.stdout.decode("utf-8", "replace")
    assert result.returncode == 0, printed[-4000:]
    return printed


@pytest.mark.parametrize(
    ("kind", "caution"),
    [
        ("lora", "stable-first"),
        ("lora", "safe"),
        ("lora", "standard"),
        ("textual_inversion", "safe"),
        ("controlnet", "safe"),
        ("dreambooth", "safe"),
        ("full", "safe"),
    ],
)
def test_that_the_real_trainer_takes_a_step_with_composed_settings(
    kind, caution, real_trainer, install, facts, tmp_path
):
    free = psutil.virtual_memory().available / 2**30
    if free < NEEDED_GIB[kind]:
        pytest.skip(f"{kind} needs {NEEDED_GIB[kind]} GiB of RAM, {free:.0f} are free")
    command = command_for(kind, caution, real_trainer.inputs, install, facts, tmp_path)
    printed = trained(command, tmp_path)
    assert "steps: 100%" in printed
    assert "model saved." in printed
    assert "nan" not in printed.rsplit("steps: 100%", 1)[1].split("\n", 1)[0]
    assert command.expected_final is not None
    assert command.expected_final.exists()
