"""The parts that every page is made of."""

from __future__ import annotations

import threading

import pytest
import shiboken6
import sight
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QImage, QPainter, QWheelEvent
from PySide6.QtWidgets import QApplication, QLabel, QLayout, QLayoutItem, QVBoxLayout, QWidget, QWidgetItem
from run_helper import wait_until

from gui.engine.errors import CannotRead
from gui.window.bridges.lane import Lane
from gui.window.bridges.tasks import TaskHandle, UnexpectedFault
from gui.window.theme.theme import Theme
from gui.window.theme.tokens import load_tokens
from gui.window.widgets.ask import Ask
from gui.window.widgets.inputs import Choice, Number, PathField, TextField, number_text
from gui.window.widgets.layouts import FlowLayout, clear, widgets_of
from gui.window.widgets.page import Picture
from gui.window.widgets.row_delegate import RowDelegate
from gui.window.widgets.switch import Switch

PAIRS = [
    *((text, back) for text in ("text", "muted", "faint") for back in ("bg", "surface", "raised")),
    *((tone, f"{tone}_soft") for tone in ("good", "warn", "bad", "accent")),
    *((tone, "surface") for tone in ("good", "warn", "bad", "accent")),
    *(("text", f"{tone}_soft") for tone in ("good", "warn", "bad", "accent")),
    ("on_accent", "accent"),
]


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("appearance", ["light", "dark"])
@pytest.mark.parametrize(("text", "back"), PAIRS)
def test_that_every_text_reads_at_four_and_a_half_to_one(appearance, text, back):
    tokens = load_tokens(appearance)
    one, other = sorted((_luminance(getattr(tokens, text)), _luminance(getattr(tokens, back))))
    assert (other + 0.05) / (one + 0.05) >= 4.5


def test_that_the_theme_changes_colours_and_sizes_while_it_is_used(qapp: QApplication):
    theme = Theme(qapp, "light")
    told = []
    theme.changed.connect(lambda: told.append(theme.dark))
    theme.set_appearance("dark")
    theme.set_text_percent(150)
    assert told == [True, True]
    assert qapp.palette().window().color().name() == theme.tokens.bg == load_tokens("dark").bg
    assert theme.px(12) == 18
    theme.set_text_percent(100)


def items_known_to_python() -> list[QLayoutItem]:
    """Return the items of layouts that Python holds; one that Qt has thrown away poisons its address."""
    return [
        each
        for each in shiboken6.getAllValidWrappers()
        if isinstance(each, QLayoutItem) and not isinstance(each, QLayout)
    ]


@pytest.mark.parametrize("make", [QVBoxLayout, FlowLayout])
def test_that_the_widgets_of_a_layout_are_told_in_order_and_nothing_of_it_outlives_them(qtbot, make):
    before = items_known_to_python()
    holder = QWidget()
    qtbot.addWidget(holder)
    layout = make()
    holder.setLayout(layout)
    assert widgets_of(layout) == []
    parts = [QLabel(str(number)) for number in range(5)]
    for part in parts:
        layout.addWidget(part)
    assert widgets_of(layout) == parts
    layout.addWidget(parts[0])
    assert widgets_of(layout) == [*parts[1:], parts[0]], "what is moved is told where it is now"
    parts[1].setParent(None)
    parts[2].deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert widgets_of(layout) == [parts[3], parts[4], parts[0]]
    clear(layout)
    assert widgets_of(layout) == []
    assert [each for each in items_known_to_python() if each not in before] == []


@pytest.mark.parametrize("make", [FlowLayout, QVBoxLayout])
def test_that_nothing_stays_of_what_was_taken_out_of_a_layout(qtbot, make):
    holder = QWidget()
    qtbot.addWidget(holder)
    layout, inside = make(), QWidget(holder)
    item = QWidgetItem(inside)
    holder.setLayout(layout)
    layout.addItem(item)
    clear(layout)
    assert not shiboken6.isValid(item)
    assert layout.count() == 0


