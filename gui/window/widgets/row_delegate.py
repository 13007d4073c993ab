"""Rows of lists: a chip, a name with a sentence below it, and facts, drawn quickly however many there are."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gui.window.models.run_words import ChipWords
from gui.window.theme.space import Space
from gui.window.theme.theme import FontRole, Theme
from gui.window.widgets.chip import MARKS, Tone

ROW_PX = 58
CHIP_PX = 22
CHIP_INSIDE_PX = 9

_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


class RowDelegate(QStyledItemDelegate):
    """Draws the background of cells and the line below them; what they say, sub-classes draw.

    Args:
        theme: Colours, fonts and sizes.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme

    def sizeHint(  # noqa: N802 - Qt's name
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """Return the height of a row; widths are the header's."""
        del option, index
        return QSize(0, self._theme.px(ROW_PX))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw one cell."""
        rect: QRect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._draw_back(painter, option, index.column())
        inner = rect.adjusted(self._theme.px(Space.S), 0, -self._theme.px(Space.S), 0)
        self.draw_cell(painter, inner, index)
        painter.setPen(self._theme.color("line"))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.restore()

    def draw_cell(self, painter: QPainter, place: QRect, index: QModelIndex | QPersistentModelIndex) -> None:
        """Draw what a cell says, within a place."""
        raise NotImplementedError

    def _draw_back(self, painter: QPainter, option: QStyleOptionViewItem, column: int) -> None:
        state: QStyle.StateFlag = option.state
        rect: QRect = option.rect
        view: QWidget = option.widget
        if not state & QStyle.StateFlag.State_Selected:
            return
        painter.fillRect(rect, self._theme.color("accent_soft"))
        if column == 0 and view is not None and view.hasFocus():
            edge = QRect(rect.left(), rect.top(), 3, rect.height())
            painter.fillRect(edge, self._theme.color("accent"))

    def draw_chip(self, painter: QPainter, place: QRect, words: ChipWords) -> None:
        """Draw a chip."""
        tone: Tone = words.tone  # type: ignore[assignment]
        mark = MARKS[tone] if words.mark is None else words.mark
        text = f"{mark} {words.text}" if mark else words.text
        font = self._theme.font("small")
        font.setBold(True)
        metrics = QFontMetrics(font)
        inside = self._theme.px(CHIP_INSIDE_PX)
        width = min(place.width(), metrics.horizontalAdvance(text) + 2 * inside)
        height = self._theme.px(CHIP_PX)
        chip = QRectF(place.left(), place.center().y() - height / 2, width, height)
        plain = tone == "neutral"
        painter.setPen(self._theme.color("line") if plain else Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("bg" if plain else f"{tone}_soft"))
        painter.drawRoundedRect(chip, height / 2, height / 2)
        painter.setFont(font)
        painter.setPen(self._theme.color("muted" if plain else tone))
        room = round(width - 2 * inside) + 1
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
        painter.drawText(chip, int(Qt.AlignmentFlag.AlignCenter), shown)

    def draw_name(self, painter: QPainter, place: QRect, name: str, sentence: str) -> None:
        """Draw a name, and a sentence below it where there is one."""
        if not sentence:
            self.write(painter, place, name, "strong", "text")
            return
        half = self._theme.px(20)
        top = QRect(place.left(), place.center().y() - half, place.width(), half)
        below = QRect(place.left(), place.center().y() + 1, place.width(), half - 2)
        self.write(painter, top, name, "strong", "text")
        self.write(painter, below, sentence, "small", "muted")

    def write(self, painter: QPainter, place: QRect, text: str, role: FontRole, colour: str) -> None:
        """Write a line, cut where there is no room."""
        font = self._theme.font(role)
        painter.setFont(font)
        painter.setPen(self._theme.color(colour))
        line = " ".join(text.splitlines())  # a name of a folder can hold anything
        shown = QFontMetrics(font).elidedText(line, Qt.TextElideMode.ElideRight, place.width())
        painter.drawText(place, _LEFT, shown)
