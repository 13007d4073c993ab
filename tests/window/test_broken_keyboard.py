"""The keyboard alone, through all pages: what has it is seen, and has a name."""

from __future__ import annotations

import pytest
from person import Person, persons
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget

STEPS = ("what", "data", "careful", "memory", "training", "saving", "review", "arguments")
PLACES = [("start", ""), *(("plan", step) for step in STEPS), ("run", ""), ("runs", ""), ("settings", "")]
MOST_STOPS = 60


@pytest.fixture
def person(qtbot, qapp, home):
    with persons(qtbot, qapp) as sit:
        yield sit(home, size=(1024, 640))


def _come(person: Person, page: str, step: str) -> None:
    person.go(page)
    if step:
        person.window.page("plan").show_step(step)
        QApplication.processEvents()


def _name(part: QWidget) -> str:
    told = QAccessible.queryAccessibleInterface(part)
    return told.text(QAccessible.Text.Name) if told else ""


def test_that_tab_never_leads_out_of_sight_nor_to_something_without_a_name(person):
    for page, step in PLACES:
        _come(person, page, step)
        seen: dict[int, int] = {}
        for _each in range(MOST_STOPS):
            person.key(Qt.Key.Key_Tab)
            part = QApplication.focusWidget()
            assert part is not None, f"nothing has the keyboard in {page} {step}"
            where = f"{part.objectName() or type(part).__name__} in {page} {step}"
            person.until(lambda part=part: not part.visibleRegion().isEmpty(), f"{where} in sight", 2000)
            assert _name(part) or isinstance(part, QScrollArea), f"{where} has no name"
            seen[id(part)] = seen.get(id(part), 0) + 1
            if seen[id(part)] > 1:
                break


def test_that_who_comes_back_to_a_page_scrolled_down_sees_where_the_keyboard_is(person):
    _come(person, "plan", "training")
    first = person.find("field-unet_lr")
    area = first.parentWidget()
    while not isinstance(area, QScrollArea):
        area = area.parentWidget()
    area.verticalScrollBar().setValue(area.verticalScrollBar().maximum())
    person.until(lambda: first.visibleRegion().isEmpty(), "the field being scrolled away")
    first.setFocus(Qt.FocusReason.TabFocusReason)
    person.until(lambda: not first.visibleRegion().isEmpty(), "the field in sight")
