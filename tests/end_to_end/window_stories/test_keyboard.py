"""From the start to a launched training without the mouse."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("no_leftovers")]

ALT, CTRL = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ControlModifier
MOST_TABS = 200


def tab_to(person, name: str) -> None:
    """Press Tab until a control has the keyboard."""
    for _turn in range(MOST_TABS):
        now = QApplication.focusWidget()
        if now is not None and name in (now.objectName(), now.parentWidget().objectName()):
            return
        person.key(Qt.Key.Key_Tab)
    raise AssertionError(f"Tab does not come to {name}; the keyboard is at {QApplication.focusWidget()}")


def type_over(person, text: str) -> None:
    person.key(Qt.Key.Key_A, CTRL)
    person.qtbot.keyClicks(QApplication.focusWidget(), text)
    person.key(Qt.Key.Key_Return)


def test_that_a_plan_is_opened_mended_and_launched_by_keys_alone(sit_down, known_home, write_plan):
    plan = write_plan(max_train_steps=4, persistent_data_loader_workers=True)
    first = sit_down(known_home)
    first.open_plan(plan)  # it was open once, so that it is among the plans of the start page
    first.leave()

    person = sit_down(known_home)
    person.until(lambda: person.is_seen("lately-plan-0"), "the plan of before")
    tab_to(person, "lately-plan-0")
    person.key(Qt.Key.Key_Return)
    person.until(lambda: person.is_seen("launch-safely"), "the review")
    person.reads_until("1 thing stops this run", "review-headline")

    person.key(Qt.Key.Key_2, CTRL)
    person.until(lambda: person.is_seen("step-data") or not person.is_seen("review-step"), "another step")
    person.key(Qt.Key.Key_5, CTRL)
    person.until(lambda: person.is_seen("field-unet_lr"), "the training step")
    tab_to(person, "field-unet_lr")
    type_over(person, "5e-5")
    person.key(Qt.Key.Key_7, CTRL)
    person.until(lambda: person.is_seen("launch-safely") and person.is_seen("review-headline"), "the review")

    tab_to(person, "fix-not-persistent")
    person.key(Qt.Key.Key_Space)
    person.reads_until("Nothing stops this run", "review-headline")
    person.until(lambda: "--unet_lr 5e-05" in person.says("command-text"), "the rate in the command")
    person.key(Qt.Key.Key_L, ALT)
    person.until(lambda: person.is_seen("run-title"), "the run")
    person.reads_until("Finished: 4 of 4 steps", "run-verdict")
    person.key(Qt.Key.Key_5, ALT)
    person.until(lambda: person.is_seen("runs-table"), "the runs")
    person.until(lambda: QApplication.focusWidget() is person.find("runs-table"), "the keyboard in the table")
    person.key(Qt.Key.Key_Return)
    person.until(lambda: person.is_seen("run-verdict"), "the run again")
