"""A training whose GPU memory runs out is tried again by itself, as often as its plan allows."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from fake_nvml import FakeNvml
from practice_runs import BASE, TRAINER, make_images
from run_helper import ended, status, wait_until

from gui.cli.main import run as cli
from gui.engine.paths import Home
from gui.engine.runs.alarms import alarms
from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.runs.records import Manifest, RetryRecord
from gui.engine.runs.retry import try_again
from gui.engine.runs.retry_record import read_retry

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("no_leftovers")]

RUNS_OUT = """
if __name__ == "__main__" and {unless!r} not in sys.argv:
    print("running training / 学習開始", flush=True)
    print("steps:   0%|          | 0/4 [00:00<?, ?it/s]", file=sys.stderr, flush=True)
    raise RuntimeError(
        "CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 8.00 GiB of which "
        "0.50 GiB is free. Including non-PyTorch memory, this process has 7.50 GiB memory in use. Of the "
        "allocated memory 7.00 GiB is allocated by PyTorch, and 1.00 MiB is reserved by PyTorch but "
        "unallocated."
    )
"""

PLAN = """
schema = 1
name = "tight"
family = "sd15"
[arguments]
pretrained_model_name_or_path = "{base}"
output_dir = "out"
output_name = "lora"
network_dim = 4
learning_rate = 1e-4
text_encoder_lr = 1e-5
network_train_unet_only = true
max_train_steps = 4
max_data_loader_n_workers = 0
mixed_precision = "bf16"
optimizer_type = "AdamW"
sdpa = true
seed = 1
cache_latents = true
[dataset]
resolution = [512, 512]
batch_size = 2
caption_extension = ".txt"
[[dataset.subsets]]
image_dir = "images"
[guard]
memory_retries = {retries}
"""


@pytest.fixture
def gpus(fake_gpus: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> FakeNvml:
    fake_gpus.inside(monkeypatch).set({"count": 1, "total": 8 << 30, "used": 100 << 20})
    for name, value in fake_gpus.environment().items():
        monkeypatch.setenv(name, value)
    return fake_gpus


def trainer(folder: Path, unless: str) -> Path:
    """Return a copy of the practice trainer under another name, which runs out of memory."""
    shutil.copytree(TRAINER.parent / "trainer_arguments", folder / "trainer_arguments")
    root = Path(shutil.copytree(TRAINER, folder / "sd-scripts"))
    card = json.loads((root / "TRAINER.json").read_text("utf-8"))
    (root / "TRAINER.json").write_text(json.dumps({**card, "name": "own", "label": "own"}), "utf-8")
    script = root / "train_network.py"
    played = RUNS_OUT.format(unless=unless) + "\n\nif __name__"
    script.write_text(script.read_text("utf-8").replace("if __name__", played, 1), "utf-8")
    return root


def train(tmp_path: Path, unless: str, retries: int) -> int:
    make_images(tmp_path / "images", count=2)
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(base=BASE.as_posix(), retries=retries), "utf-8")
    root = trainer(tmp_path / "own", unless)
    return cli(["run", str(plan), "--trainer", str(root), "--python", sys.executable, "--accept", "cuda"])


def test_that_a_run_is_tried_again_with_what_makes_it_fit(
    tmp_path: Path, home: Home, gpus: FakeNvml, capsys: pytest.CaptureFixture[str]
) -> None:
    code = train(tmp_path, "--gradient_checkpointing", 3)
    said = capsys.readouterr()
    names = run_names(home)
    assert (code, len(names)) == (0, 2), said.out + said.err
    first, second = (RunFolder(home.runs / name) for name in sorted(names))
    retry = read_retry(first)
    assert retry is not None and retry.next == second.name
    assert retry.changes == {"gradient_checkpointing": True} and retry.sentence in said.out
    (alarm,) = alarms(first)
    assert alarm.done == retry.sentence
    assert Manifest.read(first.manifest).retry.left == 3
    manifest = Manifest.read(second.manifest)
    assert manifest.retry.left == 2 and manifest.follows is not None
    assert (manifest.follows.run, manifest.follows.way) == (first.name, "fit")
    assert manifest.follows.by_itself and manifest.follows.changes == retry.changes
    assert not second.retry.exists()
    assert status(second).verdict.verdict == "finished"


def test_that_there_are_no_more_tries_than_the_plan_allows(
    tmp_path: Path, home: Home, gpus: FakeNvml
) -> None:
    assert train(tmp_path, "--no_such_option", 1) == 1
    names = sorted(run_names(home))
    assert len(names) == 2
    first, second = (RunFolder(home.runs / name) for name in names)
    assert Manifest.read(second.manifest).retry.left == 0 and not second.retry.exists()
    # A second supervisor of the first run finds the one try taken.
    assert try_again(first, Manifest.read(first.manifest), None) is None
    assert sorted(run_names(home)) == names


def test_that_without_the_users_word_nothing_is_tried_again_and_a_word_is_one_try(
    tmp_path: Path, home: Home, gpus: FakeNvml
) -> None:
    assert train(tmp_path, "--gradient_checkpointing", 0) == 1
    (name,) = run_names(home)
    first = RunFolder(home.runs / name)
    assert not first.retry.exists()
    allowed = Manifest.read(first.manifest).model_copy(update={"retry": RetryRecord(left=1)})
    second = try_again(first, allowed, None)
    assert second is not None and try_again(first, allowed, None) is None
    wait_until(lambda: ended(second))
    assert status(second).verdict.verdict == "finished"
    assert Manifest.read(second.manifest).accepted == ("cuda",)
