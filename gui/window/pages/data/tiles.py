"""Draws the tile of an image: the picture, its name, one chip, and an edge in the colour of the worst."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPen

from gui.window.models.image_rows import Level
from gui.window.theme.icons import Icons
from gui.window.theme.space import CARD_RADIUS, SMALL_RADIUS, Space
from gui.window.widgets.chip import Tone

NARROWEST = 128
"""Of a tile, in pixels at a text size of 100 %."""

INSET = 6
PICTURE_SHAPE = 112 / 124
"""Height by width."""

WORDS_HEIGHT = 34
CHIP_HEIGHT = 19
CHIP_ROOM = 7
STEP = 24
"""Pictures are made in widths of so many pixels, so that a tile can grow a little without a new one."""


@dataclass(frozen=True)
class Tile:
    """What one tile shows.

    Attributes:
        name: The file's.
        words: On the chip; empty for none.
        tone: Of the chip.
        level: Gives the edge its colour.
        picture: None where there is none yet, or at all.
        broken: Whether there will be none.
        selected: Whether it is one of those that something would be done to.
        current: Whether it is the one that is shown in full.
        focused: Whether the keyboard is here.
    """

    name: str
    words: str
    tone: Tone
    level: Level
    picture: QImage | None
    broken: bool
    selected: bool
    current: bool
    focused: bool


@dataclass(frozen=True)
class Grid:
    """Where tiles are.

    Attributes:
        columns: How many beside each other.
        tile: Size of one.
        gap: Between them.
    """

    columns: int
    tile: QSizeF
    gap: int

    @property
    def pitch(self) -> float:
        """From one line of tiles to the next."""
        return self.tile.height() + self.gap

    def place(self, number: int) -> QRectF:
        """Return where a tile is, from the top of the first."""
        line, column = divmod(number, self.columns)
        corner = QPointF(column * (self.tile.width() + self.gap), line * self.pitch)
        return QRectF(corner, self.tile)

    def at(self, point: QPointF) -> int | None:
        """Return the number of the tile at a point; None between tiles."""
        column = int(point.x() // (self.tile.width() + self.gap))
        number = int(point.y() // self.pitch) * self.columns + column
        is_tile = 0 <= column < self.columns and number >= 0 and self.place(number).contains(point)
        return number if is_tile else None

    def lines(self, count: int) -> int:
        """Return how many lines of tiles there are."""
        return -(-count // self.columns)


class TilePainter:
    """Draws tiles in the theme's colours and at its text size.

    Args:
        icons: With the theme.
    """

    def __init__(self, icons: Icons) -> None:
        self._icons = icons
        self._theme = icons.theme
        self._fonts: tuple[QFont, QFont] = (QFont(), QFont())
        self.restyle()

    def restyle(self) -> None:
        """Colours or text size are other ones now."""
        chip = self._theme.font("small")
        chip.setPixelSize(max(1, self._theme.px(11)))
        chip.setWeight(QFont.Weight.DemiBold)
        self._fonts = (self._theme.font("small"), chip)
        self._measures = tuple(QFontMetricsF(font) for font in self._fonts)

    def grid(self, width: int) -> Grid:
        """Return how tiles lie in a width; they fill it."""
        gap, narrowest = Space.M, self._theme.px(NARROWEST)
        columns = max(1, (width + gap) // (narrowest + gap))
        wide = max(float(narrowest) / 2, (width - gap * (columns - 1)) / columns)
        picture = (wide - 2 * INSET) * PICTURE_SHAPE
        return Grid(columns, QSizeF(wide, round(INSET + picture + self._theme.px(WORDS_HEIGHT))), gap)

    def picture_place(self, tile: QRectF) -> QRectF:
        """Return where the picture of a tile is."""
        wide = tile.width() - 2 * INSET
        return QRectF(tile.left() + INSET, tile.top() + INSET, wide, wide * PICTURE_SHAPE)

    def picture_size(self, grid: Grid, ratio: float) -> QSize:
        """Return how large pictures are to be made, in pixels of the screen."""
        wide = (grid.tile.width() - 2 * INSET) * ratio
        steps = max(1, -(-int(wide) // STEP))
        return QSize(steps * STEP, round(steps * STEP * PICTURE_SHAPE))

    def picture_radius(self, ratio: float) -> float:
        """Return the radius of a picture's corners in pixels of the screen."""
        return SMALL_RADIUS * ratio

    def paint(self, painter: QPainter, place: QRectF, tile: Tile) -> None:
        """Draw a tile."""
        picture = self.picture_place(place)
        self._paint_card(painter, place, tile)
        self._paint_picture(painter, picture, tile)
        line = QRectF(picture.left(), picture.bottom(), picture.width(), place.bottom() - picture.bottom())
        if tile.words:
            chip = self._chip_size(tile.words, picture.width())
            name = self._measures[0].horizontalAdvance(tile.name)
            if name + Space.S + chip.width() <= line.width():
                self._paint_chip(painter, _ending(line, line.center().y(), chip), tile)
            else:  # on the picture: neither is to be cut for the other
                middle = picture.bottom() - chip.height() / 2 - Space.XS
                self._paint_chip(painter, _ending(picture.adjusted(0, 0, -Space.XS, 0), middle, chip), tile)
        painter.setFont(self._fonts[0])
        painter.setPen(self._theme.color("muted"))
        shown = self._measures[0].elidedText(tile.name, Qt.TextElideMode.ElideMiddle, line.width())
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)

    def _paint_card(self, painter: QPainter, place: QRectF, tile: Tile) -> None:
        edges = {Level.STOP: "bad", Level.LOOK: "warn"}
        colour = self._theme.color(edges.get(tile.level, "line"))
        width = 1.0
        if tile.current or tile.selected:
            colour = self._theme.color("accent")
            width = 2.0 if tile.current else 1.0
        painter.setPen(QPen(colour, width))
        painter.setBrush(self._theme.color("accent_soft" if tile.selected else "surface"))
        half = width / 2
        painter.drawRoundedRect(place.adjusted(half, half, -half, -half), CARD_RADIUS, CARD_RADIUS)
        if tile.current and tile.focused:
            pen = QPen(self._theme.color("accent"), 1.0, Qt.PenStyle.DotLine)
            painter.setPen(pen)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(place.adjusted(3.5, 3.5, -3.5, -3.5), SMALL_RADIUS, SMALL_RADIUS)

    def _paint_picture(self, painter: QPainter, place: QRectF, tile: Tile) -> None:
        if tile.picture is not None:
            painter.drawImage(place, tile.picture)
            return
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("bad_soft" if tile.broken else "bg"))
        painter.drawRoundedRect(place, SMALL_RADIUS, SMALL_RADIUS)
        if tile.broken:
            side = self._theme.px(24)
            middle = QRectF(0, 0, side, side)
            middle.moveCenter(place.center())
            self._icons.paint(painter, middle, "warning", self._theme.color("bad"))

    def _chip_size(self, words: str, most: float) -> QSizeF:
        width = self._measures[1].horizontalAdvance(words) + 2 * self._theme.px(CHIP_ROOM)
        return QSizeF(min(width, most - 2 * Space.XS), self._theme.px(CHIP_HEIGHT))

    def _paint_chip(self, painter: QPainter, place: QRectF, tile: Tile) -> None:
        back, front = self._colours(tile.tone)
        painter.setPen(QPen(self._theme.color("line"), 1.0) if tile.tone == "neutral" else Qt.PenStyle.NoPen)
        painter.setBrush(back)
        painter.drawRoundedRect(place, place.height() / 2, place.height() / 2)
        painter.setFont(self._fonts[1])
        painter.setPen(front)
        most = place.width() - 2 * self._theme.px(CHIP_ROOM) + 1
        words = self._measures[1].elidedText(tile.words, Qt.TextElideMode.ElideRight, most)
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, words)

    def _colours(self, tone: Tone) -> tuple[QColor, QColor]:
        if tone == "neutral":
            return self._theme.color("bg"), self._theme.color("muted")
        return self._theme.color(f"{tone}_soft"), self._theme.color(tone)


def _ending(area: QRectF, middle: float, size: QSizeF) -> QRectF:
    """Return the place of a size at the right of an area, at some height."""
    return QRectF(QPointF(area.right() - size.width(), middle - size.height() / 2), size)
