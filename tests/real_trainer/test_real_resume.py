"""The real trainer goes on from its states: what remains, the schedule where it stood, no file lost."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from real_plan import real_plan, verdict_of

from gui.engine.documents import iterate_json_lines
from gui.engine.paths import Home
from gui.engine.plan.changes import apply_changes
from gui.engine.plan.plan_file import PlanFile, parse_plan
from gui.engine.preflight.checking import checker_for
from gui.engine.runs.continuing import clean_points, continuation
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.prepare import Preparation
from gui.engine.runs.reuse import plan_of_run
from gui.engine.runs.start import read_status, start_supervisor
from gui.engine.runs.status import RunStatus
from gui.engine.trainer.choosing import Trainer, open_trainer
from gui.engine.trainer.installs import install_at

pytestmark = [pytest.mark.usefixtures("no_leftovers"), pytest.mark.timeout(3600)]

STEPS = 10
"""Five images, two epochs."""


@pytest.fixture
def trainer(real_trainer, home: Home) -> Trainer:
    return open_trainer(home, install_at(real_trainer.root, real_trainer.python))


@pytest.fixture
def train(trainer: Trainer, home: Home) -> Callable[[PlanFile], RunFolder]:
    def finish(plan: PlanFile) -> RunFolder:
        prepared = Preparation(home, trainer.install, trainer.facts, trainer.catalogue).prepare(plan)
        start_supervisor(prepared.run, prepared.order)
        verdict_of(prepared.run, 1500)
        return prepared.run

    return finish


def status_of(run: RunFolder) -> RunStatus:
    status = read_status(run)
    assert status is not None
    return status


def rates(run: RunFolder) -> list[float]:
    return [row["lr"]["unet"] for row in iterate_json_lines(run.metrics) if row["metric"] == "step"]


def contents(folder: Path) -> dict[Path, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_that_the_real_trainer_goes_on_with_what_remains_twice_over(
    real_trainer, trainer: Trainer, train, home: Home, tmp_path: Path
) -> None:
    out, images = tmp_path / "out", tmp_path / "images"
    images.mkdir()
    for path in sorted((real_trainer.inputs / "images" / "1_sks thing").iterdir())[:STEPS]:
        shutil.copy(path, images)  # each with its caption
    text = real_plan(
        real_trainer.inputs,
        "resume",
        subset={"image_dir": str(images)},
        learning_rate=1e-4,
        lr_scheduler="cosine",
        max_train_epochs=2,
        save_every_n_steps=4,
        save_state=True,
        output_dir=str(out),
    )
    first = train(parse_plan(text, tmp_path / "plan.toml"))
    assert status_of(first).step == STEPS
    whole, before = rates(first), contents(out)

    points = [point for point in clean_points(first) if point.kind == "state"]
    assert [point.step for point in points] == [10, 8, 4]
    second = go_on(first, points[1].path, trainer, home, train)
    status = status_of(second)
    assert (status.step, status.total, status.begun_at, status.whole) == (2, 2, 8, STEPS)
    assert status.verdict is not None
    assert status.verdict.sentence.startswith("Finished: the last 2 of 10 steps.")
    assert rates(second) == pytest.approx(whole[8:])
    assert {path: told for path, told in contents(out).items() if path in before} == before

    # Its own state says step 4, of the 9 that are done.
    before = contents(out)
    points = [point for point in clean_points(second) if point.kind == "state"]
    assert [point.step for point in points] == [10, 9]
    third = go_on(second, points[1].path, trainer, home, train)
    assert status_of(third).step == 1
    assert rates(third) == pytest.approx(whole[9:])
    assert {path: told for path, told in contents(out).items() if path in before} == before


def go_on(run: RunFolder, state: Path, trainer: Trainer, home: Home, train) -> RunFolder:
    """Launch the run's plan from a state, as far as nothing speaks against it."""
    found = continuation(run, state)
    plan = plan_of_run(run)
    changed = PlanFile(apply_changes(plan.plan, found.changes))
    report = checker_for(run.path, trainer, home).report(changed.plan)
    about = {finding.id for finding in report.findings if finding.id.startswith("resume")}
    assert about <= {"resume-optimizer"}
    assert report.resume is not None
    assert report.resume.sentence == found.sentence
    return train(changed)
