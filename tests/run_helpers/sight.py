"""What somebody sees in a part of the window: what is visible, and nothing that merely exists.

Two things deceive who asks for the first part of a name. A part that was thrown away lingers, hidden, until
Qt's loop turns. A part that was put into a visible layout is shown by a call that Qt posts to itself, so it
is not visible before the loop turns either. Every question here first lets Qt deliver what it has posted, and
then asks for what is visible only.
"""

from __future__ import annotations

from typing import Any, TypeVar

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractListModel,
    QCoreApplication,
    QEvent,
    QModelIndex,
    QPoint,
    Qt,
)
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


def click(qtbot: QtBot, root: QWidget, name: str, within: str = "") -> None:
    """Click on the one visible part of a name, maybe in the one of another name, as soon as it can be hit."""

    def target() -> QWidget:
        return find(find(root, within) if within else root, name)

    def can_be_hit() -> None:
        why = obstacle(target())
        assert not why, f"{why}; seen is: {says(root)}"

    qtbot.waitUntil(can_be_hit)
    qtbot.mouseClick(target(), Qt.MouseButton.LeftButton)


def click_item(
    qtbot: QtBot,
    view: QAbstractItemView,
    index: QModelIndex,
    held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
) -> None:
    """Click on a row, a cell or a tile, scrolled to if need be."""
    view.scrollTo(index)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, held, view.visualRect(index).center())


def obstacle(part: QWidget, at: QPoint | None = None) -> str:
    """Return what keeps a click off a part now, scrolled to if need be; "" where nothing does.

    Layouts settle over a few turns of Qt's loop, so what is covered now is to be looked at again.

    Args:
        part: To be clicked on.
        at: Where in it; None for its middle.
    """
    name = part.objectName() or type(part).__name__
    if not part.isVisible():
        return f"{name} is not seen"
    if not part.isEnabled():
        return f"{name} cannot be used"
    place = part.rect().center() if at is None else at
    _bring_into_sight(part, place)
    window = part.window()
    spot = part.mapTo(window, place)
    hit = window.childAt(spot) or window
    if hit is part or part.isAncestorOf(hit):
        return ""
    return f"{name} is covered by {hit.objectName() or hit}"


def _bring_into_sight(part: QWidget, place: QPoint) -> None:
    above = part.parentWidget()
    while above is not None:
        if isinstance(above, QScrollArea) and above.widget().isAncestorOf(part):
            spot = part.mapTo(above.widget(), place)
            above.ensureVisible(spot.x(), spot.y(), 40, 40)
        above = above.parentWidget()
    QCoreApplication.processEvents()


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
