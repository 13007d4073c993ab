"""The first images of a folder, as many as fit into one line."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize
from PySide6.QtGui import QHelpEvent, QImage, QPainter, QPainterPath, QPaintEvent, QPixmap
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gui.engine.texts import _, ngettext
from gui.window.theme.icons import Icons
from gui.window.theme.space import SMALL_RADIUS, Space

SIDE = 72
"""Of a picture, pixels at a text size of 100 %."""

FINENESS = 2
"""Pictures are read so many times as fine, for screens that show it."""


class PictureStrip(QWidget):
    """Small pictures; those that are not read yet are grey, broken ones say so.

    Args:
        icons: Draws the mark of broken ones.
    """

    def __init__(self, icons: Icons) -> None:
        super().__init__()
        self._icons = icons
        self._names: tuple[str, ...] = ()
        self._pictures: list[QPixmap | None] = []
        self._read = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        icons.theme.changed.connect(self.updateGeometry)

    @property
    def broken(self) -> list[str]:
        """The names of the pictures that could not be read."""
        if not self._read:
            return []
        return [name for name, picture in zip(self._names, self._pictures, strict=True) if picture is None]

    def show_names(self, names: Sequence[str]) -> None:
        """Show places for pictures that are being read."""
        self._names = tuple(names)
        self._pictures = [None] * len(self._names)
        self._read = False
        self.setVisible(bool(names))
        count = len(names)
        words = ngettext("The first image", "The first {count} images", count)
        self.setAccessibleName(words.format(count=count))
        self.update()

    def show_pictures(self, images: Sequence[QImage | None]) -> None:
        """Show the pictures; None for a broken one."""
        self._pictures = [QPixmap.fromImage(image) if image is not None else None for image in images]
        self._read = True
        broken = self.broken
        self.setAccessibleDescription(_("Broken: {names}").format(names=", ".join(broken)) if broken else "")
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """One line of pictures."""
        side = self._icons.theme.px(SIDE)
        return QSize(side * 4, side)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the pictures that fit."""
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        for place, picture in zip(self._places(), self._pictures, strict=False):
            clip = QPainterPath()
            clip.addRoundedRect(place, SMALL_RADIUS, SMALL_RADIUS)
            painter.setClipPath(clip)
            if picture is not None:
                painter.drawPixmap(place, picture, QRectF(picture.rect()))
                continue
            theme = self._icons.theme
            painter.fillRect(place, theme.color("bad_soft" if self._read else "line"))
            if self._read:
                mark = theme.px(22)
                middle = QRectF(0, 0, mark, mark)
                middle.moveCenter(place.center())
                self._icons.paint(painter, middle, "warning", theme.color("bad"))

    def event(self, event: QEvent) -> bool:
        """Tell the name of the picture under the pointer."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self._tip(event.pos()), self)
            return True
        return super().event(event)

    def _tip(self, position: QPoint) -> str:
        for place, name in zip(self._places(), self._names, strict=False):
            if place.contains(position.toPointF()):
                return (
                    _("{name}: cannot be read as an image").format(name=name) if name in self.broken else name
                )
        return ""

    def _places(self) -> list[QRectF]:
        side = self._icons.theme.px(SIDE)
        fitting = max(1, (self.width() + Space.S) // (side + Space.S))
        return [
            QRectF(number * (side + Space.S), 0, side, side)
            for number in range(min(fitting, len(self._names)))
        ]
