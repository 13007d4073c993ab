"""The window is closed at a bad moment: while a launch is on its way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QPushButton

from gui.window.closing import Closing
from gui.window.main_window import MainWindow


class Launching(QObject):
    """A launch that takes as long as the test wants."""

    changed = Signal()
    launched = Signal(object)
    refused = Signal(object)
    failed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.starting = False
        self.called_off = 0

    def cancel(self) -> bool:
        self.called_off += self.starting
        return True

    def begin(self) -> None:
        self.starting = True
        self.changed.emit()

    def end(self, signal: Signal) -> None:
        self.starting = False
        self.changed.emit()
        signal.emit(())


class NoRuns:
    """Nothing trains."""

    @staticmethod
    def living_now() -> list[object]:
        return []


@dataclass
class Scene:
    window: MainWindow
    launcher: Launching
    closing: Closing

    def button(self, name: str) -> QPushButton:
        return self.window.findChild(QPushButton, name)


@pytest.fixture
def scene(icons, show) -> Iterator[Scene]:
    window = MainWindow(icons)
    launcher = Launching()
    closing = Closing(window, NoRuns(), launcher)  # type: ignore[arg-type]
    window.may_close = closing.may_close
    show(window)
    return Scene(window, launcher, closing)


def test_that_closing_during_a_launch_waits_for_the_run_and_says_so(scene, qtbot):
    scene.launcher.begin()
    scene.window.close()
    assert scene.window.isVisible()
    assert scene.button("closing-yes").isVisible()
    with qtbot.waitSignal(scene.window.closed):
        scene.launcher.end(scene.launcher.launched)
    assert not scene.window.isVisible()
    assert scene.launcher.called_off == 0


@pytest.mark.parametrize("what", ["refused", "failed"])
def test_that_the_window_stays_to_say_what_stopped_the_launch(scene, what):
    scene.launcher.begin()
    scene.window.close()
    scene.launcher.end(getattr(scene.launcher, what))
    assert scene.window.isVisible()
    assert not scene.button("closing-yes").isVisible()
    scene.launcher.begin()
    scene.launcher.end(scene.launcher.launched)
    assert scene.window.isVisible()  # the wish to close is over


def test_that_whoever_stays_is_not_thrown_out_later(scene, qtbot):
    scene.launcher.begin()
    scene.window.close()
    qtbot.mouseClick(scene.button("closing-no"), Qt.MouseButton.LeftButton)
    scene.launcher.end(scene.launcher.launched)
    assert scene.window.isVisible()


@pytest.mark.parametrize("again", ["the frame", "the button"])
def test_that_whoever_closes_again_is_believed_and_the_launch_called_off(scene, qtbot, again):
    scene.launcher.begin()
    scene.window.close()
    if again == "the frame":
        scene.window.close()
    else:
        qtbot.mouseClick(scene.button("closing-yes"), Qt.MouseButton.LeftButton)
    assert not scene.window.isVisible()
    assert scene.launcher.called_off == 1
