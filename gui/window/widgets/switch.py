"""A switch: on or off, told by the place of its knob."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QCheckBox, QSizePolicy

from gui.window.theme.space import Space


class Switch(QCheckBox):
    """On or off.

    Args:
        text: Translated; what is on.
    """

    changed = Signal(bool)

    def __init__(self, text: str = "", *, name: str = "", words: str = "") -> None:
        super().__init__(text.replace("&", "&&"))
        if name:
            self.setObjectName(name)
        self.setAccessibleName(words or text)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.clicked.connect(self.changed)

    def show_value(self, on: object) -> None:
        """Show a value without telling of a change."""
        self.setChecked(on is True)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Room for the track and the words."""
        track = self._track()
        words = self.fontMetrics().horizontalAdvance(self.text().replace("&&", "&"))
        width = track.width() + (Space.S + words if words else 0) + 4
        return QSize(round(width), max(round(track.height()) + 6, self.fontMetrics().height() + 6))

    minimumSizeHint = sizeHint  # noqa: N815 - Qt's name

    def hitButton(self, _position: object) -> bool:  # noqa: N802 - Qt's name
        """All of it can be clicked."""
        return True

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw a track with a knob; its place tells the state, not only its colour."""
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette, on = self.palette(), self.isChecked()
        track = self._track().translated(2, (self.height() - self._track().height()) / 2)
        back = palette.accent().color() if on else palette.placeholderText().color()
        if not self.isEnabled():
            back = palette.mid().color()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(back)
        painter.drawRoundedRect(track, track.height() / 2, track.height() / 2)
        knob = track.height() - 4
        left = track.right() - 2 - knob if on else track.left() + 2
        painter.setBrush(palette.highlightedText())
        painter.drawEllipse(QRectF(left, track.top() + 2, knob, knob))
        if self.hasFocus():
            self._draw_focus(painter, track, palette.text().color())
        painter.setPen(palette.text().color() if self.isEnabled() else palette.placeholderText().color())
        words = QRectF(track.right() + Space.S, 0, self.width(), self.height())
        text = self.text().replace("&&", "&")
        painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), text)

    def _track(self) -> QRectF:
        height = round(self.fontMetrics().height() * 1.05)
        return QRectF(0, 0, height * 1.8, height)

    @staticmethod
    def _draw_focus(painter: QPainter, track: QRectF, colour: QColor) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(colour, 1.5))
        ring = track.adjusted(-1.5, -1.5, 1.5, 1.5)
        painter.drawRoundedRect(ring, ring.height() / 2, ring.height() / 2)
