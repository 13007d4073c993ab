"""The history of runs, by clicking and typing: noted, filtered, compared, thrown away, told to others."""

from __future__ import annotations

import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sight
from PySide6.QtCore import QFile, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QListWidget,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)
from pytestqt.qtbot import QtBot
from written_runs import write_run

from gui.engine.documents import write_atomically
from gui.engine.paths import Home
from gui.engine.runs.events import FileSeen
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.lock import SupervisorLock
from gui.engine.runs.metrics import StepRow
from gui.engine.runs.records import CommandRecord
from gui.engine.runs.run_notes import RunNotes, change_notes, read_notes
from gui.window.bridges.run_list import RunList
from gui.window.bridges.tasks import Tasks
from gui.window.models.run_table import RunColumn
from gui.window.pages.runs.run_view import RunView
from gui.window.pages.runs.runs_page import RunsPage
from gui.window.theme.icons import Icons
from gui.window.theme.theme import Theme

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


class Desk:
    """The page, and somebody before it."""

    def __init__(self, page: RunsPage, qtbot: QtBot) -> None:
        self.page = page
        self._qtbot = qtbot

    @property
    def table(self) -> RunView:
        return self.page.findChild(RunView, "runs-table")

    def part(self, kind: type, name: str) -> QWidget:
        """Return the visible thing of a name, as soon as there is one."""
        self.until(lambda: any(each.isVisible() for each in self.page.findChildren(kind, name)))
        return next(each for each in self.page.findChildren(kind, name) if each.isVisible())

    def until(self, true: Callable[[], object]) -> None:
        self._qtbot.waitUntil(lambda: bool(true()), timeout=30_000)

    def click(self, name: str) -> None:
        part = self.part(QWidget, name)
        self.until(part.isEnabled)
        self._qtbot.mouseClick(part, Qt.MouseButton.LeftButton)

    def names(self) -> list[str]:
        model = self.table.model()
        return [model.index(row, RunColumn.NAME).data() for row in range(model.rowCount())]

    def choose(self, *names: str) -> None:
        """Click on runs, the first one alone, the others with Ctrl."""
        for number, name in enumerate(names):
            self.until(lambda name=name: name in self.names())
            index = self.table.model().index(self.names().index(name), RunColumn.NAME)
            held = CONTROL if number else Qt.KeyboardModifier.NoModifier
            sight.click_item(self._qtbot, self.table, index, held)

    def type(self, name: str, text: str) -> None:
        part = self.part(QWidget, name)
        part.setFocus()
        self._qtbot.keyClicks(part, text)

    def pick(self, name: str, words: str) -> None:
        """Choose one of the values that are offered."""
        choice = self.part(QComboBox, name)
        self.until(lambda: choice.findText(words) >= 0)
        choice.setFocus()
        while choice.currentText() != words:
            before = choice.currentIndex()
            down = choice.findText(words) > before
            self._qtbot.keyClick(choice, Qt.Key.Key_Down if down else Qt.Key.Key_Up)
            self.until(lambda before=before: choice.currentIndex() != before)

    def words(self) -> str:
        return " | ".join(each.text() for each in self.page.findChildren(QLabel) if each.isVisible())

    def reads(self, text: str) -> None:
        self.until(lambda: text in self.words())


@pytest.fixture
def desk(
    qtbot: QtBot, tasks: Tasks, theme: Theme, icons: Icons, home: Home, show: Callable[..., QWidget]
) -> Iterator[Callable[[], Desk]]:
    """Return what opens the page when the runs are known."""
    runs = RunList(home, milliseconds=50)
    pages: list[RunsPage] = []

    def make() -> Desk:
        page = show(RunsPage(runs=runs, tasks=tasks, theme=theme, icons=icons), 1280, 800)
        pages.append(page)
        runs.start()
        qtbot.waitUntil(lambda: runs.known)
        return Desk(page, qtbot)

    yield make
    for page in pages:
        page.close_page()
    runs.close()


# --- notes -----------------------------------------------------------------------------------------


def test_that_star_tags_and_note_are_kept_as_they_are_typed(desk, home):
    run = write_run(home, "ink_style")
    write_run(home, "mira", age_days=3)
    at = desk()
    at.choose("ink_style")
    at.click("runs-star")
    at.type("runs-tags", "good, v2")
    at.type("runs-note", "Better eyes")
    at.until(lambda: read_notes(run) == RunNotes(tags=("good", "v2"), note="Better eyes", favourite=True))
    index = at.table.model().index(at.names().index("ink_style"), 0)
    at.until(lambda: "#good #v2" in index.data(Qt.ItemDataRole.ToolTipRole))
    assert at.part(QPlainTextEdit, "runs-note").toPlainText() == "Better eyes"
    at.choose("mira")
    at.until(lambda: at.part(QPlainTextEdit, "runs-note").toPlainText() == "")
    assert at.part(QLineEdit, "runs-tags").text() == ""
    at.choose("ink_style")
    at.until(lambda: at.part(QLineEdit, "runs-tags").text() == "good, v2")
    at.until(lambda: at.part(QPushButton, "runs-star").isChecked())


