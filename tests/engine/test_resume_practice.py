"""What goes on from a saved state does just the steps that remain, and writes over nothing: trained."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from practice_runs import practice
from saved_runs import saved, saved_run

from gui.engine.paths import Home
from gui.engine.runs.continuing import continuation
from gui.engine.trainer.saved_state import state_numbers

pytest.importorskip("torch")


def test_that_a_training_goes_on_amid_an_epoch_and_a_resumed_one_likewise(tmp_path: Path) -> None:
    arguments = {
        "network_module": "networks.lora",
        "lr_scheduler": "cosine",
        "max_train_epochs": 4,
        "save_every_n_steps": 7,
        "output_dir": str(tmp_path / "out"),
        "output_name": "demo",
    }
    words = [word for name, value in arguments.items() for word in (f"--{name}", value)]
    first = practice(tmp_path, *words, "--save_state", images=5, left_out=["max_train_steps"])
    assert first.tally.last_step == 20
    before = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in first.out.glob("*.safetensors")}

    home, state = Home(tmp_path / "home"), first.out / "demo-step00000007-state"
    files = [saved(path) for path in before]
    run = saved_run(home, arguments, batches=5, whole=20, files=files)
    found = continuation(run, state)
    assert (found.done_steps, found.remaining_steps) == (7, 13)
    changed = {**arguments, **{name: value for name, value in found.changes.items() if value is not None}}
    more = [
        str(w) for name, value in changed.items() for w in ([f"--{name}"] + [value] * (value is not True))
    ]
    second = practice(tmp_path, *more, "--save_state", left_out=["max_train_steps"])
    assert second.tally.last_step == 13
    assert {"demo-from7-step00000007.safetensors", "demo-from7.safetensors"} <= set(second.files)
    assert {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in before} == before

    # The second one's state says its trainer's count, which began at 2 of its second epoch.
    run = saved_run(home, changed, batches=5, whole=20, resumed_from=state_numbers(state))
    again = second.out / "demo-from7-step00000007-state"
    assert state_numbers(again).counted == 7
    last = continuation(run, again)
    assert (last.done_steps, last.remaining_steps) == (12, 8)
    assert last.changes["initial_step"] == 12
