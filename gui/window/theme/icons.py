"""Icons from ``resources/icons``: line drawings that take the colour of their place."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from gui.engine.resources import resource_path
from gui.window.theme.theme import Theme


class Icons:
    """Draws icons in the theme's colours and at its text size.

    Args:
        theme: Gives the colours; whoever holds an icon asks anew when it changes.
    """

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self._texts: dict[str, str] = {}

    def icon(self, name: str, color: str = "muted", size: int = 20, checked: str | None = None) -> QIcon:
        """Return an icon.

        Args:
            name: Of the file, without its ending.
            color: Token.
            size: Side in pixels at a text size of 100 %.
            checked: Token for when its button is checked; None takes ``color``.
        """
        icon = QIcon(self.pixmap(name, size, color))
        if checked is not None:
            icon.addPixmap(self.pixmap(name, size, checked), QIcon.Mode.Normal, QIcon.State.On)
        return icon

    def pixmap(self, name: str, size: int = 20, color: str = "muted", ratio: float = 2.0) -> QPixmap:
        """Return an icon as a picture, drawn ``ratio`` times as fine as its size."""
        side = self.theme.px(size)
        pixmap = QPixmap(QSize(side, side) * ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QRectF(0, 0, side * ratio, side * ratio), name, self.theme.color(color))
        painter.end()
        pixmap.setDevicePixelRatio(ratio)
        return pixmap

    def paint(self, painter: QPainter, place: QRectF, name: str, color: QColor) -> None:
        """Draw an icon into a place."""
        text = self._text(name).replace("currentColor", color.name())
        QSvgRenderer(QByteArray(text.encode("utf-8"))).render(painter, place)

    def _text(self, name: str) -> str:
        if name not in self._texts:
            self._texts[name] = resource_path("icons", f"{name}.svg").read_text("utf-8")
        return self._texts[name]
