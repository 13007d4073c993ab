"""How long a step took in an earlier run of the same kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gui.engine.paths import Home
from gui.engine.runs.earlier import earlier_pace
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.records import CommandRecord, Manifest
from gui.engine.runs.status import RunStatus
from gui.engine.trainer.command import TrainerCommand

DATA = """[[datasets]]
resolution = [64, 64]
batch_size = {batch}
[[datasets.subsets]]
image_dir = "{images}"
num_repeats = 4
"""
USUAL = ("/python", "/trainer/train.py", "--network_dim", "4", "--output_name", "one", "--sdpa")


@pytest.fixture
def launched(home: Home) -> Callable[..., None]:
    """Return what writes the folder of a run."""

    def write(name: str, *, rate: float | None = 2.0, step: int | None = 100, **more: object) -> None:
        run = RunFolder(home.runs / name)
        run.path.mkdir(parents=True)
        argv = more.get("argv", USUAL)
        record = CommandRecord(
            argv=argv,
            cwd=Path("/trainer"),
            python="/python",
            script="train.py",
            environment=more.get("env", {}),
        )
        record.write(run.command)
        Manifest(program="test", gpus=more.get("gpus", ("A card",))).write(run.manifest)
        RunStatus(name=name, step=step, mean_rate=rate).write(run.status)
        run.dataset.write_text(DATA.format(batch=more.get("batch", 2), images="/elsewhere"), "utf-8")

    return write


def command(*argv: str, **more: object) -> TrainerCommand:
    return TrainerCommand(
        argv=argv or USUAL,
        cwd=Path("/trainer"),
        python=Path("/python"),
        script="train.py",
        output_dir=Path("/out"),
        output_name="other",
        dataset_toml=DATA.format(batch=2, images="/images"),
        **more,
    )


def test_that_the_newest_run_of_the_same_kind_tells(home, launched):
    launched("20260101-000000-a", rate=1.0)
    launched("20260102-000000-b", rate=4.0)
    found = earlier_pace(home, command(), ["A card"])
    assert found is not None
    assert found == ("20260102-000000-b", 0.25)


def test_that_names_rates_and_lengths_make_no_other_kind(home, launched):
    launched("20260101-000000-a")
    other = (*USUAL[:4], "--output_name=two", "--unet_lr", "1", "--sdpa", "--max_train_steps", "9")
    assert earlier_pace(home, command(*other), ["A card"]) is not None


@pytest.mark.parametrize(
    "more",
    [
        {"argv": (*USUAL, "--gradient_checkpointing")},
        {"argv": ("/python", "/trainer/train.py", "--network_dim", "8")},
        {"batch": 1},
        {"gpus": ("Another card",)},
        {"env": {"CUDA_VISIBLE_DEVICES": "1"}},
        {"rate": None},
        {"step": 3},
        {"step": None},
    ],
)
def test_that_what_may_change_the_speed_makes_another_kind(home, launched, more):
    launched("20260101-000000-a", **more)
    assert earlier_pace(home, command(), ["A card"]) is None


def test_that_damaged_runs_are_passed_over(home, launched):
    launched("20260101-000000-a")
    for name, file in (("20260102-000000-b", "dataset.toml"), ("20260103-000000-c", "command.json")):
        launched(name)
        (home.runs / name / file).write_text("= broken", "utf-8")
    (home.runs / "20260104-000000-d").mkdir()
    found = earlier_pace(home, command(), ["A card"])
    assert found is not None
    assert found.run == "20260101-000000-a"


def test_that_no_runs_tell_nothing(home):
    assert earlier_pace(home, command(), []) is None
