"""What tests take for seen is what somebody sees."""

from __future__ import annotations

import pytest
import sight
from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from gui.window.widgets.layouts import clear


@pytest.fixture
def shown(show):
    holder = QWidget()
    QVBoxLayout(holder)
    return show(holder, 200, 100)


def label(text: str) -> QLabel:
    made = QLabel(text)
    made.setObjectName("it")
    return made


def test_that_what_was_just_put_in_is_seen_and_what_was_thrown_away_is_not(shown):
    shown.layout().addWidget(label("before"))
    assert sight.says(shown, "it") == "before"
    clear(shown.layout())
    assert not sight.sees(shown, "it")
    shown.layout().addWidget(label("after"))
    assert sight.says(shown, "it") == sight.says(shown) == "after"
    assert sight.find(shown, "it", QLabel).text() == "after"


def test_that_what_a_signal_on_its_way_will_put_in_is_seen(shown):
    class News(QObject):
        came = Signal()

    news = News()
    news.came.connect(lambda: shown.layout().addWidget(label("news")), Qt.ConnectionType.QueuedConnection)
    news.came.emit()
    assert sight.says(shown, "it") == "news"


def test_that_what_is_not_seen_is_told_with_what_is(shown, qtbot, monkeypatch):
    monkeypatch.setattr(sight, "PATIENCE_MS", 20)
    shown.layout().addWidget(label("good day"))
    with pytest.raises(AssertionError, match="0 of other are seen; seen is: good day"):
        sight.find(shown, "other")
    with pytest.raises(AssertionError, match="waited for 'night' in it; seen is:\ngood day"):
        sight.until_says(qtbot, shown, "night", "it", ms=20)


def test_that_a_click_waits_until_it_hits_its_part(shown, qtbot, monkeypatch):
    button, cover = QPushButton("go", shown), QWidget(shown)
    button.setObjectName("go")
    button.setEnabled(False)
    hits = []
    button.clicked.connect(lambda: hits.append(cover.isVisible()))
    for part in (button, cover):
        part.setGeometry(0, 0, 80, 30)
        part.show()
    QTimer.singleShot(20, lambda: button.setEnabled(True))
    QTimer.singleShot(40, cover.hide)
    sight.click(qtbot, shown, "go")
    assert hits == [False]
    cover.show()
    monkeypatch.setattr(sight, "PATIENCE_MS", 20)
    with pytest.raises(qtbot.TimeoutError) as failed:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert "go is covered by" in str(failed.value.__cause__)
