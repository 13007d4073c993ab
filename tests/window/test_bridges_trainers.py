"""The trainers of the window: found, asked off the GUI thread, decided about, and gone."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_trainers import SCRIPT, hide_other_trainers, make_checkout
from pytestqt.qtbot import QtBot

from gui.engine.errors import InterpreterNotFound, TrainerBroken, TrainerNotFound
from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.preferences import load_preferences
from gui.window.bridges.settings import Settings
from gui.window.bridges.tasks import Tasks
from gui.window.bridges.trainers import Trainers

SLOW = "import time\ntime.sleep(60)\n" + SCRIPT


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the only folder in which trainers are found."""
    place = tmp_path / "machine"
    place.mkdir()
    hide_other_trainers(monkeypatch, place)
    monkeypatch.setenv("VIRTUAL_ENV", "")
    return place


@pytest.fixture
def made(qtbot: QtBot, tasks: Tasks, home: Home) -> Iterator[Callable[..., Trainers]]:
    """Return what makes the bridge."""
    all_of_them: list[Trainers] = []

    def make(trainer: str | None = None, python: str | None = None) -> Trainers:
        all_of_them.append(Trainers(home, Settings(home), tasks, trainer=trainer, python=python))
        return all_of_them[-1]

    yield make
    for trainers in all_of_them:
        trainers.close()


def started(trainers: Trainers, qtbot: QtBot) -> Trainers:
    trainers.start()
    qtbot.waitUntil(lambda: trainers.looked, timeout=30_000)
    return trainers


def known_of(trainers: Trainers, name: str):
    return next(each for each in trainers.known if each.checkout.root.name == name)


def test_that_the_trainer_of_the_machine_is_found_and_asked(made, qtbot, machine):
    make_checkout(machine / "sd-scripts")
    trainers = made()
    started(trainers, qtbot)
    assert trainers.problem is None
    assert trainers.current.facts.version == "0.10.1"
    assert trainers.catalogue.script("train_network.py").arguments == {}
    assert [each.checkout.root.name for each in trainers.known] == ["sd-scripts", "practice_trainer"]
    assert trainers.installs[-1].practice
    assert trainers.facts_of(known_of(trainers, "sd-scripts")).torch == "2.8.0+cu128"


def test_that_none_found_is_a_sentence_and_the_bundled_arguments_stay(made, qtbot):
    trainers = started(made(), qtbot)
    assert trainers.current is None
    assert isinstance(trainers.problem, TrainerNotFound)
    assert "unet_lr" in trainers.catalogue.script("train_network.py").arguments
    assert [each.install.practice for each in trainers.known] == [True]


def test_that_asking_can_be_called_off(made, qtbot, machine):
    make_checkout(machine / "sd-scripts", script=SLOW)
    trainers = made()
    with qtbot.waitSignal(trainers.progress, timeout=20_000):
        trainers.start()
    assert trainers.busy
    trainers.cancel()
    assert not trainers.busy
    assert trainers.current is None
    qtbot.waitUntil(lambda: trainers.looked)


def test_that_a_broken_trainer_is_a_sentence(made, qtbot, machine):
    make_checkout(machine / "sd-scripts", script="import nothing_of_that_name\n" + SCRIPT)
    trainers = started(made(), qtbot)
    assert isinstance(trainers.problem, TrainerBroken)
    assert "nothing_of_that_name" in trainers.trouble_of(known_of(trainers, "sd-scripts"))


def test_that_one_added_is_kept_used_and_taken_away_again(made, qtbot, home, tmp_path):
    trainers = started(made(), qtbot)
    place = make_checkout(tmp_path / "elsewhere" / "my scripts", python=False)
    trainers.add(place, sys.executable)
    qtbot.waitUntil(lambda: trainers.current is not None, timeout=20_000)
    assert trainers.current.install.root == place
    qtbot.waitUntil(lambda: len(trainers.known) == 2)
    assert load_preferences(home.preferences).trainers[0].path == str(place)
    assert trainers.may_remove(place)
    trainers.remove(place)
    qtbot.waitUntil(lambda: trainers.current is None and len(trainers.known) == 1)
    assert place.is_dir()
    assert not load_preferences(home.preferences).trainers