def test_that_typing_goes_on_while_the_list_is_drawn_anew(desk, home):
    run = write_run(home, "ink_style")
    at = desk()
    at.choose("ink_style")
    at.type("runs-note", "one ")
    at.until(lambda: read_notes(run).note == "one ")
    write_run(home, "from the terminal", age_days=0)
    at.until(lambda: "from the terminal" in at.names())
    at.type("runs-note", "two")
    at.until(lambda: read_notes(run).note == "one two")


def test_that_what_was_typed_last_is_written_when_the_window_closes(desk, home):
    run = write_run(home, "ink_style")
    at = desk()
    at.choose("ink_style")
    at.type("runs-note", "the last words")
    at.page.close_page()
    assert read_notes(run).note == "the last words"


def test_that_notes_that_cannot_be_written_say_so(desk, home):
    run = write_run(home, "ink_style")
    run.notes.write_text('{"schema": 99}')
    at = desk()
    at.choose("ink_style")
    at.click("runs-star")
    at.reads("This was not written down")
    run.notes.unlink()
    at.click("runs-star")
    at.until(lambda: "This was not written down" not in at.words())


def test_that_tags_of_two_windows_are_both_kept(desk, home):
    run = write_run(home, "ink_style")
    change_notes(run, tags=["old"])
    at = desk()
    at.choose("ink_style")
    at.until(lambda: at.part(QLineEdit, "runs-tags").text() == "old")
    at._qtbot.keyClick(at.part(QLineEdit, "runs-tags"), Qt.Key.Key_End)
    at.type("runs-tags", ", m")
    at.until(lambda: read_notes(run).tags == ("old", "m"))
    change_notes(run, more=["theirs"])
    at.type("runs-tags", "ine")
    at.until(lambda: read_notes(run).tags == ("old", "mine", "theirs"))
    at.part(QPlainTextEdit, "runs-note").setFocus()
    at.until(lambda: at.part(QLineEdit, "runs-tags").text() == "old, mine, theirs")


def test_that_a_note_that_cannot_be_written_stays_and_is_written_later(desk, home):
    run = write_run(home, "ink_style")
    write_run(home, "mira", age_days=3)
    run.notes.write_text('{"schema": 99}')
    at = desk()
    at.choose("ink_style")
    at.type("runs-note", "long thoughts")
    at.reads("This was not written down")
    at.choose("mira")
    at.until(lambda: at.part(QPlainTextEdit, "runs-note").toPlainText() == "")
    at.choose("ink_style")
    at.until(lambda: at.part(QPlainTextEdit, "runs-note").toPlainText() == "long thoughts")
    at.reads("This was not written down")
    run.notes.unlink()
    at.click("runs-star")
    at.until(lambda: read_notes(run) == RunNotes(note="long thoughts", favourite=True))


# --- filters ---------------------------------------------------------------------------------------


def test_that_star_family_tag_and_day_narrow_the_list(desk, home):
    change_notes(write_run(home, "ink_style"), favourite=True, tags=["Style"])
    change_notes(write_run(home, "mira", family="sd15", age_days=3), tags=["portrait"])
    write_run(home, "old", age_days=60)
    at = desk()
    at.click("runs-favourites")
    at.until(lambda: at.names() == ["ink_style"])
    at.click("runs-favourites")
    at.pick("runs-family", "Stable Diffusion 1.5")
    at.until(lambda: at.names() == ["mira"])
    at.pick("runs-tag", "#Style")
    at.reads("Nothing fits")
    at.click("runs-show-all")
    at.until(lambda: len(at.names()) == 3)
    at.pick("runs-when", "Last 7 days")
    at.until(lambda: at.names() == ["ink_style", "mira"])
    at.pick("runs-when", "Today")
    at.reads("Nothing fits")


def test_that_a_search_finds_notes_and_arguments(desk, home):
    run = write_run(home, "ink_style")
    argv = ("python", "train.py", "--unet_lr", "0.0003")
    CommandRecord(argv=argv, cwd=home.root, python="python").write(run.command)
    change_notes(write_run(home, "mira", age_days=3), note="Better eyes")
    at = desk()
    at.type("runs-search", "unet_lr=0.0003")
    at.until(lambda: at.names() == ["ink_style"])
    at.part(QLineEdit, "runs-search").clear()
    at.type("runs-search", "eyes")
    at.until(lambda: at.names() == ["mira"])


