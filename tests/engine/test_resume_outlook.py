"""What resuming would do is said in one sentence, by the trainer's own arithmetic."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from preflight_plans import checker, plan_of
from saved_runs import write_state

from gui.engine.preflight.report import Resume
from gui.engine.preflight.state_look import StateLooker

STATE = {"path": "/s", "has_optimizer": True, "step": 250}
TWENTY = {"images": 20, "repeats": 10}
"""200 steps an epoch."""


def outlook(arguments: dict[str, Any], *, kind: str = "lora", **facts: Any) -> Resume | None:
    given = {"resume": "/s", "max_train_epochs": 10, **arguments}
    said = {name: value for name, value in given.items() if value is not None}
    plan = plan_of(said, {"subsets": [{"image_dir": "images", "num_repeats": 10}]}, kind=kind)
    return checker(Path("/"), **{"state": STATE, "dataset": TWENTY, **facts}).report(plan).resume


def test_that_it_is_said_where_a_training_continues() -> None:
    found = outlook({"skip_until_initial_step": True})
    assert found is not None
    assert (found.step, found.whole, found.steps, found.overwrites) == (250, 2000, 1750, ())
    assert found.sentence == "Continues at step 250 of 2,000; saves will not overwrite the old ones."


def test_that_more_steps_than_remain_are_said() -> None:
    found = outlook({})
    assert found is not None
    assert found.sentence.startswith("Continues at step 250 of 2,000, and trains 1,800 steps more;")


def test_that_the_rest_alone_is_counted_with_what_was_done() -> None:
    found = outlook({"max_train_epochs": None, "max_train_steps": 750, "initial_step": 0})
    assert found is not None
    assert (found.step, found.whole, found.steps) == (250, 1000, 750)
    assert found.sentence.startswith("Continues at step 250 of 1,000;")


def test_that_files_that_would_be_lost_are_named() -> None:
    existing = [
        "last.safetensors",
        "last-state",
        *(f"at-step{number:08d}.safetensors" for number in (100, 9900)),
    ]
    found = outlook({"skip_until_initial_step": True, "save_every_n_steps": 100}, existing_outputs=existing)
    assert found is not None
    assert found.overwrites == ("last.safetensors", "at-step00000100.safetensors")
    assert found.sentence.endswith("saves will overwrite last.safetensors, at-step00000100.safetensors.")
    many = [f"at-step{number:08d}.safetensors" for number in (100, 200, 300, 400)]
    found = outlook({"skip_until_initial_step": True, "save_every_n_steps": 100}, existing_outputs=many)
    assert found is not None
    assert found.sentence.endswith(" ….")


def test_that_a_full_training_says_that_it_counts_anew() -> None:
    found = outlook({}, kind="full")
    assert found is not None
    assert "with 2,000 steps, which sdxl_train.py counts from 0" in found.sentence


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        ({"resume": None}, {}),
        ({}, {"dataset": None}),
        ({}, {"state": {"path": "/s", "step": 250}}),
        ({}, {"state": {"path": "/s", "has_optimizer": True}}),
        ({}, {"state": {"path": "/s", "has_optimizer": True, "step": 2000}}),
        ({"resume_from_huggingface": True}, {}),
    ],
)
def test_that_nothing_is_said_of_what_is_not_known_or_refused(
    arguments: dict[str, Any], facts: dict[str, Any]
) -> None:
    assert outlook(arguments, **facts) is None


def test_that_weights_of_a_state_are_looked_at_once(tmp_path: Path) -> None:
    state = write_state(tmp_path / "m-state", counted=3, table={})
    looker = StateLooker()
    found = looker.fact(str(state))
    assert found is not None
    assert (found.finite, found.lacks, found.has_scaler, found.has_random) == (True, (), False, True)
    assert looker.fact(str(state)) == found
    ruined = write_state(tmp_path / "n-state", value=math.nan)
    found = looker.fact(str(ruined))
    assert found is not None
    assert (found.finite, found.lacks) == (False, ("scheduler.bin",))
    bare = write_state(tmp_path / "o-state", value=None, processes=0)
    found = looker.fact(str(bare))
    assert found is not None
    assert (found.finite, found.has_random) == (None, False)
    assert found.lacks == ("model.safetensors", "scheduler.bin")
    assert looker.fact(str(tmp_path / "gone")) is None


def test_that_weights_that_cannot_be_read_are_of_unknown_worth(tmp_path: Path, monkeypatch) -> None:
    from gui.engine.errors import CannotRead
    from gui.engine.preflight import state_look

    def refused(path: Path) -> None:
        raise CannotRead(path, "no")

    monkeypatch.setattr(state_look, "check_tensors", refused)
    found = StateLooker().fact(str(write_state(tmp_path / "m-state")))
    assert found is not None
    assert found.finite is None
