"""Tokens before the whole window: brought with a setup, moved, handed to the run, and never seen."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from own_trainer import own_trainer
from person import Person
from PySide6.QtGui import QGuiApplication
from run_helper import ended, wait_until

from gui.engine.paths import Home
from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.runs.lock import is_held
from gui.engine.token_store import SERVICE, TokenStore

TOKEN = "hf_" + "V5b9" * 8
NAME = "huggingface_token"


def kept(keyring_file: Path) -> dict[str, str]:
    return json.loads(keyring_file.read_text("utf-8")) if keyring_file.exists() else {}


def test_that_a_pasted_command_leaves_its_token_in_the_keyring(
    sit_down: Callable[..., Person], home: Home, keyring_file: Path
) -> None:
    person = sit_down(home, trainer=None)
    QGuiApplication.clipboard().setText(f"python train_network.py --seed 7 --{NAME} {TOKEN}")
    person.click("door-setup-paste")
    person.reads_until("in the system's keyring now", "note-token")
    assert kept(keyring_file) == {f"{SERVICE}/{NAME}": TOKEN}
    assert person.bench.document.plan.arguments == {"seed": 7}
    assert TOKEN not in person.reads()
    person.go("settings")
    person.reads_until("in the keyring", f"token-{NAME}-state")
    person.click(f"token-{NAME}-forget")
    person.reads_until("none is kept", f"token-{NAME}-state")
    assert kept(keyring_file) == {}


def test_that_a_dropped_setup_without_a_keyring_says_how_long_its_token_is_kept(
    sit_down: Callable[..., Person], home: Home, tmp_path: Path
) -> None:
    setup = tmp_path / "train.bat"
    setup.write_text(f"python train_network.py --wandb_api_key {TOKEN}\r\n")
    person = sit_down(home, trainer=None)
    person.drop(setup)
    person.reads_until("kept in memory until this program ends", "note-token")
    assert TOKEN not in person.reads()
    person.go("settings")
    person.reads_until("until this window is closed", "token-wandb_api_key-state")


@pytest.mark.torch
def test_that_a_run_launched_from_the_window_gets_the_token_of_its_plan(
    sit_down: Callable[..., Person],
    write_plan: Callable[..., Path],
    home: Home,
    keyring_file: Path,
    tmp_path: Path,
) -> None:
    pytest.importorskip("torch")
    trainer = own_trainer(tmp_path)
    plan = write_plan(huggingface_token=TOKEN)
    person = sit_down(home, trainer=str(trainer), python=sys.executable)
    person.until(lambda: person.bench.trainers.current is not None, "the trainer")
    person.open_plan(plan)
    person.click("fix-keep", within="finding-secret-in-plan")
    person.until(lambda: not person.is_seen("finding-secret-in-plan"), "the end of the finding")
    assert kept(keyring_file) == {f"{SERVICE}/{NAME}": TOKEN}
    person.click("launch-safely")
    person.until(lambda: len(run_names(home)) == 1, "the run")
    run = RunFolder(home.runs / run_names(home)[0])
    wait_until(lambda: run.status.exists() and ended(run) and not is_held(run.lock))
    assert hashlib.sha256(TOKEN.encode()).hexdigest() in run.output_log.read_text("utf-8")
    held = [
        path.name for path in home.root.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()
    ]
    assert held == []
    assert TokenStore(home).known() == {NAME: "keyring"}
