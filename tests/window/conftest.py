"""What tests of the window stand on: one application, its theme, threads that end with the test."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest
from patient_qtbot import PatientQtBot
from plan_window import practice_trainer
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from gui.engine.paths import Home
from gui.engine.token_store import TokenStore
from gui.engine.trainer.choosing import Trainer
from gui.window.bridges.tasks import Tasks
from gui.window.bridges.tokens import Tokens
from gui.window.theme.icons import Icons
from gui.window.theme.theme import Theme

# Windows of tests are not for anybody's screen, unless that is asked for.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

W = TypeVar("W", bound=QWidget)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    """Return what clicks, types and waits."""
    return PatientQtBot(request)


@pytest.fixture
def theme(qapp: QApplication) -> Theme:
    """Return the light theme at plain size."""
    return Theme(qapp, "light")


@pytest.fixture
def icons(theme: Theme) -> Icons:
    """Return the icons."""
    return Icons(theme)


@pytest.fixture
def tasks(qtbot: QtBot) -> Iterator[Tasks]:
    """Return threads for blocking work; all of it has ended after the test."""
    tasks = Tasks()
    yield tasks
    tasks.close()


@pytest.fixture
def tokens(qtbot: QtBot, home: Home, tasks: Tasks) -> Tokens:
    """Return what keeps tokens."""
    return Tokens(TokenStore(home), tasks)


@pytest.fixture(scope="session")
def practice(asked_home: Home) -> Trainer:
    """Return the practice trainer, asked once."""
    return practice_trainer(asked_home)


@pytest.fixture
def show(qtbot: QtBot, theme: Theme) -> Callable[..., QWidget]:
    """Return a function that shows a widget at a size and waits until it is there."""

    def show_widget(widget: W, width: int = 1100, height: int = 700) -> W:
        qtbot.addWidget(widget)
        widget.resize(width, height)
        with qtbot.waitExposed(widget):
            widget.show()
        return widget

    return show_widget


@pytest.fixture
def drop() -> Callable[[QWidget, Sequence[Path]], None]:
    """Return a function that drops files on the middle of a widget, as the mouse would."""

    def drop_files(widget: QWidget, paths: Sequence[Path]) -> None:
        mime = QMimeData()
        mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        middle = widget.rect().center()
        held = (Qt.DropAction.CopyAction, mime, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(widget, QDragEnterEvent(QPoint(middle), *held))
        QApplication.sendEvent(widget, QDropEvent(QPointF(middle), *held))

    return drop_files
