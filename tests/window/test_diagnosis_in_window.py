"""A log that is dropped, chosen or pasted is diagnosed in the window; so is a run that failed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sight
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QPushButton, QWidget
from pytestqt.qtbot import QtBot
from written_runs import write_run

from gui.engine.paths import Home
from gui.engine.runs.start import read_status
from gui.window.bridges.run_list import RunList
from gui.window.bridges.tasks import Tasks
from gui.window.pages.run.run_diagnosis import RunDiagnosis
from gui.window.pages.runs.runs_page import RunsPage
from gui.window.theme.icons import Icons
from gui.window.theme.theme import Theme

CASES = Path(__file__).parents[1] / "data" / "cases"


@pytest.fixture
def page(
    qtbot: QtBot, tasks: Tasks, theme: Theme, icons: Icons, home: Home, show: Callable[..., QWidget]
) -> Iterator[RunsPage]:
    runs = RunList(home, milliseconds=50)
    write_run(home, "mira")
    shown = show(RunsPage(runs=runs, tasks=tasks, theme=theme, icons=icons), 1100, 700)
    runs.start()
    qtbot.waitUntil(lambda: runs.known)
    yield shown
    runs.close()


def words_of(widget: QWidget) -> str:
    return sight.says(widget)


def card(page: QWidget) -> QWidget:
    return page.findChild(QWidget, "log-diagnosis-card")


def pick(page: QWidget, number: int) -> None:
    page.findChild(QPushButton, "runs-diagnose").menu().actions()[number].trigger()


def click(qtbot: QtBot, page: QWidget, name: str) -> None:
    sight.click(qtbot, page, name)


def test_that_a_chosen_log_is_diagnosed_and_put_away_again(page, qtbot, monkeypatch):
    chosen = str(CASES / "OOM-02.txt")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_words: (chosen, ""))
    pick(page, 0)
    qtbot.waitUntil(lambda: card(page).isVisible())
    words = words_of(card(page))
    assert "OOM-02.txt" in words
    assert "The GPU's memory ran out." in words
    assert "CUDA out of memory. Tried to allocate 20.00 MiB" in words
    assert "• Train one image at a time." in words
    assert not sight.sees(page, "runs-table")
    click(qtbot, page, "log-diagnosis-card-copy")
    assert QGuiApplication.clipboard().text().startswith("The GPU's memory ran out.  [cuda-oom]")
    click(qtbot, page, "log-diagnosis-card-close")
    assert sight.sees(page, "runs-table") and not card(page).isVisible()


def test_that_pasted_words_are_diagnosed(page, qtbot):
    QGuiApplication.clipboard().setText("ValueError: optimizer got an empty parameter list")
    qtbot.waitUntil(page.isActiveWindow)
    qtbot.keyClick(page, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: card(page).isVisible())
    assert "There is nothing to train." in words_of(card(page))


def test_that_a_copied_file_is_read(page, qtbot):
    files = QMimeData()
    files.setUrls([QUrl.fromLocalFile(str(CASES / "DATA-01.txt"))])
    QGuiApplication.clipboard().setMimeData(files)
    pick(page, 1)
    qtbot.waitUntil(lambda: card(page).isVisible())
    assert "The trainer found no images." in words_of(card(page))


def test_that_healthy_and_empty_words_are_told(page, qtbot, tmp_path):
    QGuiApplication.clipboard().setText("steps:  10%|#| 1/10 [00:01<00:10,  1.00s/it, avr_loss=0.1]")
    pick(page, 1)
    qtbot.waitUntil(lambda: card(page).isVisible())
    assert "Nothing that is known to go wrong was found." in words_of(card(page))
    QGuiApplication.clipboard().clear()
    pick(page, 1)
    assert "The clipboard holds no words." in words_of(page)
    page.diagnose(tmp_path / "nowhere.log")
    qtbot.waitUntil(lambda: "nowhere.log" in words_of(page))


def test_that_an_unknown_failure_shows_its_last_lines(page, qtbot):
    QGuiApplication.clipboard().setText("Traceback (most recent call last):\nStrangeError: the moon is full")
    pick(page, 1)
    qtbot.waitUntil(lambda: card(page).isVisible())
    assert "StrangeError: the moon is full" in words_of(card(page))


def test_that_a_failed_run_brings_its_whole_diagnosis(qtbot, tasks, home, show):
    run = write_run(home, "mira", verdict="failed", reason="trainer-error", sentence="It failed.")
    run.output_log.write_bytes((CASES / "MODEL-08.txt").read_bytes())
    shown = show(RunDiagnosis(tasks, QGuiApplication.clipboard()), 900, 500)
    shown.begin(run)
    assert not shown.isVisible()
    shown.look(read_status(run))
    qtbot.waitUntil(shown.isVisible)
    words = words_of(shown)
    assert "A model file is incomplete or damaged." in words and "MetadataIncompleteBuffer" in words
    assert "Download the file again, and compare its size." in words


def test_that_a_finished_run_brings_none(tasks, home, show):
    run = write_run(home, "mira")
    shown = show(RunDiagnosis(tasks, QGuiApplication.clipboard()), 900, 500)
    shown.begin(run)
    shown.look(read_status(run))
    assert not shown.isVisible() and tasks.busy == 0