def test_that_a_wrong_folder_is_refused_with_its_sentence(made, qtbot, tmp_path):
    trainers = started(made(), qtbot)
    with qtbot.waitSignal(trainers.refused) as told:
        trainers.add(tmp_path)
    assert "train_network.py" in str(told.args[0])
    with qtbot.waitSignal(trainers.refused) as told:
        trainers.add(make_checkout(tmp_path / "scripts"), str(tmp_path / "no python"))
    assert isinstance(told.args[0], InterpreterNotFound)


def test_that_the_default_is_kept_only_once_it_can_train(made, qtbot, home, machine):
    good = make_checkout(machine / "sd-scripts")
    make_checkout(machine / "sd-scripts-old", script="import nothing_of_that_name\n" + SCRIPT)
    trainers = started(made(), qtbot)
    with qtbot.waitSignal(trainers.refused, timeout=20_000):
        trainers.make_default(known_of(trainers, "sd-scripts-old").install)
    assert load_preferences(home.preferences).trainer is None
    assert trainers.current.install.root == good
    trainers.make_default(known_of(trainers, "sd-scripts").install)
    qtbot.waitUntil(lambda: load_preferences(home.preferences).trainer == str(good), timeout=20_000)
    assert trainers.current.install.root == good


def test_that_another_one_is_used_in_this_window_only(made, qtbot, home, machine):
    make_checkout(machine / "sd-scripts")
    other = make_checkout(machine / "sd-scripts-2")
    trainers = started(made(), qtbot)
    trainers.use(other)
    qtbot.waitUntil(lambda: not trainers.busy, timeout=20_000)
    assert trainers.current.install.root == other
    assert load_preferences(home.preferences).trainer is None


def test_that_a_trainer_that_goes_away_is_told_and_comes_back_by_itself(made, qtbot, machine):
    place = make_checkout(machine / "sd-scripts")
    trainers = started(made(), qtbot)
    place.rename(machine / "taken away")
    trainers.look_whether_there()
    qtbot.waitUntil(lambda: trainers.current is None)
    assert "does not exist" in str(trainers.problem)
    (machine / "taken away").rename(place)
    trainers.look_whether_there()
    qtbot.waitUntil(lambda: trainers.current is not None, timeout=20_000)
    assert trainers.problem is None


def test_that_asking_again_sees_what_has_changed(made, qtbot, machine):
    place = make_checkout(machine / "sd-scripts")
    trainers = started(made(), qtbot)
    before = trainers.current
    (place / "README.md").write_text("## Change History\n\n- **Version 0.11.0 (2026-01-01):**\n")
    trainers.probe_again()
    qtbot.waitUntil(lambda: trainers.current is not before and not trainers.busy, timeout=20_000)
    assert trainers.current.facts.version == "0.11.0"


def test_that_one_not_in_use_can_be_asked(made, qtbot, machine):
    make_checkout(machine / "sd-scripts")
    other = make_checkout(machine / "sd-scripts-2")
    trainers = started(made(), qtbot)
    assert trainers.facts_of(known_of(trainers, "sd-scripts-2")) is None
    trainers.examine(known_of(trainers, "sd-scripts-2").install)
    assert trainers.asking == other
    qtbot.waitUntil(lambda: not trainers.busy, timeout=20_000)
    assert trainers.facts_of(known_of(trainers, "sd-scripts-2")).version == "0.10.1"
    assert trainers.current.install.root.name == "sd-scripts"


def test_that_a_plans_own_trainer_comes_before_the_windows(made, qtbot, machine, tmp_path):
    make_checkout(machine / "sd-scripts")
    trainers = started(made(), qtbot)
    plain = TrainingPlan.model_validate({"name": "a", "family": "sd15"})
    own = plain.model_copy(update={"trainer": "practice"})
    answers = []
    thread = threading.Thread(
        target=lambda: answers.extend(trainers.trainer_for(plan, tmp_path) for plan in (plain, own))
    )
    thread.start()
    qtbot.waitUntil(lambda: not thread.is_alive(), timeout=30_000)
    assert answers[0] is trainers.current
    assert answers[1].install.practice
