"""A picture as it lies in its file, and on it what the trainer sees after resizing and cropping."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gui.engine.dataset.crops import Crop, Rectangle
from gui.engine.texts import _
from gui.window.theme.icons import Icons
from gui.window.theme.space import SMALL_RADIUS

HEIGHT = 230
"""In pixels at a text size of 100 %."""

SHADE = QColor(15, 23, 42, 150)
FRAME = QColor(255, 255, 255)
LEAST_CUT = 0.5
"""A crop that takes less than so many pixels of the screen is not drawn."""


class CropPicture(QWidget):
    """The picture, whole; what is cut off is dark.

    Args:
        icons: With the theme.
    """

    def __init__(self, icons: Icons) -> None:
        super().__init__()
        self.setObjectName("data-picture")
        self._icons = icons
        self._image: QImage | None = None
        self._broken = False
        self._kept: Rectangle | None = None
        self._size = (1, 1)
        self._most = HEIGHT
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        icons.theme.changed.connect(self._restyle)
        self._restyle()

    def show_image(self, image: QImage | None, *, broken: bool) -> None:
        """Show a picture.

        Args:
            image: None where there is none (yet).
            broken: Whether there will be none.
        """
        self._image = image
        self._broken = broken
        self.update()

    def show_crop(self, size: tuple[int, int], crop: Crop | None) -> None:
        """Draw on it what the trainer sees.

        Args:
            size: Of the image in pixels, in which the crop is given.
            crop: None where it is not known.
        """
        self._size = size
        self._kept = crop.kept if crop is not None else None
        seen = _("The trainer sees what is light; {lost:.1%} is cut off.").format(
            lost=crop.lost if crop else 0
        )
        self.setToolTip(seen if crop is not None and crop.lost > 0 else "")
        self.setAccessibleName(_("The image"))
        self.setAccessibleDescription(self.toolTip())
        self.update()

    def fit(self, most: int) -> None:
        """Be as high as usual, but not higher than something."""
        self._most = most
        self._restyle()

    def box(self) -> QSize:
        """Return how large a picture is wanted, in pixels of the screen."""
        return self.size() * self.devicePixelRatioF()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the picture and the crop."""
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        place = self._place()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._icons.theme.color("bg"))
        painter.drawRoundedRect(QRectF(self.rect()), SMALL_RADIUS, SMALL_RADIUS)
        corners = QPainterPath()
        corners.addRoundedRect(place, SMALL_RADIUS, SMALL_RADIUS)
        if self._image is None:
            self._paint_nothing(painter, corners)
        else:
            painter.setClipPath(corners)
            painter.drawImage(place, self._image)
            painter.setClipping(False)
            kept = self._kept_place(place)
            if kept is not None:
                self._paint_crop(painter, corners, kept)
        painter.end()

    def _place(self) -> QRectF:
        """Return where the picture is: whole, in the middle."""
        area = QRectF(self.rect())
        if self._image is None:
            return area
        whole = QRectF(0, 0, self._image.width(), self._image.height())
        size = whole.size().scaled(area.size(), Qt.AspectRatioMode.KeepAspectRatio)
        place = QRectF(0, 0, size.width(), size.height())
        place.moveCenter(area.center())
        return place

    def _kept_place(self, place: QRectF) -> QRectF | None:
        if self._kept is None or 0 in self._size:
            return None
        across, down = place.width() / self._size[0], place.height() / self._size[1]
        left, top, right, bottom = self._kept
        kept = QRectF(
            place.left() + left * across,
            place.top() + top * down,
            (right - left) * across,
            (bottom - top) * down,
        )
        cut = max(place.width() - kept.width(), place.height() - kept.height())
        return kept if cut >= LEAST_CUT else None

    def _paint_crop(self, painter: QPainter, corners: QPainterPath, kept: QRectF) -> None:
        inside = QPainterPath()
        inside.addRect(kept)
        painter.fillPath(corners.subtracted(inside), SHADE)
        painter.setPen(QPen(FRAME, 2.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(kept.adjusted(1, 1, -1, -1))

    def _paint_nothing(self, painter: QPainter, corners: QPainterPath) -> None:
        theme = self._icons.theme
        if self._broken:
            painter.fillPath(corners, theme.color("bad_soft"))
            side = theme.px(36)
            middle = QRectF(0, 0, side, side)
            middle.moveCenter(QRectF(self.rect()).center())
            self._icons.paint(painter, middle, "warning", theme.color("bad"))

    def _restyle(self) -> None:
        self.setFixedHeight(min(self._icons.theme.px(HEIGHT), self._most))
        self.update()
