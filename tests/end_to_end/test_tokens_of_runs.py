"""A token of the keyring reaches the trainer by its environment, and nothing of ours ever holds it."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
from pathlib import Path

import psutil
import pytest
from own_trainer import own_trainer
from practice_runs import BASE, make_images
from run_helper import at_least_step, ended, make_run, status, wait_until

from gui.cli.main import run as cli
from gui.engine.paths import Home
from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.runs.lock import is_held
from gui.engine.runs.start import ensure_supervisor, start_supervisor
from gui.engine.token_store import TokenStore

pytestmark = pytest.mark.usefixtures("no_leftovers")

TOKEN = "hf_" + "Zx81" * 8
KEY = "0123456789abcdef" * 2 + "01234567"
"""What wandb's keys look like: nothing tells that it is one."""


def files_with(folder: Path, secret: str) -> list[str]:
    """Return the files below a folder that hold a text."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if secret.encode() in path.read_bytes()]


def command_lines() -> str:
    """Return the words of all processes."""
    told = []
    for process in psutil.process_iter():
        try:
            told += process.cmdline()
        except psutil.Error:
            continue
    return "\n".join(told)


@pytest.fixture
def trainer(tmp_path: Path) -> Path:
    """Return a trainer of one's own that tells which token it got, by its hash."""
    return own_trainer(tmp_path)


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    make_images(tmp_path / "images", count=2)
    path = tmp_path / "plan.toml"
    path.write_text(
        f"""schema = 1
name = "a plan"
family = "sd15"
[arguments]
pretrained_model_name_or_path = {json.dumps(str(BASE))}
output_dir = "out"
output_name = "lora"
network_dim = 4
network_alpha = 1
learning_rate = 4e-4
text_encoder_lr = 4e-5
optimizer_type = "AdamW"
max_train_steps = 4000
save_every_n_steps = 2000
max_data_loader_n_workers = 0
mixed_precision = "no"
[dataset]
resolution = [64, 64]
caption_extension = ".txt"
[[dataset.subsets]]
image_dir = "images"
num_repeats = 8
""",
        "utf-8",
    )
    return path


@pytest.mark.torch
def test_that_a_token_of_the_keyring_reaches_the_trainer_and_nothing_else(
    trainer: Path, plan: Path, home: Home, keyring_file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    assert TokenStore(home).keep("huggingface_token", TOKEN) == "keyring"
    words = ["run", str(plan), "--trainer", str(trainer), "--python", sys.executable, "--detach"]
    assert cli(words) == 0, capfd.readouterr().err
    (name,) = run_names(home)
    run = RunFolder(home.runs / name)
    wait_until(lambda: at_least_step(run, 1) or ended(run))
    assert TOKEN not in command_lines()
    assert cli(["stop", name]) == 0
    wait_until(lambda: ended(run) and not is_held(run.lock))
    digest = hashlib.sha256(TOKEN.encode()).hexdigest()
    assert digest in run.output_log.read_text("utf-8")
    assert files_with(home.root, TOKEN) == []
    assert files_with(plan.parent / "out", TOKEN) == []
    printed = capfd.readouterr()
    assert TOKEN not in printed.out + printed.err


def test_that_who_takes_a_run_over_still_keeps_its_token_out_of_what_it_writes(tmp_path: Path) -> None:
    go = tmp_path / "go on"
    run, order = make_run(
        tmp_path,
        f"""
        import os
        header(5); step(1, 5, .5)
        while not os.path.exists({str(go)!r}):
            sleep(0.05)
        record("ERROR", "cannot log in with " + os.environ["WANDB_API_KEY"])
        raise RuntimeError("no login with " + os.environ["WANDB_API_KEY"])
        """,
    )
    order = order.model_copy(update={"environment": {**order.environment, "WANDB_API_KEY": KEY}})
    start_supervisor(run, order)
    wait_until(lambda: at_least_step(run, 1))
    pid = status(run).supervisor_pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_held(run.lock))
    assert ensure_supervisor(run)
    go.touch()
    wait_until(lambda: ended(run) and not is_held(run.lock))
    assert "no login" in run.events.read_text("utf-8")
    assert files_with(run.path, KEY) == ["output.log"]
