"""The real trainer after a breakdown: recovery's first choice ends with a finished run."""

from __future__ import annotations

from pathlib import Path

import pytest
from real_plan import real_plan, verdict_of

from gui.cli.main import run as command_line
from gui.engine.paths import Home
from gui.engine.plan.plan_file import load_plan
from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.runs.prepare import Preparation
from gui.engine.runs.records import Manifest
from gui.engine.runs.recovery import recovery_of
from gui.engine.runs.start import start_supervisor
from gui.engine.trainer.choosing import open_trainer
from gui.engine.trainer.installs import install_at

pytestmark = [pytest.mark.usefixtures("no_leftovers"), pytest.mark.timeout(1200)]


def test_that_the_first_choice_after_a_nan_is_a_finished_run(
    real_trainer, home: Home, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.toml"
    text = real_plan(real_trainer.inputs, "too fast", unet_lr=1e3, max_train_steps=12, save_every_n_steps=6)
    plan.write_text(text, "utf-8")
    trainer = open_trainer(home, install_at(real_trainer.root, real_trainer.python))
    prepared = Preparation(home, trainer.install, trainer.facts, trainer.catalogue).prepare(load_plan(plan))
    start_supervisor(prepared.run, prepared.order)
    broke = verdict_of(prepared.run)
    assert (broke.verdict, broke.reason) == ("stopped", "guard")

    recovery = recovery_of(prepared.run)
    first = recovery.tries[0]
    assert (recovery.kind, first.id, first.point) == ("loss", "safe-rate", None)
    assert first.changes["unet_lr"] == 1e-4
    assert command_line(["recover", prepared.run.name, "--run"]) == 0
    second = RunFolder(home.runs / run_names(home)[0])
    verdict = verdict_of(second)
    assert (verdict.verdict, verdict.step, verdict.weights) == ("finished", 12, "finite")
    noted = Manifest.read(second.manifest).follows
    assert noted is not None and (noted.run, noted.way) == (prepared.run.name, "safe-rate")
