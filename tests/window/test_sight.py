"""What tests take for seen is what somebody sees."""

from __future__ import annotations

import patient_qtbot
import pytest
import sight
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

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
    monkeypatch.setattr(patient_qtbot, "PATIENCE_MS", 20)
    shown.layout().addWidget(label("good day"))
    with pytest.raises(AssertionError, match="0 of other are seen; seen is: good day"):
        sight.find(shown, "other")
    with pytest.raises(AssertionError, match="waited for 'night' in it; seen is:\ngood day"):
        sight.until_says(qtbot, shown, "night", "it", ms=20)
