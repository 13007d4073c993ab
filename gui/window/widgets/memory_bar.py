"""The memory of a graphics card as a bar: what a plan needs, part by part, against what there is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QHelpEvent,
    QKeyEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gui.engine.hardware.memory.forecasts import MemoryParts, MemoryPhase
from gui.engine.hardware.memory.room import Room
from gui.engine.hardware.memory.words import bar_sentence, part_words
from gui.engine.texts import _
from gui.window.theme.theme import Theme
from gui.window.widgets.memory_shades import shade

BAR_PX = 22
ABOVE_PX = 6
"""At a text size of 100 %: height of the bar, and room around it for what crosses its edges."""

CAP_PX = 8
RADIUS = 6.0
AROUND = 1.03
"""Where the plan needs more than there is, so much more is shown."""


class Stretch(NamedTuple):
    """A stretch of the bar, GiB.

    Attributes:
        name: A part of the forecast, or ``spare``, ``reserve`` or ``others``.
        begin: Where it begins.
        end: Where it ends.
        words: What it is.
    """

    name: str
    begin: float
    end: float
    words: str


class MemoryBar(QWidget):
    """Parts stacked from the left, a whisker from low to high, and at the right what others hold.

    The dashed line is where free memory ends; before it lies what should be left over. Where more is
    needed than the card has, a full line is where the card ends. Hovering, or the arrow keys, tell each
    stretch.

    Args:
        theme: Colours and sizes.
        name: The object name.
    """

    def __init__(self, theme: Theme, *, name: str = "memory-bar") -> None:
        super().__init__()
        self.setObjectName(name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._theme = theme
        self._phase: MemoryPhase | None = None
        self._room: Room | None = None
        self._least = 0.0
        self._stretches: tuple[Stretch, ...] = ()
        self._at = -1
        theme.changed.connect(self._fit)
        self.show_phase(None, None)

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """What is drawn, from the left."""
        return self._stretches

    def show_phase(self, phase: MemoryPhase | None, room: Room | None, *, least: float = 0.0) -> None:
        """Show what a phase needs of what there is.

        Args:
            phase: None where that is not known.
            room: None where that is not known.
            least: GiB that the bar shows at the least, so that several can be compared.
        """
        pointed = self._stretches[self._at].name if self._at >= 0 else ""
        self._phase, self._room, self._least = phase, room, least
        self._stretches = tuple(_stretches(phase, room))
        # Figures come every second; who goes through the stretches by keys stays where he is.
        names = [stretch.name for stretch in self._stretches]
        self._at = names.index(pointed) if pointed in names else -1
        self.setAccessibleName(bar_sentence(phase, room))
        self.setAccessibleDescription(self._stretches[self._at].words if self._at >= 0 else "")
        self.update()

    def center_of(self, name: str) -> QPointF | None:
        """Return the middle of a stretch; None where there is none of that name."""
        for stretch in self._stretches:
            if stretch.name == name:
                place = self._place()
                middle = (stretch.begin + stretch.end) / 2
                return QPointF(self._x(place, middle), place.center().y())
        return None

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """As wide as there is room."""
        return QSize(320, self._theme.px(BAR_PX + 2 * ABOVE_PX))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Wide enough to tell parts apart."""
        return QSize(120, self.sizeHint().height())

    def event(self, event: QEvent) -> bool:
        """Tell the stretch below the pointer."""
        if isinstance(event, QHelpEvent):
            stretch = self._stretch_at(event.pos().x())
            QToolTip.showText(event.globalPos(), stretch.words if stretch else self.accessibleName(), self)
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Arrows go from stretch to stretch, Escape leaves them."""
        side = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if side and self._stretches:
            last = len(self._stretches) - 1
            start = self._at if self._at >= 0 else (-1 if side > 0 else last + 1)
            self._point(max(0, min(last, start + side)))
        elif event.key() == Qt.Key.Key_Escape and self._at >= 0:
            self._point(-1)
        else:
            event.ignore()

    def focusOutEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        """Point at nothing."""
        del event
        self._point(-1)
        self.update()

    def focusInEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        """Show that keys are heard."""
        del event
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw all of it."""
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        place = self._place()
        outline = QPainterPath()
        outline.addRoundedRect(place, RADIUS, RADIUS)
        painter.fillPath(outline, self._theme.color("bg"))
        painter.save()
        painter.setClipPath(outline)
        for number, stretch in enumerate(self._stretches):
            self._draw_stretch(painter, place, stretch, pointed=number == self._at)
        painter.restore()
        painter.setPen(QPen(self._theme.color("accent" if self.hasFocus() else "line"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(outline)
        self._draw_limit(painter, place)
        self._draw_whisker(painter, place)

    def _draw_stretch(self, painter: QPainter, place: QRectF, stretch: Stretch, *, pointed: bool) -> None:
        left, right = self._x(place, stretch.begin), self._x(place, stretch.end)
        rect = QRectF(left, place.top(), right - left, place.height())
        if stretch.name in MemoryParts.model_fields:
            painter.fillRect(rect, shade(self._theme, stretch.name))
            if rect.width() > 3:
                gap = QRectF(right - 1, place.top(), 1, place.height())
                painter.fillRect(gap, self._theme.color("surface"))
        elif stretch.name == "reserve":
            painter.fillRect(rect, self._theme.color("warn_soft"))
        elif stretch.name == "others":
            colour = self._theme.color("line")
            painter.fillRect(rect, colour)
            painter.setPen(QPen(self._theme.color("faint"), 1))
            self._hatch(painter, rect)
        if pointed:
            painter.fillRect(rect, _faint(self._theme.color("text")))

    @staticmethod
    def _hatch(painter: QPainter, rect: QRectF) -> None:
        painter.save()
        painter.setClipRect(rect, Qt.ClipOperation.IntersectClip)
        x = rect.left() - rect.height()
        while x < rect.right():
            painter.drawLine(QPointF(x, rect.bottom()), QPointF(x + rect.height(), rect.top()))
            x += 6
        painter.restore()

    def _draw_limit(self, painter: QPainter, place: QRectF) -> None:
        if self._room is None:
            return
        if self._most() > self._room.total:
            x = round(self._x(place, self._room.total)) - 0.5
            painter.setPen(QPen(self._theme.color("bad"), 2))
            painter.drawLine(QPointF(x, place.top()), QPointF(x, place.bottom()))
        x = round(self._x(place, self._room.free)) - 0.5
        pen = QPen(self._theme.color("bad"), 2)
        pen.setDashPattern([2.0, 1.5])
        painter.setPen(pen)
        painter.drawLine(QPointF(x, place.top() - 3), QPointF(x, place.bottom() + 3))

    def _draw_whisker(self, painter: QPainter, place: QRectF) -> None:
        if self._phase is None:
            return
        low, high = self._x(place, self._phase.low), self._x(place, self._phase.high)
        middle, half = place.center().y(), self._theme.px(CAP_PX) / 2
        # Drawn twice: what lies around keeps it in sight on every shade.
        for colour, width in (("surface", 4.0), ("text", 1.5)):
            painter.setPen(QPen(self._theme.color(colour), width))
            painter.drawLine(QPointF(low, middle), QPointF(high, middle))
            for x in (low, high):
                painter.drawLine(QPointF(x, middle - half), QPointF(x, middle + half))

    def _place(self) -> QRectF:
        above = self._theme.px(ABOVE_PX)
        return QRectF(self.rect()).adjusted(1, above, -1, -above)

    def _most(self) -> float:
        total = self._room.total if self._room else 0.0
        high = self._phase.high if self._phase else 0.0
        return max(total, max(high, self._least) * AROUND, 0.1)

    def _x(self, place: QRectF, amount: float) -> float:
        return place.left() + amount / self._most() * place.width()

    def _stretch_at(self, x: float) -> Stretch | None:
        place = self._place()
        amount = (x - place.left()) / max(1.0, place.width()) * self._most()
        found = [each for each in self._stretches if each.begin <= amount < each.end]
        return found[-1] if found else None

    def _point(self, at: int) -> None:
        if at != self._at:
            self._at = at
            self.setAccessibleDescription(self._stretches[at].words if at >= 0 else "")
            self.update()
            if at >= 0:
                middle = self.center_of(self._stretches[at].name)
                if middle is not None:
                    QToolTip.showText(self.mapToGlobal(middle.toPoint()), self._stretches[at].words, self)

    def _fit(self) -> None:
        self.updateGeometry()
        self.update()


def _faint(colour: QColor) -> QColor:
    colour.setAlphaF(0.2)
    return colour


def _stretches(phase: MemoryPhase | None, room: Room | None) -> Iterator[Stretch]:
    """Return what is drawn; what lies on top of something else comes after it."""
    likely = phase.likely if phase else 0.0
    if room is not None:
        usable, free, total = max(0.0, room.usable), room.free, room.total
        if likely < usable:
            words = _("{gib:.1f} GiB more could be used").format(gib=usable - likely)
            yield Stretch("spare", likely, usable, words)
        if usable < free:
            words = _("{gib:.1f} GiB that should be left over").format(gib=room.reserve)
            yield Stretch("reserve", usable, free, words)
        if free < total:
            words = _("{gib:.1f} GiB that others hold").format(gib=total - free)
            yield Stretch("others", free, total, words)
    if phase is None:
        return
    begin, names = 0.0, part_words()
    for name, amount in phase.parts.model_dump().items():
        if amount > 0:
            text = _("{what}: {gib:.1f} GiB").format(what=names[name], gib=amount)
            yield Stretch(name, begin, begin + amount, text)
            begin += amount
