"""Launching from the window: quickly, refused where it must be, called off where it still can be."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator

import pytest
from plan_window import OneTrainer, open_document, small_plan
from pytestqt.qtbot import QtBot
from run_helper import ended, status, wait_until

from gui.engine.errors import PracticeNeedsTorch, PreflightError, RunRefused, TrainerNotFound
from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.runs import prepare
from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.runs.records import Manifest
from gui.engine.token_store import TokenStore
from gui.engine.trainer.choosing import Trainer
from gui.window.bridges.launcher import Launcher
from gui.window.bridges.tasks import Tasks
from gui.window.models.plan_document import PlanDocument

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("no_leftovers")]

Open = Callable[[TrainingPlan], PlanDocument]


@pytest.fixture
def open_plan(qtbot: QtBot, home: Home) -> Iterator[Open]:
    """Return what opens a plan; closed after the test."""
    made: list[PlanDocument] = []

    def open_it(plan: TrainingPlan) -> PlanDocument:
        made.append(open_document(home, plan))
        return made[-1]

    yield open_it
    for document in made:
        document.close()


@pytest.fixture
def launcher(qtbot: QtBot, tasks: Tasks, home: Home, practice: Trainer) -> Launcher:
    return Launcher(OneTrainer(practice), tasks, home, TokenStore(home))


def test_that_a_plan_that_was_never_saved_is_launched_and_finishes(launcher, open_plan, qtbot, tmp_path):
    document = open_plan(small_plan(tmp_path))
    with qtbot.waitSignal(launcher.launched, timeout=30_000) as told:
        launcher.launch(document)
        assert launcher.starting
    run: RunFolder = told.args[0]
    assert not launcher.starting
    wait_until(lambda: ended(run))
    assert status(run).verdict.verdict == "finished"
    assert (tmp_path / "out" / "lora.safetensors").is_file()
    assert Manifest.read(run.manifest).practice


def test_that_a_stop_is_refused_with_its_finding_and_leaves_no_folder(
    launcher, open_plan, qtbot, home, tmp_path
):
    document = open_plan(small_plan(tmp_path, max_train_stepz=3))
    with qtbot.waitSignal(launcher.refused, timeout=30_000) as told:
        launcher.launch(document)
    assert {finding.id for finding in told.args[0]} == {"arg-unknown"}
    assert not launcher.starting
    assert not run_names(home)


def test_that_a_danger_needs_a_yes_which_the_run_keeps(launcher, open_plan, qtbot, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "lora.safetensors").write_bytes(b"somebody's work")
    document = open_plan(small_plan(tmp_path))
    with qtbot.waitSignal(launcher.refused, timeout=30_000) as told:
        launcher.launch(document)
    dangers = [finding.id for finding in told.args[0] if finding.severity == "danger"]
    assert dangers and len(dangers) == len(told.args[0])
    with qtbot.waitSignal(launcher.launched, timeout=30_000) as told:
        launcher.launch(document, dangers)
    run: RunFolder = told.args[0]
    assert dangers == ["output-exists"]
    assert list(Manifest.read(run.manifest).accepted) == dangers
    wait_until(lambda: ended(run))


def test_that_practising_needs_no_trainer_of_ones_own(qtbot, tasks, home, open_plan, tmp_path):
    launcher = Launcher(OneTrainer(None), tasks, home, TokenStore(home))
    document = open_plan(small_plan(tmp_path))
    with qtbot.waitSignal(launcher.failed, timeout=30_000) as told:
        launcher.launch(document)
    assert isinstance(told.args[0], TrainerNotFound)
    with qtbot.waitSignal(launcher.launched, timeout=60_000) as told:
        launcher.launch(document, practice=True)
    run: RunFolder = told.args[0]
    assert Manifest.read(run.manifest).practice
    wait_until(lambda: ended(run))


def test_that_practising_without_any_torch_says_how_to_get_one(
    qtbot, tasks, home, open_plan, tmp_path, monkeypatch
):
    monkeypatch.setattr("gui.engine.trainer.practice.own_torch_is_there", lambda: False)
    monkeypatch.setattr("gui.engine.trainer.practice.has_torch", lambda python: False)
    launcher = Launcher(OneTrainer(None), tasks, home, TokenStore(home))
    with qtbot.waitSignal(launcher.failed, timeout=30_000) as told:
        launcher.launch(open_plan(small_plan(tmp_path)), practice=True)
    assert isinstance(told.args[0], PracticeNeedsTorch)
    assert "Settings → Trainers" in str(told.args[0])
    assert "for torch" in str(told.args[0])
    assert not run_names(home)


def test_that_a_launch_can_be_called_off_until_the_trainer_is_started(
    launcher, open_plan, qtbot, tasks, home, tmp_path, monkeypatch
):
    document = open_plan(small_plan(tmp_path))
    at_it, go_on = threading.Event(), threading.Event()
    own = prepare.build_command

    def held(*words: object, **more: object) -> object:
        at_it.set()
        go_on.wait(20)
        return own(*words, **more)

    monkeypatch.setattr(prepare, "build_command", held)
    launcher.launch(document)
    qtbot.waitUntil(at_it.is_set)
    assert launcher.cancel()
    assert not launcher.starting
    go_on.set()
    qtbot.waitUntil(lambda: not tasks.busy)
    assert not run_names(home)
    assert not launcher.cancel()


def test_that_what_keeps_a_run_from_starting_is_told(launcher, open_plan, qtbot, home, tmp_path, monkeypatch):
    document = open_plan(small_plan(tmp_path))

    def full(*_words: object, **_more: object) -> None:
        raise RunRefused("the disk is full")

    monkeypatch.setattr("gui.engine.runs.start.start_supervisor", full)
    with qtbot.waitSignal(launcher.failed, timeout=30_000) as told:
        launcher.launch(document)
    error: PreflightError = told.args[0]
    assert str(error) == "the disk is full"
    assert not launcher.starting


def test_that_a_second_click_starts_nothing_twice(launcher, open_plan, qtbot, home, tmp_path):
    document = open_plan(small_plan(tmp_path))
    with qtbot.waitSignal(launcher.launched, timeout=30_000) as told:
        launcher.launch(document)
        launcher.launch(document)
    assert len(run_names(home)) == 1
    wait_until(lambda: ended(told.args[0]))


def test_that_the_window_is_no_parent_of_the_trainer(launcher, open_plan, qtbot, tmp_path):
    document = open_plan(small_plan(tmp_path))
    with qtbot.waitSignal(launcher.launched, timeout=30_000) as told:
        launcher.launch(document)
    run: RunFolder = told.args[0]
    wait_until(lambda: status(run).trainer_pid is not None)
    assert status(run).trainer_pid != os.getpid()
    wait_until(lambda: ended(run))
