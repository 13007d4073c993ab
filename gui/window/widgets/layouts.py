"""Rows, columns, and lines that flow like words."""

from __future__ import annotations

from collections.abc import Sequence

import shiboken6
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLayout,
    QLayoutItem,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
    QWidgetItem,
)

from gui.window.theme.space import Space
from gui.window.widgets.styled import style

Part = QWidget | QLayout | int | None
"""A widget, a layout, a distance in pixels, or None for a stretch."""


def _filled(layout: QBoxLayout, parts: Sequence[Part], spacing: int, margins: Sequence[int]) -> None:
    layout.setContentsMargins(*(margins or (0, 0, 0, 0)))
    layout.setSpacing(spacing)
    for part in parts:
        if part is None:
            layout.addStretch(1)
        elif isinstance(part, QWidget):
            layout.addWidget(part)
        elif isinstance(part, QLayout):
            layout.addLayout(part)
        else:
            layout.addSpacing(part)


def row(*parts: Part, spacing: int = Space.M, margins: Sequence[int] = ()) -> QHBoxLayout:
    """Return parts beside each other, in the middle of their height."""
    layout = QHBoxLayout()
    _filled(layout, parts, spacing, margins)
    for part in parts:
        if isinstance(part, QWidget) and part.sizePolicy().verticalPolicy() != QSizePolicy.Policy.Expanding:
            layout.setAlignment(part, Qt.AlignmentFlag.AlignVCenter)
    return layout


def column(*parts: Part, spacing: int = Space.S, margins: Sequence[int] = ()) -> QVBoxLayout:
    """Return parts below each other."""
    layout = QVBoxLayout()
    _filled(layout, parts, spacing, margins)
    return layout


def held(layout: QLayout, name: str = "") -> QWidget:
    """Return a widget that holds a layout."""
    widget = QWidget()
    widget.setLayout(layout)
    if name:
        widget.setObjectName(name)
    return widget


def line() -> QFrame:
    """Return a thin line between things."""
    frame = QFrame()
    style(frame, role="line")
    return frame


def widgets_of(layout: QLayout) -> list[QWidget]:
    """Return the widgets that lie in a layout itself, in their order.

    Never ask ``layout.itemAt``: what Python gets outlives the item when Qt itself throws that away (a widget
    is moved, or goes with ``deleteLater``). What Qt puts at that address next, a style for instance, is then
    taken for a ``QWidgetItem``.
    """
    parent = layout.parentWidget()
    if parent is None:
        return []
    children = parent.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return sorted((each for each in children if layout.indexOf(each) >= 0), key=layout.indexOf)


def clear(layout: QLayout) -> None:
    """Take everything out of a layout, and let go of its widgets."""
    while layout.count():
        item = layout.takeAt(0)
        if item is None:
            break
        widget = item.widget()
        inner = item.layout()
        if widget is not None:
            shiboken6.delete(item)  # it would stay for good: nobody owns what was taken
            widget.hide()
            widget.setParent(None)
            widget.deleteLater()
        elif inner is not None:
            clear(inner)


class FlowLayout(QLayout):
    """Sets widgets beside each other and begins a new line where there is no room, as words do.

    Args:
        widgets: In their order.
        to_right: Whether lines end at the right edge.
    """

    def __init__(
        self,
        *widgets: QWidget,
        spacing: int = Space.S,
        to_right: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._to_right = to_right
        self._items: list[QLayoutItem] = []
        self._gap = spacing
        self.setContentsMargins(0, 0, 0, 0)
        for widget in widgets:
            self.addWidget(widget)

    def addWidget(self, widget: QWidget) -> None:  # noqa: N802 - Qt's name
        """Take one more; what stands for it in the layout is made here, and so goes with the layout."""
        self.addChildWidget(widget)
        self.addItem(QWidgetItem(widget))
        self.invalidate()

    def addItem(self, item: QLayoutItem) -> None:  # noqa: N802 - Qt's name
        """Take one more."""
        self._items.append(item)

    def count(self) -> int:
        """Return how many there are."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # noqa: N802 - Qt's name
        """Return one of them."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # noqa: N802 - Qt's name
        """Take one out."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:  # noqa: N802 - Qt's name
        """It wants no more room than it needs."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:  # noqa: N802 - Qt's name
        """Its height follows from its width."""
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802 - Qt's name
        """Return the height at a width."""
        return self._arrange(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, place: QRect) -> None:  # noqa: N802 - Qt's name
        """Arrange everything in a place."""
        super().setGeometry(place)
        self._arrange(place, move=True)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return a size that holds everything in one line."""
        hints = [item.sizeHint() for item in self._shown()]
        width = sum(hint.width() for hint in hints) + self._gap * max(0, len(hints) - 1)
        return QSize(width, max((hint.height() for hint in hints), default=0))

    def minimumSize(self) -> QSize:  # noqa: N802 - Qt's name
        """Return what the widest one needs."""
        size = QSize()
        for item in self._shown():
            size = size.expandedTo(item.minimumSize())
        return size

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _arrange(self, place: QRect, *, move: bool) -> int:
        x, y, height = place.x(), place.y(), 0
        line: list[tuple[QLayoutItem, QRect]] = []
        for item in self._shown():
            hint = item.sizeHint()
            width = min(hint.width(), place.width())
            if x > place.x() and x + width > place.right() + 1:
                self._set_line(line, place, move=move)
                x, y, height, line = place.x(), y + height + self._gap, 0, []
            tall = item.heightForWidth(width) if item.hasHeightForWidth() else hint.height()
            line.append((item, QRect(QPoint(x, y), QSize(width, tall))))
            x += width + self._gap
            height = max(height, tall)
        self._set_line(line, place, move=move)
        return y + height - place.y()

    def _set_line(self, line: list[tuple[QLayoutItem, QRect]], place: QRect, *, move: bool) -> None:
        if not move or not line:
            return
        way = max(0, place.right() - line[-1][1].right()) if self._to_right else 0
        height = max(where.height() for _item, where in line)
        for item, where in line:
            item.setGeometry(where.translated(way, (height - where.height()) // 2))