# --- several ---------------------------------------------------------------------------------------


def test_that_several_runs_are_deleted_after_one_question(desk, home, monkeypatch):
    runs = [write_run(home, name, age_days=n + 1) for n, name in enumerate(("a", "b", "c", "alive"))]
    living = SupervisorLock(runs[3].lock)
    living.take()
    runs[3].status.write_text(runs[3].status.read_text().replace('"ended"', '"running"'))
    gone: list[str] = []
    monkeypatch.setattr(QFile, "moveToTrash", lambda path: (gone.append(path), True)[1])
    at = desk()
    at.choose("a", "c", "alive")
    assert not at.part(QPushButton, "runs-open").isEnabled()
    at.click("runs-delete-button")
    at.reads("Delete 2 runs?")
    at.reads("still running and stays")
    at.click("runs-delete-yes")
    at.until(lambda: gone == [str(runs[0].path), str(runs[2].path)])
    living.release()


def test_that_one_that_cannot_be_deleted_does_not_keep_the_others(desk, home, monkeypatch):
    runs = [write_run(home, name, age_days=n + 1) for n, name in enumerate(("a", "b"))]
    asked: list[str] = []
    monkeypatch.setattr(QFile, "moveToTrash", lambda path: (asked.append(path), len(asked) > 1)[1])
    at = desk()
    at.choose("a", "b")
    at.click("runs-delete-button")
    at.click("runs-delete-yes")
    at.reads("trash did not take")
    assert asked == [str(run.path) for run in runs]


def test_that_what_is_selected_stays_so_while_runs_come(desk, home):
    for number, name in enumerate(("a", "b", "c")):
        write_run(home, name, age_days=number + 1)
    at = desk()
    at.choose("a", "c")
    write_run(home, "new", age_days=0)
    at.until(lambda: "new" in at.names())
    at.until(lambda: [each.plan_name for each in at.table.chosen_entries()] == ["a", "c"])


# --- comparison ------------------------------------------------------------------------------------


def a_trained_run(home: Home, name: str, rate: str, *, losses: int = 30, **more: object) -> RunFolder:
    run = write_run(home, name, **more)  # type: ignore[arg-type]
    argv = ("python", "t.py", *f"--output_dir /out --output_name mira --unet_lr {rate} --seed 1".split())
    run.plan.write_text(f'schema = 1\nname = "{name}"\nfamily = "sdxl"\n[arguments]\nunet_lr = {rate}\n')
    CommandRecord(argv=argv, cwd=home.root, python="python", output_name="mira").write(run.command)
    rows = (StepRow(step=n, loss=1 / n) for n in range(1, losses + 1))
    run.metrics.write_text("".join(row.model_dump_json() + "\n" for row in rows))
    picture = home.root / f"mira_000010_00_2026010100000{len(name) % 10}_7.png"
    write_atomically(picture, (Path(__file__).parents[2] / "packaging/pictures/run.png").read_bytes())
    seen = FileSeen(path=str(picture), kind="sample", complete=True, size=1, step=10)
    run.events.write_text(seen.model_dump_json() + "\n")
    return run


def test_that_two_runs_are_put_side_by_side(desk, home, tmp_path, monkeypatch):
    a_trained_run(home, "first", "1e-4", age_days=3)
    a_trained_run(home, "second", "2e-4", losses=20)
    at = desk()
    at.choose("second", "first")
    at.click("runs-compare")
    arguments = at.part(QWidget, "compare-arguments")
    assert arguments.y() < at.part(QWidget, "compare-results").y(), "what differs comes first"
    assert at.part(QLabel, "compare-arguments-value-unet_lr-0").text() == "1e-4"
    assert at.part(QLabel, "compare-arguments-value-unet_lr-1").text() == "2e-4"
    assert not arguments.findChildren(QLabel, "compare-arguments-value-seed-0")
    at.click("compare-arguments-more")
    assert at.part(QLabel, "compare-arguments-value-seed-0").text() == "1 (set by the program)"
    at.reads("first")
    readout = at.part(QLabel, "overlay-readout")
    at.until(lambda: "A 0." in readout.text() and "B 0." in readout.text())
    at.click("overlay-by-images")
    at.click("overlay-show-1")
    at.until(lambda: "B" not in readout.text())
    sample = at.part(QLabel, "compare-sample-0-10")
    at.until(lambda: not sample.pixmap().isNull())
    at.click("compare-copy")
    assert "unet_lr" in QGuiApplication.clipboard().text()
    table = tmp_path / "t.csv"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_words: (str(table), ""))
    at.click("compare-csv")
    at.until(table.is_file)
    assert "arguments,unet_lr,1e-4,2e-4" in table.read_text("utf-8")
    at._qtbot.keyClick(at.part(QWidget, "compare-view"), Qt.Key.Key_Escape)
    at.until(at.table.isVisible)