def test_that_what_lies_in_flowing_lines_goes_with_them(qtbot):
    holder, inside = QWidget(), QWidget()
    layout = FlowLayout(inside)
    holder.setLayout(layout)
    assert shiboken6.ownedByPython(
        layout._items[0]
    )  # else nobody would free it: Qt leaves that to the layout
    shiboken6.delete(inside)
    assert layout.count() == 0
    shiboken6.delete(holder)


def test_that_a_picture_takes_the_colours_of_the_theme(qtbot, theme, icons):
    old = Picture(icons, "data", "accent")
    qtbot.addWidget(old)
    before = old.pixmap().toImage()
    theme.set_appearance("dark")
    new = Picture(icons, "data", "accent")
    qtbot.addWidget(new)
    assert before != old.pixmap().toImage() == new.pixmap().toImage()


def test_that_a_layout_that_lies_nowhere_has_no_widgets():
    assert widgets_of(QVBoxLayout()) == []


def test_that_the_wheel_over_a_closed_choice_changes_nothing(qtbot, show):
    choice = show(Choice([(1, "one"), (2, "two")]), 200, 60)
    choice.show_value(1)
    wheel = QWheelEvent(
        QPointF(20, 10),
        choice.mapToGlobal(QPointF(20, 10)),
        QPoint(0, 0),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(choice, wheel)
    assert choice.value() == 1


def test_that_a_choice_tells_what_was_chosen_by_key(qtbot, show):
    choice = show(Choice([(1, "one"), (2, "two")]), 200, 60)
    choice.show_value(1)
    with qtbot.waitSignal(choice.changed) as told:
        qtbot.keyClick(choice, Qt.Key.Key_Down)
    assert told.args == [2]


def test_that_a_choice_shows_a_value_that_it_does_not_offer(show):
    choice = show(Choice([(1, "one")]), 200, 60)
    choice.show_value("seven")
    assert (choice.value(), choice.currentText()) == ("seven", "seven")


def test_that_a_typed_choice_is_told_once(qtbot, show):
    choice = show(Choice([("a", "a")], editable=True), 200, 60)
    told = []
    choice.changed.connect(told.append)
    choice.lineEdit().selectAll()
    qtbot.keyClicks(choice.lineEdit(), "mine")
    qtbot.keyClick(choice.lineEdit(), Qt.Key.Key_Return)
    choice.clearFocus()
    assert told == ["mine"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0001, "1e-4"),
        (8e-5, "8e-5"),
        (0.05, "0.05"),
        (1.0, "1"),
        (32, "32"),
        (None, ""),
        ("auto", "auto"),
        (1.5e-6, "1.5e-6"),
    ],
)
def test_that_numbers_are_shown_as_people_write_them(value, text):
    assert number_text(value) == text


def test_that_a_number_is_read_stepped_and_taken_back_by_keys(qtbot, show):
    number = show(Number(whole=False, step=None), 200, 60)
    told = []
    number.value_changed.connect(told.append)
    number.show_number(1e-4)
    number.setFocus()
    qtbot.keyClick(number, Qt.Key.Key_Up)
    assert told == [2e-4]
    number.selectAll()
    qtbot.keyClicks(number, "nonsense")
    qtbot.keyClick(number, Qt.Key.Key_Escape)
    assert number.text() == "2e-4"
    number.selectAll()
    qtbot.keyClicks(number, "3e-5")
    qtbot.keyClick(number, Qt.Key.Key_Return)
    assert told == [2e-4, 3e-5]


def test_that_a_field_told_of_trouble_says_it(show):
    field = show(TextField("x"), 200, 60)
    field.show_trouble("not a number")
    assert (field.property("trouble"), field.toolTip()) == ("true", "not a number")


def test_that_a_switch_tells_a_click(qtbot, show):
    switch = show(Switch("Sample first"), 200, 40)
    with qtbot.waitSignal(switch.changed) as told:
        qtbot.mouseClick(switch, Qt.MouseButton.LeftButton)
    assert told.args == [True]


def test_that_a_path_can_be_dropped(qtbot, show, drop, tmp_path):
    field = show(PathField("folder", name="place"), 400, 60)
    with qtbot.waitSignal(field.changed) as told:
        drop(field, [tmp_path])
    assert told.args == [str(tmp_path)]
    assert field.path() == str(tmp_path)


