"""``retry RUN``: the plan that would fit after the GPU's memory ran out."""

from __future__ import annotations

from pathlib import Path

import pytest
from memory_asked import PRIOR, TABLES, asked

from gui.cli.main import run as cli
from gui.engine.hardware.memory.forecast import forecast
from gui.engine.hardware.memory.ladder import Ways
from gui.engine.hardware.memory.observations import MemoryExpectation
from gui.engine.hardware.memory.room import Room
from gui.engine.paths import Home
from gui.engine.plan.plan_file import load_plan
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.records import Manifest
from gui.engine.runs.status import Cause, RunStatus, Verdict
from gui.engine.trainer.events import Phase

PLAN = 'schema = 1\nname = "mira"\nfamily = "sdxl"\n[arguments]\nunet_lr = 1e-4\n[dataset]\nbatch_size = 4\n'


def failed_run(home: Home, total: float) -> RunFolder:
    run, question = RunFolder(home.runs / "20261130-010203-mira"), asked(batch=4, checkpointing=False)
    run.path.mkdir(parents=True)
    expected = MemoryExpectation(
        question=question,
        forecast=forecast(question, TABLES, PRIOR),
        room=Room.of(total, total, "linux"),
        ways=Ways(bf16=True),
    )
    Manifest(program="1", memory=expected).write(run.manifest)
    run.plan.write_text(PLAN, "utf-8")
    run.events.write_text(Phase(phase="training", t=10.0).model_dump_json() + "\n", "utf-8")
    cause = Cause(id="cuda-oom", title="The GPU's memory ran out.")
    verdict = Verdict(verdict="failed", reason="error", sentence="It failed.", causes=(cause,))
    RunStatus(name=run.name, state="ended", verdict=verdict).write(run.status)
    return run


def test_that_the_plan_that_fits_is_written(tmp_path: Path, home: Home, capsys) -> None:
    run = failed_run(home, 24.0)
    assert cli(["retry", run.name, "-o", str(tmp_path / "next.toml")]) == 0
    said = capsys.readouterr().out
    assert said.startswith(
        "It needed at least 24.0 GiB; 24.0 GiB were there.\n  gradient_checkpointing: saves"
    )
    plan = load_plan(tmp_path / "next.toml").plan
    assert plan.arguments == {"unet_lr": 1e-4, "gradient_checkpointing": True}
    assert plan.dataset["batch_size"] == 4
    assert load_plan(run.plan).plan.arguments == {"unet_lr": 1e-4}, "the record stays"


@pytest.mark.parametrize(
    ("total", "words"), [(2.0, "No change of the plan alone"), (None, "did not run out")]
)
def test_that_where_nothing_fits_it_says_so(home: Home, total: float | None, words: str, capsys) -> None:
    run = failed_run(home, total or 24.0)
    if total is None:
        RunStatus(name=run.name, state="ended").write(run.status)
    assert cli(["retry", run.name]) == 1
    assert words in capsys.readouterr().err
