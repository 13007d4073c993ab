"""All runs, by clicking and typing: found, opened, used again, thrown away, and never more than that."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sight
from PySide6.QtCore import QFile, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot
from written_runs import write_model, write_run

from gui.engine.paths import Home
from gui.engine.runs.lock import SupervisorLock
from gui.window.bridges.run_list import RunList
from gui.window.bridges.tasks import Tasks
from gui.window.models.run_table import RunColumn
from gui.window.pages.runs.run_view import RunView
from gui.window.pages.runs.runs_page import RunsPage
from gui.window.theme.icons import Icons
from gui.window.theme.theme import Theme


@pytest.fixture
def page(
    qtbot: QtBot, tasks: Tasks, theme: Theme, icons: Icons, home: Home, show: Callable[..., QWidget]
) -> Iterator[Callable[[], RunsPage]]:
    """Return what shows the page when the runs are known."""
    runs = RunList(home, milliseconds=50)

    def make() -> RunsPage:
        shown = show(RunsPage(runs=runs, tasks=tasks, theme=theme, icons=icons), 1280, 800)
        runs.start()
        qtbot.waitUntil(lambda: runs.known)
        return shown

    yield make
    runs.close()


def table(page: QWidget) -> RunView:
    return page.findChild(RunView, "runs-table")


def rows(page: QWidget) -> list[list[str]]:
    """Return what the table shows, a list of its words a row."""
    model = table(page).model()
    columns = [each for each in RunColumn if not table(page).isColumnHidden(each)]
    return [[model.index(row, each).data() for each in columns] for row in range(model.rowCount())]


def names(page: QWidget) -> list[str]:
    model = table(page).model()
    return [model.index(row, RunColumn.NAME).data() for row in range(model.rowCount())]


def click(page: QWidget, name: str, qtbot: QtBot) -> None:
    sight.click(qtbot, page, name)


def choose(page: QWidget, name: str, qtbot: QtBot) -> None:
    """Click on a run."""
    view = table(page)
    index = view.model().index(names(page).index(name), RunColumn.NAME)
    sight.click_item(qtbot, view, index)


def words(page: QWidget) -> str:
    return sight.says(page)


def some_runs(home: Home) -> None:
    write_run(home, "ink_style", sentence="Finished: ink_style.safetensors is complete.")
    write_run(
        home, "mira", verdict="stopped", reason="guard", age_days=3, status={"step": 507, "total": 1200}
    )
    write_run(home, "pimolo", family="sd15", practice=True, age_days=5)
    write_run(home, "asked", verdict="stopped", reason="user", age_days=6)


def test_that_runs_are_listed_with_all_that_matters(page, home, qtbot):
    some_runs(home)
    shown = page()
    assert names(shown) == ["ink_style", "mira", "pimolo", "asked"]
    first = rows(shown)[0]
    assert first[:4] == ["finished", "ink_style", "Stable Diffusion XL", "1,000 steps"]
    assert first[4:6] == ["0.112", "2 h 10 min"]
    assert first[6].startswith("yesterday ")
    assert rows(shown)[1][:1] == ["stopped by the guard"]
    assert rows(shown)[1][3] == "step 507 of 1,200"
    assert "4 runs" in words(shown)


def test_that_broken_foreign_and_newer_folders_are_shown_with_their_sentence(page, home, qtbot):
    write_run(home, "broken").status.write_text("{")
    write_run(home, "newer", age_days=2).status.write_text('{"schema": 99}')
    (home.runs / "holiday").mkdir()
    shown = page()
    assert [row[0] for row in rows(shown)] == ["cannot be read", "newer", "no run"]
    model = table(shown).model()
    tips = [model.index(row, 0).data(Qt.ItemDataRole.ToolTipRole) for row in range(3)]
    assert "newer version" in tips[1]
    assert "not a run" in tips[2]
    choose(shown, "holiday", qtbot)
    assert not shown.findChild(QPushButton, "runs-delete-button").isEnabled()
    assert not shown.findChild(QPushButton, "runs-open").isEnabled()


def test_that_a_run_of_the_command_line_shows_up_and_its_row_goes_on(page, home, qtbot):
    some_runs(home)
    shown = page()
    choose(shown, "mira", qtbot)
    run = write_run(
        home, "from the terminal", verdict=None, age_days=0, status={"state": "running", "step": 1}
    )
    lock = SupervisorLock(run.lock)
    lock.take()
    qtbot.waitUntil(lambda: rows(shown)[0][0] == "running")
    assert "1 is running" in words(shown)
    assert table(shown).current_entry().plan_name == "mira"
    run.status.write_text(run.status.read_text().replace('"step": 1,', '"step": 77,'))
    qtbot.waitUntil(lambda: rows(shown)[0][3] == "step 77 of 1,000")
    assert table(shown).current_entry().plan_name == "mira"
    lock.release()
    qtbot.waitUntil(lambda: rows(shown)[0][0] == "left alone")


def test_that_words_and_kinds_find_runs(page, home, qtbot):
    some_runs(home)
    shown = page()
    search = shown.findChild(QLineEdit, "runs-search")
    qtbot.keyClicks(search, "diffusion xl safetensors")
    assert names(shown) == ["ink_style"]
    search.clear()
    click(shown, "runs-kind-trouble", qtbot)
    assert names(shown) == ["mira"]
    click(shown, "runs-kind-practice", qtbot)
    assert names(shown) == ["pimolo"]
    qtbot.keyClicks(search, "nothing has this")
    assert "Nothing fits" in words(shown)
    click(shown, "runs-show-all", qtbot)
    assert len(names(shown)) == 4
    click(shown, "runs-kind-finished", qtbot)
    assert names(shown) == ["ink_style", "pimolo"]
    click(shown, "runs-kind-running", qtbot)
    assert "Nothing fits" in words(shown)


def test_that_the_table_sorts_by_a_click_on_its_head(page, home, qtbot):
    some_runs(home)
    shown = page()
    header = table(shown).horizontalHeader()
    place = header.sectionViewportPosition(RunColumn.NAME) + 20
    qtbot.mouseClick(
        header.viewport(), Qt.MouseButton.LeftButton, pos=header.rect().topLeft().__class__(place, 10)
    )
    assert names(shown) == sorted(names(shown))


def test_that_enter_opens_and_the_button_uses_again(page, home, qtbot, monkeypatch):
    some_runs(home)
    shown = page()
    choose(shown, "mira", qtbot)
    with qtbot.waitSignal(shown.open_run) as told:
        qtbot.keyClick(table(shown), Qt.Key.Key_Return)
    assert told.args[0].name.endswith("-mira")
    with qtbot.waitSignal(shown.reuse) as told:
        click(shown, "runs-reuse", qtbot)
    assert told.args[0].name.endswith("-mira")
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    click(shown, "runs-folder", qtbot)
    assert Path(opened[0].toLocalFile()).name.endswith("-mira")


def test_that_nothing_yet_says_what_will_be_here(page, home, qtbot):
    shown = page()
    assert "No runs yet" in words(shown)
    assert "command line" in words(shown)
    assert not shown.findChild(QLineEdit, "runs-search").isVisible()


def test_that_delete_asks_tells_what_goes_and_uses_the_trash(page, home, qtbot, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    outside = write_model(tmp_path / "out", "ink_style.safetensors")
    files = [{"path": str(outside), "kind": "model", "complete": True, "size": 4096}]
    run = write_run(home, "ink_style", status={"files": files})
    write_model(run.path / "kept", "ink_style-000002.safetensors")
    write_run(home, "mira", age_days=3)
    shown = page()
    choose(shown, "ink_style", qtbot)
    qtbot.keyClick(table(shown), Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: "Delete the run “ink_style”?" in words(shown))
    assert "ink_style-000002.safetensors" in words(shown)
    assert "1 file that it saved elsewhere stays." in words(shown)
    qtbot.keyClick(shown.findChild(QWidget, "runs-delete"), Qt.Key.Key_Escape)
    assert "Delete the run" not in words(shown)
    assert run.path.is_dir()
    qtbot.keyClick(table(shown), Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: "Delete the run" in words(shown))
    click(shown, "runs-delete-yes", qtbot)
    qtbot.waitUntil(lambda: names(shown) == ["mira"])
    assert not run.path.exists()
    assert outside.is_file()
    if sys.platform == "linux":
        assert list((tmp_path / "data" / "Trash").rglob("ink_style-000002.safetensors"))


def test_that_a_living_run_is_never_deleted(page, home, qtbot):
    run = write_run(home, "alive", verdict=None, status={"state": "running"})
    lock = SupervisorLock(run.lock)
    lock.take()
    shown = page()
    click(shown, "runs-delete-button", qtbot)
    qtbot.waitUntil(lambda: "is still running" in words(shown))
    assert "Delete the run" not in words(shown)
    assert run.path.is_dir()
    click(shown, "runs-said-close", qtbot)
    assert "is still running" not in words(shown)
    lock.release()


def test_that_a_run_that_came_to_life_meanwhile_is_not_deleted(page, home, qtbot):
    run = write_run(home, "sleeping", verdict=None, status={"state": "running"})
    shown = page()
    click(shown, "runs-delete-button", qtbot)
    qtbot.waitUntil(lambda: "Delete the run" in words(shown))
    lock = SupervisorLock(run.lock)
    lock.take()
    click(shown, "runs-delete-yes", qtbot)
    qtbot.waitUntil(lambda: "is still running" in words(shown))
    assert run.path.is_dir()
    lock.release()


def test_that_a_system_without_trash_loses_nothing_and_says_so(page, home, qtbot, monkeypatch):
    run = write_run(home, "ink_style")
    monkeypatch.setattr(QFile, "moveToTrash", lambda _path: (False, ""))
    shown = page()
    click(shown, "runs-delete-button", qtbot)
    qtbot.waitUntil(lambda: "Delete the run" in words(shown))
    click(shown, "runs-delete-yes", qtbot)
    qtbot.waitUntil(lambda: "trash did not take" in words(shown))
    assert run.path.is_dir()


def test_that_a_menu_offers_the_same(page, home, qtbot):
    from PySide6.QtGui import QContextMenuEvent
    from PySide6.QtWidgets import QApplication, QMenu

    some_runs(home)
    shown = page()
    view = table(shown)
    place = view.visualRect(view.model().index(0, 1)).center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, view.viewport().mapToGlobal(place))
    QApplication.sendEvent(view.viewport(), event)
    menu = shown.findChild(QMenu)
    assert [action.text() for action in menu.actions()] == [
        "Open",
        "Use again as plan",
        "What changed?",
        "Report…",
        "Open folder",
        "Delete…",
    ]
    menu.close()


def test_that_columns_make_room_for_the_name(page, home, qtbot):
    some_runs(home)
    shown = page()
    shown.resize(600, 700)
    qtbot.waitUntil(lambda: table(shown).isColumnHidden(RunColumn.FAMILY))
    assert not table(shown).isColumnHidden(RunColumn.NAME)
    assert table(shown).columnWidth(RunColumn.NAME) > 120


def test_that_a_thousand_runs_are_shown(page, home, qtbot):
    for number in range(1000):
        (home.runs / f"20260101-{number:06d}-other").mkdir(parents=True)
    write_run(home, "ink_style")
    shown = page()
    assert len(names(shown)) == 1001
    qtbot.keyClicks(shown.findChild(QLineEdit, "runs-search"), "ink")
    assert names(shown) == ["ink_style"]
