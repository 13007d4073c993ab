"""What somebody sees in a part of the window: what is visible, and nothing that merely exists.

Two things deceive who asks for the first part of a name. A part that was thrown away lingers, hidden, until
Qt's loop turns. A part that was put into a visible layout is shown by a call that Qt posts to itself, so it
is not visible before the loop turns either. Every question here first lets Qt deliver what it has posted, and
then asks for what is visible only.
"""

from __future__ import annotations

from typing import Any, TypeVar

from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QCoreApplication, QEvent, QModelIndex, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QWidget,
)
from pytestqt.qtbot import QtBot

PATIENCE_MS = 60_000
LISTS = ("runs-table", "run-timeline", "run-file-list")
"""Lists and tables whose rows are told among the words of a part."""

W = TypeVar("W", bound=QWidget)


def settle() -> None:
    """Let Qt deliver the calls that it has posted to itself, and those that are posted by them."""
    for _turn in range(3):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.MetaCall.value)


def visible(root: QWidget, name: str = "", kind: type[W] = QWidget) -> list[W]:  # type: ignore[assignment]
    """Return all visible parts, of a name if one is given."""
    settle()
    found = root.findChildren(kind, name) if name else root.findChildren(kind)
    return [part for part in found if part.isVisible()]


def sees(root: QWidget, name: str) -> bool:
    """Whether something of a name is visible."""
    return bool(visible(root, name))


def find(root: QWidget, name: str, kind: type[W] = QWidget) -> W:  # type: ignore[assignment]
    """Return the one visible part of a name."""
    found = visible(root, name, kind)
    assert len(found) == 1, f"{len(found)} of {name} are seen; seen is: {says(root)}"
    return found[0]


def says(root: QWidget, name: str = "") -> str:
    """Return all visible words of the parts of a name, or of the whole; "" where nothing is seen."""
    return "\n".join(words for part in (visible(root, name) if name else [root]) for words in texts_of(part))


def until_says(qtbot: QtBot, root: QWidget, text: str, name: str = "", ms: int = PATIENCE_MS) -> None:
    """Wait until a part says something; fail with what it says instead."""
    try:
        qtbot.waitUntil(lambda: text in says(root, name), timeout=ms)
    except qtbot.TimeoutError:
        raise AssertionError(f"waited for {text!r} in {name or 'all'}; seen is:\n{says(root)}") from None


def click(qtbot: QtBot, root: QWidget, name: str) -> None:
    """Click on the one visible part of a name, scrolled to if need be."""
    part = find(root, name)
    assert part.isEnabled(), f"{name} cannot be used"
    above = part.parentWidget()
    while above is not None:
        if isinstance(above, QScrollArea):
            above.ensureWidgetVisible(part)
        above = above.parentWidget()
    qtbot.mouseClick(part, Qt.MouseButton.LeftButton)


def texts_of(part: QWidget) -> list[str]:
    """Return the visible words of a part and of everything in it."""
    settle()
    return texts_at_once(part)


def texts_at_once(part: QWidget) -> list[str]:
    """Return the same before Qt has delivered anything: what is seen first of all."""
    found = [each for each in (part, *part.findChildren(QWidget)) if each.isVisible()]
    return [text for each in found for text in _own_texts(each) if text.strip()]


def _own_texts(part: QWidget) -> list[str]:
    if isinstance(part, QLabel | QLineEdit | QAbstractButton):
        return [part.text().replace("&&", "&")]
    if isinstance(part, QComboBox):
        return [part.currentText()]
    if isinstance(part, QPlainTextEdit):
        return [part.toPlainText()]
    if isinstance(part, QAbstractItemView) and part.objectName() in LISTS:
        return rows_of(part.model())
    return []


def rows_of(model: QAbstractItemModel) -> list[str]:
    """Return the rows of a model as a screen reader has them, all columns of each in one line."""
    told = []
    for row in range(model.rowCount()):
        cells = []
        for column in range(_columns(model)):
            index = model.index(row, column)
            words: Any = index.data(Qt.ItemDataRole.AccessibleTextRole) or index.data() or ""
            cells.append(str(words))
        told.append(" | ".join(dict.fromkeys(cells)))
    return told


def _columns(model: QAbstractItemModel) -> int:
    return 1 if isinstance(model, QAbstractListModel) else model.columnCount(QModelIndex())