def test_that_a_double_click_answers_a_question_once(qtbot, show):
    ask = show(Ask("Stop now?", "What was trained is kept.", "Stop", "Go on"))
    told = []
    ask.yes.connect(lambda: told.append("yes"))
    for _click in range(2):
        ask.accept.click()  # the mouse waits for what is seen
    assert told == ["yes"]


def test_that_escape_says_no_to_a_question(qtbot, show):
    ask = show(Ask("Stop now?", "40 steps are lost.", "Stop", "Go on", tone="bad"), 400, 160)
    ask.ask()
    with qtbot.waitSignal(ask.no):
        qtbot.keyClick(ask, Qt.Key.Key_Escape)
    assert not ask.isVisible()


def test_that_work_runs_elsewhere_and_answers_here(qtbot, tasks):
    answers = []
    tasks.run(lambda _handle: threading.current_thread(), answers.append)
    qtbot.waitUntil(lambda: bool(answers))
    assert answers[0] is not threading.main_thread()


def test_that_only_the_newest_of_a_key_answers(qtbot, tasks):
    go = threading.Event()
    answers = []
    tasks.run(lambda _handle: go.wait(5), lambda _result: answers.append("old"), key="look")
    tasks.run(lambda _handle: None, lambda _result: answers.append("new"), key="look")
    qtbot.waitUntil(lambda: answers == ["new"])
    go.set()
    qtbot.waitUntil(lambda: tasks.busy == 0)
    assert answers == ["new"]


def test_that_nothing_is_answered_to_a_part_that_is_gone(qtbot, tasks):
    class Part(QLabel):
        def take(self, text: str) -> None:
            self.setText(text)

    go, part = threading.Event(), Part()

    def work(_handle: TaskHandle) -> str:
        return str(go.wait(5))

    tasks.run(work, part.take, lambda _error: part.clear())
    tasks.run(work, lambda text: part.setText(f"{text}!"))
    shiboken6.delete(part)
    go.set()
    qtbot.waitUntil(lambda: tasks.busy == 0)


def test_that_a_lane_that_was_closed_answers_nothing_not_even_what_was_on_its_way(qtbot):
    lane, answers = Lane("test"), []
    lane.answered.connect(answers.append)
    lane.ask(lambda: "seen")
    qtbot.waitUntil(lambda: bool(answers))
    lane.ask(lambda: "too late")
    wait_until(lambda: not lane.working)
    lane.close()
    sight.settle()
    assert [answer.value for answer in answers] == ["seen"]


def test_that_errors_come_back_as_what_they_are(qtbot, tasks):
    errors = []

    def unreadable(_handle):
        raise CannotRead("x.toml", "gone")

    tasks.run(unreadable, lambda _result: None, errors.append)
    tasks.run(lambda _handle: 1 / 0, lambda _result: None, errors.append)
    qtbot.waitUntil(lambda: len(errors) == 2)
    kinds = {type(error) for error in errors}
    assert kinds == {CannotRead, UnexpectedFault}


def test_that_progress_is_told_and_cancelled_work_answers_nothing(qtbot, tasks):
    told, answers = [], []

    def work(handle):
        handle.progress("reading", 1, 2)
        while not handle.cancelled:
            pass

    handle = tasks.run(work, answers.append, answers.append, progress=lambda *words: told.append(words))
    qtbot.waitUntil(lambda: told == [("reading", 1, 2)])
    handle.cancel()
    qtbot.waitUntil(lambda: tasks.busy == 0)
    assert answers == []


def test_that_a_name_with_a_line_end_stays_in_its_row(theme):
    def drawn(name: str) -> QImage:
        image = QImage(200, 40, QImage.Format.Format_RGB32)
        image.fill(Qt.GlobalColor.white)
        painter = QPainter(image)
        RowDelegate(theme).write(painter, QRect(0, 0, 200, 40), name, "strong", "text")
        painter.end()
        return image

    assert drawn("one\nother") == drawn("one other") != drawn("one")
