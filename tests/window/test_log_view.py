"""The log as a user meets it: filter, search, follow, copy, and files that change under the feet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gui.window.models.log_model import LogModel
from gui.window.theme.icons import Icons
from gui.window.theme.theme import Theme
from gui.window.widgets.labels import Label
from gui.window.widgets.log_area import LogArea
from gui.window.widgets.log_view import LogView

Show = Callable[..., QWidget]
MakeView = Callable[[bytes], LogView]


def some_log(lines: int) -> bytes:
    texts = [f"line {n} of the log" for n in range(1, lines + 1)]
    for n in range(9, lines, 50):
        texts[n] = f"2025-11-30 06:40:00 WARNING  odd thing {n}   train_util.py:3"
    for n in range(29, lines, 100):
        texts[n] = f"ValueError: broken {n}"
    return ("\n".join(texts) + "\n").encode()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "output.log"


@pytest.fixture
def view(qtbot: QtBot, icons: Icons, path: Path, show: Show) -> Iterator[LogView]:
    path.write_bytes(some_log(1000))
    model = LogModel(path)
    view = LogView(icons, model)
    show(view, 900, 500)
    qtbot.waitUntil(view.isActiveWindow)
    wait_rows(qtbot, view, 1000)
    view.model_of_test = model  # type: ignore[attr-defined]
    yield view
    model.close()


def model_of(view: LogView) -> LogModel:
    return view.model_of_test  # type: ignore[attr-defined,no-any-return]


def area(view: LogView) -> LogArea:
    found = view.findChild(LogArea, "log-lines")
    assert found is not None
    return found


def seen(view: LogView) -> list[str]:
    return [line.text for line in area(view).lines_in_sight()]


def wait_rows(qtbot: QtBot, view: LogView, rows: int) -> None:
    qtbot.waitUntil(lambda: area(view).verticalScrollBar().maximum() + 50 > rows and bool(seen(view)))


def button(view: LogView, name: str) -> QWidget:
    found = view.findChild(QWidget, name)
    assert found is not None
    return found


def click(qtbot: QtBot, view: LogView, name: str) -> None:
    qtbot.mouseClick(button(view, name), Qt.MouseButton.LeftButton)


def found_text(view: LogView) -> str:
    label = view.findChild(Label, "log-found")
    assert label is not None
    return label.text()


def append(path: Path, text: str) -> None:
    with path.open("ab") as file:
        file.write(text.encode())


def test_that_an_empty_log_says_what_will_be_here(qtbot: QtBot, icons: Icons, path: Path, show: Show) -> None:
    model = LogModel(path)
    view = LogView(icons, model)
    show(view, 800, 400)
    assert button(view, "log-empty").isVisible()
    append(path, "hello\n")
    qtbot.waitUntil(lambda: area(view).isVisible())
    assert seen(view) == ["hello"]
    model.close()


def test_that_it_follows_the_end_unless_scrolled_up(qtbot: QtBot, view: LogView, path: Path) -> None:
    assert seen(view)[-1] == "line 1000 of the log"
    append(path, "another\n")
    qtbot.waitUntil(lambda: seen(view)[-1] == "another")
    assert not button(view, "log-jump").isVisible()
    area(view).setFocus()
    qtbot.keyClick(area(view), Qt.Key.Key_Home)
    assert seen(view)[0] == "line 1 of the log"
    append(path, "one more\nand more\n")
    qtbot.waitUntil(lambda: "2 new" in button(view, "log-jump").text())  # type: ignore[attr-defined]
    assert seen(view)[0] == "line 1 of the log"
    click(qtbot, view, "log-jump")
    assert seen(view)[-1] == "and more"
    assert not button(view, "log-jump").isVisible()


def test_that_a_bar_is_one_line_in_its_last_state(qtbot: QtBot, view: LogView, path: Path) -> None:
    append(path, "steps:  1%| | 1/9 [00:01<00:08]\rsteps:  2%| | 2/9 [00:02<00:07]")
    qtbot.waitUntil(lambda: "2/9" in seen(view)[-1])
    append(path, "\rsteps:  3%| | 3/9 [00:03<00:06]")
    qtbot.waitUntil(lambda: "3/9" in seen(view)[-1])
    assert "2/9" not in seen(view)[-1]


def test_that_filters_show_warnings_and_errors_with_their_counts(qtbot: QtBot, view: LogView) -> None:
    assert "20" in button(view, "log-warnings").text()  # type: ignore[attr-defined]
    assert "10" in button(view, "log-errors").text()  # type: ignore[attr-defined]
    click(qtbot, view, "log-errors")
    assert len(seen(view)) == 10 and all("ValueError" in text for text in seen(view))
    click(qtbot, view, "log-warnings")
    qtbot.keyClick(area(view), Qt.Key.Key_Home)
    assert [line.number for line in area(view).lines_in_sight()][:3] == [10, 30, 60]
    assert [line.level for line in area(view).lines_in_sight()][:3] == [1, 2, 1]
    click(qtbot, view, "log-all")
    assert any("line" in text for text in seen(view))


def test_that_a_filter_without_lines_says_so(qtbot: QtBot, icons: Icons, path: Path, show: Show) -> None:
    path.write_bytes(b"fine\n")
    model = LogModel(path)
    view = LogView(icons, model)
    show(view, 800, 400)
    qtbot.waitUntil(lambda: seen(view) == ["fine"])
    click(qtbot, view, "log-errors")
    texts = [label.text() for label in button(view, "log-empty").findChildren(Label)]
    assert button(view, "log-empty").isVisible() and texts[0] == "No errors"
    model.close()


def test_that_search_goes_from_match_to_match_and_round(qtbot: QtBot, view: LogView) -> None:
    qtbot.keyClick(view, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(view.search.hasFocus)
    qtbot.keyClicks(view.search, "LINE 77")
    qtbot.waitUntil(lambda: found_text(view) == "1 of 11")
    assert "line 77 of the log" in seen(view)
    qtbot.keyClick(view.search, Qt.Key.Key_Return)
    assert found_text(view) == "2 of 11"
    qtbot.keyClick(view, Qt.Key.Key_F3)
    qtbot.waitUntil(lambda: found_text(view) == "3 of 11")
    qtbot.keyClick(view, Qt.Key.Key_F3, Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: found_text(view) == "2 of 11")
    for _turn in range(2):
        qtbot.keyClick(view.search, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert found_text(view) == "11 of 11"
    qtbot.keyClick(view.search, Qt.Key.Key_Return)
    assert found_text(view) == "1 of 11"
    view.search.selectAll()
    qtbot.keyClicks(view.search, "nowhere")
    qtbot.waitUntil(lambda: found_text(view) == "not found")
    assert not button(view, "log-next").isEnabled()
    qtbot.keyClick(view.search, Qt.Key.Key_Escape)
    assert found_text(view) == "" and area(view).hasFocus()


def test_that_matches_outside_the_filter_are_passed_over(qtbot: QtBot, view: LogView) -> None:
    click(qtbot, view, "log-errors")
    view.search.setFocus()
    qtbot.keyClicks(view.search, "9")
    qtbot.waitUntil(lambda: bool(found_text(view)) and area(view).current >= 0)
    number = area(view).current
    assert "broken" in seen(view)[number]


def test_that_chosen_lines_are_copied_by_mouse_and_keys(qtbot: QtBot, view: LogView) -> None:
    lines = area(view)
    lines.setFocus()
    qtbot.keyClick(lines, Qt.Key.Key_Home)
    qtbot.keyClick(lines, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(lines, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    clipboard = QGuiApplication.clipboard()
    qtbot.waitUntil(lambda: clipboard.text() == "line 1 of the log\nline 2 of the log")
    height = lines.viewport().height() // len(seen(view))
    qtbot.mousePress(lines.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(200, height // 2))
    qtbot.mouseMove(lines.viewport(), QPoint(200, height * 2 + height // 2))
    qtbot.mouseRelease(lines.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(200, height * 2))
    assert lines.selection is not None and lines.selection[0] == 0
    qtbot.keyClick(lines, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert lines.selection == (0, 999)
    qtbot.keyClick(lines, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: clipboard.text().count("\n") == 999)
    click(qtbot, view, "log-errors")
    click(qtbot, view, "log-copy-all")
    qtbot.waitUntil(lambda: clipboard.text().count("ValueError") == 10)


def test_that_long_lines_scroll_sideways(qtbot: QtBot, view: LogView, path: Path) -> None:
    append(path, "wide " * 300 + "\n")
    side = area(view).horizontalScrollBar()
    qtbot.waitUntil(lambda: side.maximum() > 1000)
    area(view).setFocus()
    qtbot.keyClick(area(view), Qt.Key.Key_Right)
    assert side.value() > 0
    qtbot.keyClick(area(view), Qt.Key.Key_Left)
    assert side.value() == 0


def test_that_tokens_never_show(qtbot: QtBot, view: LogView, path: Path) -> None:
    append(path, "login with hf_" + "q" * 20 + "\n")
    qtbot.waitUntil(lambda: "login" in seen(view)[-1])
    assert seen(view)[-1] == "login with •••"


def test_that_a_log_that_is_cut_replaced_or_gone_does_no_harm(
    qtbot: QtBot, view: LogView, path: Path
) -> None:
    path.write_bytes(b"short now\n")
    qtbot.waitUntil(lambda: seen(view) == ["short now"])
    path.unlink()
    note = button(view, "log-note")
    qtbot.waitUntil(note.isVisible)
    assert "not there any more" in note.text()  # type: ignore[attr-defined]
    path.write_bytes(b"new\nlog\n")
    qtbot.waitUntil(lambda: seen(view) == ["new", "log"])
    qtbot.waitUntil(lambda: not note.isVisible())


def test_that_a_line_can_be_shown_and_a_needle_set_from_outside(qtbot: QtBot, view: LogView) -> None:
    view.show_line(500)
    assert "line 500 of the log" in seen(view)
    view.set_needle("line 123 ")
    qtbot.waitUntil(lambda: "line 123 of the log" in seen(view))


def test_that_it_is_drawn_in_dark_and_large(qtbot: QtBot, view: LogView, theme: Theme) -> None:
    before = view.grab().toImage().pixelColor(2, 2)
    rows = len(seen(view))
    theme.set_appearance("dark")
    assert view.grab().toImage().pixelColor(450, 300) != before
    theme.set_text_percent(150)
    qtbot.waitUntil(lambda: len(seen(view)) < rows)
    assert seen(view)[-1] == "line 1000 of the log"


def test_that_the_current_line_is_told_to_screen_readers(qtbot: QtBot, view: LogView) -> None:
    area(view).setFocus()
    qtbot.keyClick(area(view), Qt.Key.Key_Home)
    assert area(view).accessibleDescription() == "Line 1: line 1 of the log"
    qtbot.keyClick(area(view), Qt.Key.Key_PageDown)
    assert area(view).current > 3
    qtbot.keyClick(area(view), Qt.Key.Key_End)
    assert area(view).following
