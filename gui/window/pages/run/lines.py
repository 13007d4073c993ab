"""Draws lines of a list: time, mark, words over as many lines as they need, a chip at the end."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QResizeEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from gui.window.models.run_lists import Line, LineModel, LineRole, mark_of
from gui.window.theme.space import SMALL_RADIUS, Space
from gui.window.theme.theme import FontRole, Theme

Index = QModelIndex | QPersistentModelIndex

_PLAIN = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
_MIDDLE = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)

_MOST_HEIGHTS = 10_000
"""So many are remembered: a list asks for all of them whenever a line is added."""


class LineDelegate(QStyledItemDelegate):
    """Draws one line.

    Args:
        theme: Gives colours and fonts.
        timed: Whether lines have a time and a mark in front.
    """

    def __init__(self, theme: Theme, *, timed: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._timed = timed
        self._heights: dict[tuple[str, bool, bool, bool, int, int], int] = {}
        self._measures: dict[FontRole, QFontMetrics] = {}
        theme.changed.connect(self._forget)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802 - Qt's name
        """Return how high a line is at the width of its view."""
        line = self._line(index)
        view = cast(QAbstractItemView, option.widget)
        width = view.viewport().width() if view is not None else 300
        key = (line.text, line.strong, bool(line.small), bool(line.chip), len(line.time), width)
        if key not in self._heights:
            if len(self._heights) > _MOST_HEIGHTS:
                self._heights.clear()
            self._heights[key] = self._height(line, width)
        return QSize(width, self._heights[key])

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw a line."""
        line = self._line(index)
        place: QRect = option.rect
        state = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if state & QStyle.StateFlag.State_Selected and state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("accent_soft"))
            painter.drawRoundedRect(place, SMALL_RADIUS, SMALL_RADIUS)
        inner = place.adjusted(Space.XS, Space.XS, -Space.XS, -Space.XS)
        left = self._draw_front(painter, line, inner)
        words = QRect(QPoint(left, inner.top()), QPoint(inner.right(), inner.bottom()))
        self._draw_words(painter, line, words)
        self._draw_chip(painter, line, inner)
        painter.restore()

    @staticmethod
    def _line(index: Index) -> Line:
        return cast(Line, index.data(LineRole.LINE))

    def _metrics(self, role: FontRole) -> QFontMetrics:
        if role not in self._measures:
            self._measures[role] = QFontMetrics(self._theme.font(role))
        return self._measures[role]

    def _forget(self) -> None:
        self._heights.clear()
        self._measures.clear()

    def _front(self, line: Line) -> int:
        """Return the width of time and mark."""
        if not self._timed:
            return 0
        time = self._metrics("mono").horizontalAdvance("00:00" if len(line.time) < 6 else line.time)
        return time + Space.M + self._metrics("strong").horizontalAdvance("×") + Space.S

    def _chip_width(self, line: Line) -> int:
        if not line.chip:
            return 0
        words = self._chip_words(line)
        return self._metrics("small").horizontalAdvance(words) + 2 * self._theme.px(8) + Space.S

    @staticmethod
    def _chip_words(line: Line) -> str:
        return f"{mark_of(line.tone)} {line.chip}" if line.tone != "plain" else line.chip

    def _laid_out(self, line: Line, width: int) -> QTextLayout:
        """Return the words in lines of a width, broken between words, and within one where it must be."""
        font = self._theme.font("strong" if line.strong else "body")
        font.setStrikeOut(line.struck)
        layout = QTextLayout(line.text, font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.beginLayout()
        height = 0.0
        while (each := layout.createLine()).isValid():
            each.setLineWidth(max(20, width))
            each.setPosition(QPointF(0, height))
            height += each.height()
        layout.endLayout()
        return layout

    def _text_height(self, line: Line, width: int) -> int:
        if not self._timed:
            return self._metrics("body").height()
        return round(self._laid_out(line, width).boundingRect().height() + 0.5)

    def _height(self, line: Line, width: int) -> int:
        room = width - 2 * Space.XS - self._front(line)
        small = self._metrics("small").height() if line.small else 0
        below = max(small, self._chip_height() if line.chip else 0)
        return self._text_height(line, room) + below + 2 * Space.XS + 2

    def _draw_front(self, painter: QPainter, line: Line, place: QRect) -> int:
        if not self._timed:
            return place.left()
        body, mono = self._metrics("body"), self._metrics("mono")
        painter.setFont(self._theme.font("mono"))
        painter.setPen(self._theme.color("muted"))
        painter.drawText(place.left(), place.top() + body.ascent(), line.time)
        at = place.left() + mono.horizontalAdvance("00:00" if len(line.time) < 6 else line.time) + Space.M
        painter.setFont(self._theme.font("strong"))
        painter.setPen(self._theme.color("muted" if line.tone == "plain" else line.tone))
        painter.drawText(at, place.top() + body.ascent(), mark_of(line.tone))
        return place.left() + self._front(line)

    def _chip_height(self) -> int:
        return self._metrics("small").height() + self._theme.px(4)

    def _draw_chip(self, painter: QPainter, line: Line, place: QRect) -> None:
        """Draw the chip at the right end of the second line."""
        if not line.chip:
            return
        theme, height = self._theme, self._chip_height()
        width = self._chip_width(line) - Space.S
        chip = QRect(place.right() - width, place.bottom() - height, width, height)
        plain = line.tone == "plain"
        painter.setPen(theme.color("line" if plain else f"{line.tone}_soft"))
        painter.setBrush(theme.color("bg" if plain else f"{line.tone}_soft"))
        painter.drawRoundedRect(chip, height / 2, height / 2)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("muted" if plain else line.tone))
        painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, self._chip_words(line))

    def _draw_words(self, painter: QPainter, line: Line, place: QRect) -> None:
        theme = self._theme
        font = theme.font("strong" if line.strong else "body")
        font.setStrikeOut(line.struck)
        painter.setFont(font)
        painter.setPen(theme.color("text" if line.strong or not self._timed else "muted"))
        if line.struck:
            painter.setPen(theme.color("muted"))
        height = self._text_height(line, place.width())
        text = QRect(place.left(), place.top(), place.width(), height)
        if self._timed:
            self._laid_out(line, place.width()).draw(painter, QPointF(place.topLeft()))
        else:
            cut = painter.fontMetrics().elidedText(line.text, Qt.TextElideMode.ElideMiddle, text.width())
            painter.drawText(text, _PLAIN, cut)
        if line.small:
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("muted"))
            room = place.width() - self._chip_width(line)
            below = QRect(place.left(), text.bottom() + 1, room, place.bottom() - text.bottom())
            words = self._metrics("small").elidedText(line.small, Qt.TextElideMode.ElideRight, below.width())
            painter.drawText(below, _MIDDLE if line.chip else _PLAIN, words)


