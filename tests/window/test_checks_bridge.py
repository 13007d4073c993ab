"""What preflight says while a plan is edited: quickly, off the GUI thread, never stale."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from plan_window import OneTrainer, open_document, small_plan
from pytestqt.qtbot import QtBot

from gui.engine.dataset import listing
from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight import check, subset_look
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.records import CommandRecord, Manifest
from gui.engine.runs.status import RunStatus
from gui.engine.trainer.choosing import Trainer
from gui.engine.trainer.command import build_command
from gui.window.bridges.checks import Checks
from gui.window.bridges.tasks import Tasks
from gui.window.models.plan_document import PlanDocument

Open = Callable[..., tuple[PlanDocument, Checks, OneTrainer]]


@pytest.fixture
def opened(qtbot: QtBot, tasks: Tasks, home: Home, practice: Trainer) -> Iterator[Open]:
    """Return what opens a plan and waits for the first answer about it."""
    made = []

    def open_plan(plan: TrainingPlan, *, trainer: bool = True) -> tuple[PlanDocument, Checks, OneTrainer]:
        document = open_document(home, plan)
        trainers = OneTrainer(practice if trainer else None)
        checks = Checks(document, trainers, tasks, home)
        made.append((document, checks))
        qtbot.waitUntil(lambda: not checks.busy and not tasks.busy and checks.report is not None)
        return document, checks, trainers

    yield open_plan
    for document, checks in made:
        checks.close()
        document.close()


def ids(checks: Checks) -> set[str]:
    return {finding.id for finding in checks.report.findings}


def test_that_a_change_is_checked_and_its_undo_too(opened, qtbot, tmp_path):
    document, checks, _ = opened(small_plan(tmp_path))
    assert checks.report.verdict == "go"
    document.change({"max_train_stepz": 4}, "a slip of the pen")
    assert checks.busy
    qtbot.waitUntil(lambda: not checks.busy)
    assert checks.report.verdict == "stop"
    assert [finding.severity for finding in checks.at("max_train_stepz")] == ["stop"]
    assert checks.worst(["unet_lr", "max_train_stepz"]) == "stop"
    assert checks.worst(["unet_lr"]) is None
    document.undo_stack.undo()
    qtbot.waitUntil(lambda: not checks.busy)
    assert checks.report.verdict == "go"


def test_that_findings_about_a_place_are_found_from_above_and_not_at_each_thing_below(opened, tmp_path):
    plan = small_plan(tmp_path)
    broken = plan.model_copy(update={"dataset": {**plan.dataset, "subsets": []}})
    _document, checks, _ = opened(broken)
    assert "no-data" in {finding.id for finding in checks.at("dataset.subsets")}
    assert "no-data" in {finding.id for finding in checks.at("dataset")}
    assert checks.at("dataset.subsets.0.image_dir") == []


def test_that_many_changes_at_once_are_answered_by_the_last(opened, qtbot, tmp_path):
    document, checks, _ = opened(small_plan(tmp_path))
    shown = []
    checks.changed.connect(lambda: shown.append(checks.checked))
    for steps in range(1, 40):
        document.change({"max_train_steps": steps}, "steps", merge="steps")
    qtbot.waitUntil(lambda: not checks.busy)
    assert checks.report.steps.total_steps == 39
    assert len({id(each) for each in shown}) <= 4


def test_that_a_slow_disk_does_not_hold_up_the_findings(opened, qtbot, tmp_path, monkeypatch):
    document, checks, _ = opened(small_plan(tmp_path))
    go_on = threading.Event()
    own = subset_look.list_folder

    def slow(*words: object) -> listing.FolderListing:
        go_on.wait(20)
        return own(*words)

    monkeypatch.setattr(subset_look, "list_folder", slow)
    try:
        checks.check_again()
        document.change({"max_train_stepz": 4}, "a slip of the pen")
        qtbot.waitUntil(lambda: "arg-unknown" in ids(checks))
        assert checks.busy
        assert checks.report.steps.total_steps == 8  # what was seen before still counts
    finally:
        go_on.set()
    qtbot.waitUntil(lambda: not checks.busy)
    assert "arg-unknown" in ids(checks)
    assert not checks.looking


def test_that_a_new_folder_on_a_slow_disk_is_unknown_until_it_was_looked_at(
    opened, qtbot, tmp_path, monkeypatch
):
    document, checks, _ = opened(small_plan(tmp_path))
    go_on = threading.Event()
    own = subset_look.list_folder
    monkeypatch.setattr(subset_look, "list_folder", lambda *words: (go_on.wait(20), own(*words))[1])
    try:
        document.change({"dataset.subsets.0.image_dir": str(tmp_path / "not there")}, "another folder")
        qtbot.waitUntil(lambda: checks.looking)
        assert not checks.at("dataset.subsets.0.image_dir")
        assert checks.report.steps is None
    finally:
        go_on.set()
    qtbot.waitUntil(lambda: not checks.busy)
    assert checks.worst(["dataset.subsets.0.image_dir"]) == "stop"


def test_that_images_added_meanwhile_are_counted_when_asked(opened, qtbot, tmp_path):
    _document, checks, _ = opened(small_plan(tmp_path, max_train_steps=None, max_train_epochs=1))
    assert checks.report.steps.images == 20
    (tmp_path / "images" / "sks" / "img00.png").unlink()
    checks.check_again()
    qtbot.waitUntil(lambda: not checks.busy)
    assert checks.report.steps.images == 19


def test_that_another_plan_brings_nothing_of_the_one_before(opened, qtbot, tmp_path):
    document, checks, _ = opened(small_plan(tmp_path, max_train_stepz=4))
    assert "arg-unknown" in ids(checks)
    document.new(small_plan(tmp_path))
    assert checks.report is None
    qtbot.waitUntil(lambda: not checks.busy)
    assert checks.report.verdict == "go"


def test_that_the_trainer_decides_and_its_loss_is_checked_anew(opened, qtbot, tmp_path, practice):
    _document, checks, trainers = opened(small_plan(tmp_path), trainer=False)
    assert checks.checked.trainer is None
    trainers.show(practice)
    qtbot.waitUntil(lambda: not checks.busy)
    assert checks.checked.trainer.install.practice
    assert checks.checked.view.facts.trainer.practice


def test_that_a_trainer_that_a_plan_names_and_that_is_gone_is_said(opened, qtbot, tmp_path):
    document, checks, _ = opened(small_plan(tmp_path))
    document.change({"plan.trainer": "no such folder"}, "another trainer")
    qtbot.waitUntil(lambda: not checks.busy)
    assert "no such folder" in str(checks.problem)
    document.change({"plan.trainer": "practice"}, "the practice trainer")
    qtbot.waitUntil(lambda: not checks.busy and checks.problem is None)
    assert checks.checked.trainer.install.practice


def test_that_a_fault_of_the_check_is_said_and_the_next_check_is_done(opened, qtbot, tmp_path, monkeypatch):
    document, checks, _ = opened(small_plan(tmp_path))

    def broken(*_words: object) -> None:
        raise ZeroDivisionError("of the rules")

    with monkeypatch.context() as patch:
        patch.setattr(check, "check_tokens", broken)
        document.change({"max_train_steps": 3}, "steps")
        qtbot.waitUntil(lambda: not checks.busy)
        assert "of the rules" in str(checks.problem)
    document.change({"max_train_steps": 4}, "steps")
    qtbot.waitUntil(lambda: not checks.busy)
    assert checks.problem is None
    assert checks.report.steps.total_steps == 4


def test_that_fixes_are_checked_without_looking_at_known_files_again(opened, tmp_path, monkeypatch):
    document, checks, _ = opened(small_plan(tmp_path))
    checker = checks.checker()
    monkeypatch.setattr(subset_look, "list_folder", None)
    assert checker.findings(document.plan) == list(checks.report.findings)


def test_that_an_earlier_run_of_the_same_kind_tells_that_a_run_is_long(
    opened, qtbot, home, practice, tmp_path
):
    document, checks, _ = opened(small_plan(tmp_path, max_train_steps=100))
    assert "eta" not in ids(checks)
    _slow_run(home, practice, document)
    checks.check_again()
    qtbot.waitUntil(lambda: not checks.busy)
    (told,) = [finding for finding in checks.report.findings if finding.id == "eta"]
    assert "100 steps would take about 28 hours" in told.title
    document.change({"network_dim": 8}, "another kind of run")
    qtbot.waitUntil(lambda: not checks.busy and "eta" not in ids(checks))


def _slow_run(home: Home, trainer: Trainer, document: PlanDocument) -> None:
    """Leave the folder of a run that took 1,000 seconds a step."""
    run = RunFolder(home.runs / "slow")
    run.path.mkdir(parents=True)
    made = build_command(
        document.plan,
        document.base,
        trainer.install,
        trainer.facts,
        trainer.catalogue,
        run.path,
        gpu_uuids=(),
    )
    CommandRecord(
        argv=made.argv,
        cwd=made.cwd,
        environment=made.environment,
        python=str(made.python),
        script=made.script,
    ).write(run.command)
    Manifest(program="test").write(run.manifest)
    RunStatus(name=run.name, step=100, mean_rate=0.001).write(run.status)
    run.dataset.write_text(made.dataset_toml or "", "utf-8")
