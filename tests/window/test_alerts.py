"""What is told outside the window: only while it is not in front, only if it is wanted."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget

from gui.engine.runs.alarm import Alarm
from gui.engine.runs.status import Verdict
from gui.window.bridges.alerts import Alerts, QtDesktop
from gui.window.bridges.settings import Settings

ALARM = Alarm(
    id="loss-nonfinite", tone="bad", title="The loss is no longer a number.", done="It was stopped."
)
DONE = Verdict(verdict="finished", reason="done", sentence="Finished: 5 of 5 steps.", final=Path("x"))


class Desk:
    """A desktop that remembers."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, str]] = []
        self.count = 0

    def notify(self, title: str, text: str, tone: str) -> None:
        self.told.append((title, text, tone))

    def ask_for_attention(self, count: int) -> None:
        self.count = count

    def quiet(self) -> None:
        self.count = 0


@pytest.fixture
def settings(home) -> Settings:
    return Settings(home)


@pytest.fixture
def parts(qapp, icons, settings, show, qtbot):
    window, front, desk = show(QWidget(), 300, 200), show(QWidget(), 300, 200), Desk()
    alerts = Alerts(qapp, window, icons, settings, desk)
    front.activateWindow()
    qtbot.waitUntil(front.isActiveWindow)
    yield alerts, window, desk
    alerts.close()


def test_that_alarms_and_ends_are_told_while_another_window_is_in_front(parts, qtbot):
    alerts, window, desk = parts
    alerts.alarm("mira", ALARM)
    alerts.ended("mira", DONE)
    assert desk.told == [
        ("mira: The loss is no longer a number.", "It was stopped.", "bad"),
        ("mira: finished", "Finished: 5 of 5 steps.", "good"),
    ]
    assert desk.count == 2
    alerts.bring_to_front()
    qtbot.waitUntil(window.isActiveWindow)
    qtbot.waitUntil(lambda: desk.count == 0)
    alerts.alarm("mira", ALARM)
    assert len(desk.told) == 2


def test_that_nothing_is_told_to_who_does_not_want_it(parts, settings):
    alerts, _window, desk = parts
    settings.change(notifications=False)
    alerts.alarm("mira", ALARM)
    alerts.ended("mira", DONE)
    assert not desk.told and desk.count == 0


def test_that_a_desktop_without_a_tray_is_no_trouble(qapp, icons, show):
    window = show(QWidget(), 200, 100)
    desktop = QtDesktop(qapp, window, icons)
    desktop.notify("a", "b", "bad")
    desktop.ask_for_attention(1)
    desktop.quiet()