def test_that_the_overlaid_losses_are_exported_and_read_by_keys(desk, home, tmp_path, monkeypatch):
    a_trained_run(home, "first", "1e-4", age_days=3)
    a_trained_run(home, "second", "2e-4")
    at = desk()
    at.choose("second", "first")
    at.click("runs-compare")
    plot = at.part(QWidget, "overlay-plot")
    readout = at.part(QLabel, "overlay-readout")
    at._qtbot.keyClick(plot, Qt.Key.Key_Left)
    at.until(lambda: "step 30" in readout.text())
    at._qtbot.keyClick(plot, Qt.Key.Key_Left, SHIFT)
    at.until(lambda: "step 27" in readout.text())
    at._qtbot.keyClick(plot, Qt.Key.Key_Escape)
    at.until(lambda: "step" not in readout.text())
    actions = [action for action in at.page.findChild(QMenu, "overlay-menu").actions() if action.text()]
    actions[0].trigger()
    for action, name in ((actions[1], "losses.png"), (actions[2], "losses.csv")):
        monkeypatch.setattr(
            QFileDialog, "getSaveFileName", lambda *_words, name=name: (str(tmp_path / name), "")
        )
        action.trigger()
        at.until((tmp_path / name).is_file)
    assert (tmp_path / "losses.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "losses.csv").read_text().splitlines()[1].startswith("1,1,1.0,")


def test_that_one_run_is_compared_with_the_last_good_one(desk, home):
    a_trained_run(home, "good", "1e-4", age_days=3)
    a_trained_run(home, "now", "1e-2", verdict="failed")
    at = desk()
    at.choose("now")
    assert at.part(QPushButton, "runs-compare").text() == "What changed?"
    at.click("runs-compare")
    assert at.part(QLabel, "compare-arguments-value-unet_lr-0").text() == "1e-4"
    at.click("compare-back")
    at.choose("good")
    at.click("runs-compare")
    at.reads("No finished run before it")


# --- report ----------------------------------------------------------------------------------------


def test_that_a_report_is_looked_through_before_it_is_saved(desk, home, tmp_path, monkeypatch):
    run = a_trained_run(home, "mira", "1e-2", verdict="failed", sentence="Failed: see /home/zqwann/x.")
    run.output_log.write_text("/home/zqwann/models\ntorch.cuda.OutOfMemoryError: CUDA out of memory.\n")
    at = desk()
    at.choose("mira")
    at.click("runs-report")
    parts = at.part(QListWidget, "report-parts")
    text = at.part(QPlainTextEdit, "report-text")
    at.until(lambda: "Failed: see /home/<user>/x." in text.toPlainText())
    shown = [parts.item(row).text().split()[0] for row in range(parts.count())]
    parts.setFocus()
    while not parts.currentItem().text().startswith("log.txt"):
        at._qtbot.keyClick(parts, Qt.Key.Key_Down)
    at.until(lambda: "/home/<user>/models" in text.toPlainText())
    at._qtbot.keyClick(parts, Qt.Key.Key_Space)
    while not parts.currentItem().text().startswith("metrics.png"):
        at._qtbot.keyClick(parts, Qt.Key.Key_Down)
    at.until(lambda: not at.part(QLabel, "report-picture").pixmap().isNull())
    at.click("report-copy")
    assert "[cuda-oom]" in QGuiApplication.clipboard().text()
    saved = tmp_path / "r.zip"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_words: (str(saved), ""))
    at.click("report-save")
    at.reads("Saved as")
    with zipfile.ZipFile(saved) as archive:
        assert archive.namelist() == [name for name in shown if name != "log.txt"]
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_words: (str(saved / "no.zip"), ""))
    at.click("report-save")
    at.until(lambda: "Saved as" not in at.part(QLabel, "report-told").text())
    at._qtbot.keyClick(at.part(QWidget, "report-panel"), Qt.Key.Key_Escape)
    at.until(at.table.isVisible)


def test_that_a_report_is_saved_although_one_goes_back_at_once(desk, home, tasks, tmp_path, monkeypatch):
    write_run(home, "ink_style")
    path, free = tmp_path / "told.zip", threading.Event()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_words: (str(path), ""))
    at = desk()
    at.choose("ink_style")
    at.click("runs-report")
    at.part(QListWidget, "report-parts")
    for _thread in range(8):  # the pool has other things to do
        tasks.run(lambda _handle: free.wait(30), lambda _done: None)
    at.click("report-save")
    at._qtbot.keyClick(at.part(QWidget, "report-panel"), Qt.Key.Key_Escape)
    free.set()
    at.until(path.exists)