class LineList(QListView):
    """A list of lines that wraps them at its width.

    Args:
        theme: Gives colours and fonts.
        model: The lines.
        words: The accessible name.
        timed: Whether lines have a time and a mark in front.
    """

    chosen = Signal(object)
    """`Line`, by a double click or Enter."""

    picked = Signal(object)
    """`Line`, by a click."""

    def __init__(self, theme: Theme, model: LineModel, words: str, *, timed: bool, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName(words)
        self._lines = model
        self.setModel(model)
        self.setItemDelegate(LineDelegate(theme, timed=timed, parent=self))
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setLayoutMode(QListView.LayoutMode.Batched)
        self.setTabKeyNavigation(False)
        self.clicked.connect(lambda index: self.picked.emit(model.line(index.row())))
        self.doubleClicked.connect(lambda index: self.chosen.emit(model.line(index.row())))
        theme.changed.connect(self._lay_out)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """It takes what is left."""
        return self.minimumSize()

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Nothing but the minimum that was set."""
        return self.minimumSize()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Enter chooses."""
        index = self.currentIndex()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and index.isValid():
            self.chosen.emit(self._lines.line(index.row()))
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Wrap anew where the width is another one."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._lay_out()

    def _lay_out(self) -> None:
        self.scheduleDelayedItemsLayout()
