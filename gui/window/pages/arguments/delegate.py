"""Draws the rows of the list of all arguments: name and help, the value as in a field, who says so."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from gui.engine.findings import Severity
from gui.engine.texts import _
from gui.window.models.argument_rows import ArgumentRow
from gui.window.models.argument_values import shown_text
from gui.window.models.arguments_model import ROW_ROLE, ArgumentsModel, Column
from gui.window.theme.space import CONTROL_RADIUS, Space
from gui.window.theme.theme import FontRole, Theme

ROW_PX = 52
HEADING_PX = 46
WIDE_PX = 470
"""From this width on, a third column tells who says the value."""

_TONES: dict[Severity, tuple[str, str]] = {
    "stop": ("bad", "×"),
    "danger": ("bad", "!"),
    "warning": ("warn", "!"),
    "hint": ("accent", "i"),
}
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


class Places(NamedTuple):
    """Where the parts of a row are."""

    name: QRect
    value: QRect
    source: QRect


class ArgumentDelegate(QStyledItemDelegate):
    """Draws rows and headings in the theme's colours.

    Args:
        theme: Colours, fonts and sizes.
        model: What rows say.
    """

    def __init__(self, theme: Theme, model: ArgumentsModel) -> None:
        super().__init__()
        self._theme = theme
        self._model = model

    def places(self, whole: QRect) -> Places:
        """Return where the parts of a row are."""
        px = self._theme.px
        inner = whole.adjusted(px(Space.L), 0, -px(Space.L), 0)
        wide = inner.width() >= px(WIDE_PX)
        name_width = round(inner.width() * (0.42 if wide else 0.5))
        value_width = round(inner.width() * 0.32) if wide else inner.width() - name_width
        name = QRect(inner.left(), inner.top(), name_width - px(Space.M), inner.height())
        height = px(30)
        value = QRect(
            inner.left() + name_width, inner.top() + (inner.height() - height) // 2, value_width, height
        )
        left = value.right() + px(Space.M)
        source = QRect(left, inner.top(), max(0, inner.right() - left), inner.height()) if wide else QRect()
        return Places(name, value, source)

    def sizeHint(  # noqa: N802 - Qt's name
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """Return the height of a row; its width is the list's."""
        del option
        row = index.data(ROW_ROLE)
        heading = isinstance(row, ArgumentRow) and row.is_heading
        return QSize(0, self._theme.px(HEADING_PX if heading else ROW_PX))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Draw one row."""
        row = index.data(ROW_ROLE)
        if not isinstance(row, ArgumentRow):
            return
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if row.is_heading:
            self._draw_heading(painter, rect, row)
        else:
            self._draw_back(painter, rect, state)
            self._draw_row(painter, self.places(rect), row)
        painter.setPen(self._theme.color("line"))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.restore()

    def _draw_heading(self, painter: QPainter, rect: QRect, row: ArgumentRow) -> None:
        px = self._theme.px
        place = rect.adjusted(px(Space.L), px(Space.S), -px(Space.L), 0)
        self._write(painter, place, self._model.text(row, Column.NAME), "card", "text")

    def _draw_back(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag) -> None:
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, self._theme.color("accent_soft"))
        if state & QStyle.StateFlag.State_HasFocus:
            painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), self._theme.color("accent"))

    def _draw_row(self, painter: QPainter, places: Places, row: ArgumentRow) -> None:
        self._draw_name(painter, places.name, row)
        if row.kind == "switch" and isinstance(self._model.effective(row).value, bool | None):
            self._draw_switch(painter, places.value, row)
        else:
            self._draw_value(painter, places.value, row)
        if places.source.width() > 0:
            self._draw_source(painter, places.source, row)

    def _draw_name(self, painter: QPainter, place: QRect, row: ArgumentRow) -> None:
        severity = self._model.worst(row)
        if severity is not None:
            place = place.adjusted(self._draw_mark(painter, place, severity), 0, 0, 0)
        help_text = " ".join((row.title or row.help).split())
        if not help_text:
            self._write(painter, place, row.name, "mono", "text")
            return
        half = place.height() // 2
        upper = QRect(place.left(), place.top() + self._theme.px(6), place.width(), half - self._theme.px(6))
        lower = QRect(place.left(), place.top() + half, place.width(), half - self._theme.px(6))
        self._write(painter, upper, row.name, "mono", "text")
        self._write(painter, lower, help_text, "small", "muted")

    def _draw_mark(self, painter: QPainter, place: QRect, severity: Severity) -> int:
        colour, sign = _TONES[severity]
        side = self._theme.px(18)
        circle = QRect(place.left(), place.center().y() - side // 2, side, side)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color(f"{colour}_soft"))
        painter.drawEllipse(circle)
        painter.setFont(self._theme.font("strong"))
        painter.setPen(self._theme.color(colour))
        painter.drawText(circle, int(Qt.AlignmentFlag.AlignCenter), sign)
        return side + self._theme.px(Space.S)

    def _draw_value(self, painter: QPainter, place: QRect, row: ArgumentRow) -> None:
        own = self._model.effective(row).source == "user"
        painter.setPen(QPen(self._theme.color("accent" if own else "line"), 1))
        painter.setBrush(self._theme.color("surface" if own else "bg"))
        painter.drawRoundedRect(QRectF(place).adjusted(0.5, 0.5, -0.5, -0.5), CONTROL_RADIUS, CONTROL_RADIUS)
        inner = place.adjusted(self._theme.px(10), 0, -self._theme.px(8), 0)
        if row.kind == "choice":
            inner.adjust(0, 0, -self._theme.px(16), 0)
            self._draw_arrow(painter, QPointF(place.right() - self._theme.px(14), place.center().y() + 1))
        text = self._model.text(row, Column.VALUE)
        quiet = self._model.effective(row).source == "trainer"
        colour = "muted" if quiet or not text else "text"
        mode = Qt.TextElideMode.ElideMiddle if row.kind in ("path", "folder") else Qt.TextElideMode.ElideRight
        self._write(painter, inner, text or "–", "body", colour, mode=mode)

    def _draw_arrow(self, painter: QPainter, centre: QPointF) -> None:
        painter.setPen(QPen(self._theme.color("faint"), 1.75))
        painter.drawPolyline([centre + QPointF(-4, -2), centre + QPointF(0, 2), centre + QPointF(4, -2)])

    def _draw_switch(self, painter: QPainter, place: QRect, row: ArgumentRow) -> None:
        on = self._model.effective(row).value is True
        height = self._theme.px(18)
        track = QRectF(place.left(), place.center().y() - height / 2, height * 1.8, height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("accent" if on else "faint"))
        painter.drawRoundedRect(track, height / 2, height / 2)
        knob = height - 4
        left = track.right() - 2 - knob if on else track.left() + 2
        painter.setBrush(self._theme.color("on_accent" if on else "surface"))
        painter.drawEllipse(QRectF(left, track.top() + 2, knob, knob))
        rest = place.adjusted(round(track.width()) + self._theme.px(Space.S), 0, 0, 0)
        self._write(painter, rest, _("on") if on else _("off"), "body", "text" if on else "muted")

    def _draw_source(self, painter: QPainter, place: QRect, row: ArgumentRow) -> None:
        found = self._model.effective(row)
        words = self._model.source_words(row)
        colour = "accent" if found.source == "user" else "muted"
        if not self._model.deviates(row):
            self._write(painter, place, words, "small", colour)
            return
        half = place.height() // 2
        gap = self._theme.px(6)
        upper = QRect(place.left(), place.top() + gap, place.width(), half - gap)
        lower = QRect(place.left(), place.top() + half, place.width(), half - gap)
        self._write(painter, upper, words, "small", colour)
        was = _("preset: {value}").format(value=shown_text(row, found.preset_value))
        self._write(painter, lower, was, "small", "muted")

    def _write(
        self,
        painter: QPainter,
        place: QRect,
        text: str,
        role: FontRole,
        colour: str,
        *,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        font = self._theme.font(role)
        painter.setFont(font)
        painter.setPen(QColor(self._theme.color(colour)))
        cut = QFontMetrics(font).elidedText(text.replace("\n", " "), mode, place.width())
        painter.drawText(place, _LEFT, cut)
