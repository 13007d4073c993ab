"""The frame around the pages."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QToolButton

from gui.window.main_window import MainWindow
from gui.window.widgets.opening import Opening


@pytest.fixture
def window(icons, show):
    made = []

    def page(name):
        def make():
            made.append(name)
            return QLabel(f"page {name}")

        return make

    window = MainWindow(icons)
    window.made_pages = made
    window.add_page("plan", "Plan", "plan", page("plan"), "Alt+1")
    window.add_page("runs", "Runs", "runs", page("runs"), "Alt+2")
    window.add_page("settings", "Settings", "settings", page("settings"))
    return show(window)


def _button(window, name):
    return window.findChild(QToolButton, f"side-{name}")


def test_that_a_page_is_made_when_it_is_first_shown_and_only_once(qtbot, window):
    for name in ("runs", "plan", "runs"):
        qtbot.mouseClick(_button(window, name), Qt.MouseButton.LeftButton)
    assert window.made_pages == ["runs", "plan"]
    assert window.current == "runs"
    assert window.pages.currentWidget().isVisible()
    assert _button(window, "runs").isChecked()
    assert not _button(window, "plan").isChecked()


def test_that_pages_have_keys_which_their_tooltips_tell(qtbot, window):
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    qtbot.keyClick(window, Qt.Key.Key_2, Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(lambda: window.current == "runs")
    assert "Alt+2" in _button(window, "runs").toolTip()


def test_that_settings_stand_at_the_end(window):
    assert _button(window, "settings").y() > _button(window, "runs").y() + 200


def test_that_files_dropped_anywhere_are_handed_on(qtbot, window, drop, tmp_path):
    with qtbot.waitSignal(window.files_dropped) as told:
        drop(window, [tmp_path / "plan.toml"])
    assert told.args == [[str(tmp_path / "plan.toml")]]


def test_that_the_window_stays_when_somebody_minds(window):
    closed = []
    window.closed.connect(lambda: closed.append(True))
    window.may_close = lambda: False
    window.close()
    assert window.isVisible()
    window.may_close = lambda: True
    window.close()
    assert closed == [True]
    assert not window.isVisible()


def test_that_size_and_place_are_kept_and_nonsense_is_not_believed(window):
    text = window.geometry_text()
    window.restore_geometry_text("õ nonsense")
    window.resize(1000, 650)
    window.restore_geometry_text(text)
    assert window.height() == 700  # its width is kept to what the screen of the tests has


def test_that_the_side_bar_follows_the_text_size(window, theme):
    before = window.findChild(QToolButton, "side-plan").parentWidget().width()
    theme.set_text_percent(150)
    assert window.findChild(QToolButton, "side-plan").parentWidget().width() == before * 1.5
    theme.set_text_percent(100)


def test_that_the_first_moments_say_what_is_being_done(icons, show):
    opening = show(Opening(icons))
    texts = [label.text() for label in opening.findChildren(QLabel) if label.text()]
    assert "Finding trainers and GPUs …" in texts
