"""Looks over everything that is visible for what is cut, overlaps, has no name, or cannot be reached."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QHeaderView,
    QLabel,
    QLayout,
    QLineEdit,
    QPlainTextEdit,
    QStackedWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gui.window.pages.review.diff_chip import DiffChip
from gui.window.widgets.labels import ElidedLabel
from gui.window.widgets.layouts import widgets_of
from gui.window.widgets.way_button import WayButton

CUT_ON_PURPOSE = (ElidedLabel, DiffChip, WayButton)
"""These show “…” and have the whole in their tooltip."""

INTERACTIVE = (QAbstractButton, QLineEdit, QComboBox, QAbstractSpinBox, QAbstractItemView, QPlainTextEdit)


def shown(root: QWidget) -> list[QWidget]:
    """Return everything in a part that is visible, scrolled into sight or not."""
    return [part for part in root.findChildren(QWidget) if part.isVisible()]


def name_of(part: QWidget) -> str:
    """Return what tells a part apart in a message."""
    text = getattr(part, "text", lambda: "")()
    above = part.parentWidget()
    while above is not None and not above.objectName():
        above = above.parentWidget()
    return f"{type(part).__name__} {part.objectName()} in {above.objectName() if above else '?'}: {text!r}"


def cut_texts(root: QWidget) -> list[str]:
    """Return labels and buttons whose text has no room."""
    return [name_of(part) for part in shown(root) if _is_cut(part)]


def _is_cut(part: QWidget) -> bool:
    if isinstance(part, CUT_ON_PURPOSE) or part.property("kind") == "step":
        return False
    if isinstance(part, QLabel) and part.text():
        if not part.wordWrap():
            return part.sizeHint().width() > part.width() + 1 or part.sizeHint().height() > part.height() + 1
        return part.heightForWidth(part.width()) > part.height() + 1 or _longest_word(part) > part.width() + 1
    if isinstance(part, QAbstractButton) and part.text():
        return part.sizeHint().width() > part.width() + 1 or part.sizeHint().height() > part.height() + 1
    return False


def _longest_word(label: QLabel) -> int:
    """Return how wide the longest word is that cannot be broken; paths may be broken at their strokes."""
    words = label.text().replace("/", " ").replace("-", " ").split()
    return max((label.fontMetrics().horizontalAdvance(word) for word in words), default=0)


def overlaps(root: QWidget) -> list[str]:
    """Return pairs of widgets of one layout that lie over each other."""
    found = []
    for parent in [root, *shown(root)]:
        layout = parent.layout()
        if layout is None or isinstance(parent, QStackedWidget):
            continue
        for one, other in combinations(list(_laid_out(layout)), 2):
            if one.geometry().intersects(other.geometry()):
                found.append(f"{name_of(one)} {one.geometry()} × {name_of(other)} {other.geometry()}")
    return found


def _laid_out(layout: QLayout) -> Iterator[QWidget]:
    for each in (layout, *layout.findChildren(QLayout)):
        for widget in widgets_of(each):
            if widget.isVisible() and not widget.size().isEmpty():
                yield widget


def interactive(root: QWidget) -> list[QWidget]:
    """Return what can be used now."""
    return [part for part in shown(root) if isinstance(part, INTERACTIVE) and _is_whole(part)]


def _is_whole(part: QWidget) -> bool:
    """Whether it is no inner part of another control."""
    parent = part.parentWidget()
    inner = isinstance(parent, QComboBox | QAbstractSpinBox | QLineEdit | QAbstractItemView)
    return not inner and not isinstance(part, QHeaderView) and part.isEnabled()


def nameless(root: QWidget) -> list[str]:
    """Return controls that a screen reader has no name for."""
    return [
        name_of(part)
        for part in interactive(root)
        if not part.accessibleName() and not (isinstance(part, QAbstractButton) and part.text())
    ]


def out_of_reach(root: QWidget, qtbot: QtBot) -> list[str]:
    """Return controls that Tab does not come to, going once around."""
    wanted = [part for part in interactive(root) if _is_by_tab(part)]
    reached: list[QWidget] = []
    if QApplication.focusWidget() is None:
        qtbot.keyClick(root, Qt.Key.Key_Tab)
    for _turn in range(600):
        now = QApplication.focusWidget()
        if now is None or now in reached:
            break
        reached.append(now)
        qtbot.keyClick(now, Qt.Key.Key_Tab)
    return [name_of(part) for part in wanted if not any(each in reached for each in _ways_to(part))]


def _ways_to(part: QWidget) -> list[QWidget | None]:
    """Return what Tab may come to instead: of several that exclude each other arrow keys go on."""
    if isinstance(part, QAbstractButton) and part.group() is not None and part.group().exclusive():
        return list(part.group().buttons())
    return [part, part.focusProxy()]


def _is_by_tab(part: QWidget) -> bool:
    return part.focusPolicy() != Qt.FocusPolicy.ClickFocus
