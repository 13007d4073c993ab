"""Little pictures for model families, painted so that they suit any size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPainterPath, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from gui.window.theme.space import CONTROL_RADIUS
from gui.window.theme.theme import Theme

Shape = Literal["hills", "stars", "waves", "rings", "tiles"]


@dataclass(frozen=True)
class Motif:
    """How a family's picture is painted.

    Attributes:
        hue: Of its first colour, degrees.
        turn: From there to the second colour, degrees.
        shape: What is in front of them.
    """

    hue: int
    turn: int
    shape: Shape


MOTIFS: dict[str, Motif] = {
    "sd15": Motif(204, 40, "hills"),
    "sd2": Motif(186, 30, "hills"),
    "sd2-v": Motif(170, 30, "hills"),
    "sdxl": Motif(262, 50, "hills"),
    "pony": Motif(322, 44, "stars"),
    "illustrious": Motif(350, 40, "stars"),
    "noobai-vpred": Motif(286, 46, "stars"),
    "anima": Motif(214, 70, "stars"),
    "sd3": Motif(148, 40, "tiles"),
    "sd35-medium": Motif(130, 46, "tiles"),
    "sd35-large": Motif(104, 50, "tiles"),
    "flux1": Motif(24, 34, "waves"),
    "flux1-schnell": Motif(40, 26, "waves"),
    "chroma": Motif(0, 60, "rings"),
    "lumina2": Motif(48, -30, "rings"),
    "hunyuan-image": Motif(12, -40, "waves"),
}


def motif_of(name: str) -> Motif:
    """Return a family's motif; one from its name where it has none of its own."""
    return MOTIFS.get(name) or Motif(sum(map(ord, name)) * 37 % 360, 40, "tiles")


class FamilyPicture(QWidget):
    """The picture of a family.

    Args:
        name: Of the family.
        theme: Tells whether it is dark, and how large things are.
        height: In pixels at a text size of 100 %.
    """

    def __init__(self, name: str, theme: Theme, height: int = 52) -> None:
        super().__init__()
        self._name = name
        self._theme = theme
        self._height = height
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As wide as its place."""
        return QSize(self._theme.px(80), self._theme.px(self._height))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Paint it."""
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setOpacity(1.0 if self.isEnabled() else 0.45)
        paint_motif(painter, QRectF(self.rect()), motif_of(self._name), dark=self._theme.dark)


def paint_motif(painter: QPainter, place: QRectF, motif: Motif, *, dark: bool) -> None:
    """Paint a motif into a place."""
    clip = QPainterPath()
    clip.addRoundedRect(place, CONTROL_RADIUS, CONTROL_RADIUS)
    painter.setClipPath(clip)
    first, second = (_colour(motif.hue, dark=dark), _colour(motif.hue + motif.turn, dark=dark))
    sky = QLinearGradient(place.topLeft(), place.bottomRight())
    sky.setColorAt(0, first.lighter(118))
    sky.setColorAt(1, second)
    painter.fillRect(place, sky)
    painter.setPen(Qt.PenStyle.NoPen)
    _SHAPES[motif.shape](painter, place, second)


def _colour(hue: int, *, dark: bool) -> QColor:
    return QColor.fromHslF(hue % 360 / 360, 0.46 if dark else 0.58, 0.40 if dark else 0.64)


def _light(alpha: int) -> QColor:
    return QColor(255, 255, 255, alpha)


def _hills(painter: QPainter, place: QRectF, colour: QColor) -> None:
    side = place.height()
    painter.setBrush(_light(210))
    painter.drawEllipse(
        QPointF(place.right() - side * 0.55, place.top() + side * 0.32), side * 0.14, side * 0.14
    )
    for peak, height, shade in ((0.30, 0.62, 112), (0.72, 0.46, 128), (0.48, 0.34, 150)):
        top = QPointF(place.left() + place.width() * peak, place.bottom() - side * height)
        foot = place.width() * (height * 0.85)
        hill = [QPointF(top.x() - foot, place.bottom() + 1), top, QPointF(top.x() + foot, place.bottom() + 1)]
        painter.setBrush(colour.darker(shade))
        painter.drawPolygon(QPolygonF(hill))


def _stars(painter: QPainter, place: QRectF, colour: QColor) -> None:
    side = place.height()
    for x, y, size, alpha in (
        (0.30, 0.55, 0.30, 235),
        (0.58, 0.30, 0.15, 190),
        (0.76, 0.62, 0.21, 160),
        (0.13, 0.22, 0.09, 150),
    ):
        centre = QPointF(place.left() + place.width() * x, place.top() + side * y)
        points = []
        for corner in range(8):
            reach = side * size * (1 if corner % 2 == 0 else 0.36)
            angle = math.pi * corner / 4
            points.append(centre + QPointF(math.sin(angle) * reach, -math.cos(angle) * reach))
        painter.setBrush(_light(alpha))
        painter.drawPolygon(QPolygonF(points))


def _waves(painter: QPainter, place: QRectF, colour: QColor) -> None:
    for number, alpha in enumerate((80, 110, 150)):
        base = place.top() + place.height() * (0.38 + 0.2 * number)
        path = QPainterPath(QPointF(place.left(), place.bottom()))
        steps = 24
        for step in range(steps + 1):
            x = place.left() + place.width() * step / steps
            lift = math.sin(step / steps * math.tau * 1.2 + number * 1.4) * place.height() * 0.13
            path.lineTo(x, base + lift)
        path.lineTo(place.right(), place.bottom())
        painter.setBrush(_light(alpha))
        painter.drawPath(path)


def _rings(painter: QPainter, place: QRectF, colour: QColor) -> None:
    side = place.height()
    for x, y, size in ((0.36, 0.58, 0.40), (0.56, 0.42, 0.32), (0.68, 0.66, 0.24)):
        painter.setBrush(_light(92))
        centre = QPointF(place.left() + place.width() * x, place.top() + side * y)
        painter.drawEllipse(centre, side * size, side * size)


def _tiles(painter: QPainter, place: QRectF, colour: QColor) -> None:
    side = place.height() / 3
    columns = math.ceil(place.width() / side)
    for column in range(columns):
        for row in range(3):
            alpha = (column * 53 + row * 97) % 130
            painter.setBrush(_light(alpha))
            tile = QRectF(place.left() + column * side, place.top() + row * side, side, side)
            painter.drawRoundedRect(tile.adjusted(1.5, 1.5, -1.5, -1.5), 3, 3)


_SHAPES = {"hills": _hills, "stars": _stars, "waves": _waves, "rings": _rings, "tiles": _tiles}
