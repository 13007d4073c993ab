"""The memory of a graphics card over the time of a run, against what the card has."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from gui.engine.quantities import exact, gib
from gui.engine.runs.metrics import GpuRow
from gui.engine.texts import _
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme

_MOST_POINTS = 20_000
_GAP_SECONDS = 30.0
"""Where nobody looked for so long the line does not go on."""


class MemoryChart(QWidget):
    """Filled area of the memory in use; total, forecast and peak as lines. Drawn without any library.

    A thin line tells what tensors take of it, by torch's own figures.

    A long run is kept in at most `_MOST_POINTS` points: the greatest value of neighbours stays, so that
    no peak is lost.

    Args:
        theme: Colours and fonts.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("memory-chart")
        self.setAccessibleName(_("GPU memory"))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._theme = theme
        self._times = array("d")
        self._used = array("d")
        self._torch: list[tuple[float, float]] = []
        self._total = 0.0
        self._peak = 0.0
        self._last: float | None = None
        self._forecast: float | None = None
        self._each = 1
        self._bucket = 0
        self._at = -1
        theme.changed.connect(self.update)
        self._tell()

    @property
    def now_bytes(self) -> float | None:
        """In use at the last look; None where that is not known."""
        return self._last

    @property
    def peak_bytes(self) -> float:
        """The most that was in use."""
        return self._peak

    @property
    def total_bytes(self) -> float:
        """What the card has; 0 where that is not known."""
        return self._total

    @property
    def points(self) -> int:
        """How many points are kept."""
        return len(self._times)

    def add_rows(self, rows: Sequence[GpuRow]) -> None:
        """Take looks at one card, in the order of time."""
        for row in rows:
            self._last = row.used_bytes
            if row.total_bytes:
                self._total = max(self._total, float(row.total_bytes))
            if row.used_bytes is not None:
                self._peak = max(self._peak, float(row.used_bytes))
                if row.t is not None:
                    self._add(row.t, float(row.used_bytes))
        if rows:
            self._tell()
            self.update()

    def add_torch(self, points: Sequence[tuple[float, float]]) -> None:
        """Take what tensors take at the most, by torch.

        Args:
            points: Seconds since the trainer's start, and bytes from then on; in the order of time.
        """
        self._torch += points
        if len(self._torch) >= _MOST_POINTS:
            self._torch = self._torch[::2]
        self._tell()
        self.update()

    def set_forecast(self, used_bytes: float | None) -> None:
        """Draw how much was expected; None for no forecast."""
        self._forecast = used_bytes
        self._tell()
        self.update()

    def clear(self) -> None:
        """Begin with another run or card."""
        self._times, self._used = array("d"), array("d")
        self._torch = []
        self._total = self._peak = 0.0
        self._last = self._forecast = None
        self._each, self._bucket, self._at = 1, 0, -1
        self._tell()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Low and wide."""
        return QSize(480, self._theme.px(96))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Room for the labels and some height."""
        return QSize(200, self._theme.px(72))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw all of it."""
        del event
        painter = QPainter(self)
        painter.setFont(self._theme.font("small"))
        if not self._times:
            painter.setPen(self._theme.color("muted"))
            words = self.accessibleDescription()
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(QRectF(self.rect()), int(flags), words)
            return
        place = self._place()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for begin, end in self._runs():
            self._draw_area(painter, place, begin, end)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        self._draw_torch(painter, place)
        self._draw_limits(painter, place)
        if 0 <= self._at < len(self._times):
            self._draw_crosshair(painter, place)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Say what was in use where the pointer is."""
        place = self._place()
        share = (event.position().x() - place.left()) / max(1.0, place.width())
        first, last = self._span()
        self._point(min(len(self._times) - 1, bisect_left(self._times, first + share * (last - first))))

    def leaveEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        """Say how it is now."""
        del event
        self._point(-1)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Arrows move through time, Escape comes back to now."""
        step = max(1, len(self._times) // 100)
        side = {Qt.Key.Key_Left: -step, Qt.Key.Key_Right: step}.get(Qt.Key(event.key()), 0)
        if side and self._times:
            start = self._at if self._at >= 0 else len(self._times) - 1
            self._point(max(0, min(len(self._times) - 1, start + side)))
        elif event.key() == Qt.Key.Key_Escape and self._at >= 0:
            self._point(-1)
        else:
            event.ignore()

    def _add(self, t: float, used: float) -> None:
        if self._times and t < self._times[-1]:
            return
        gap = bool(self._times) and t - self._times[-1] > max(_GAP_SECONDS, 3 * self._spacing())
        if self._bucket and not gap:
            self._used[-1] = max(self._used[-1], used)
        else:
            self._times.append(t)
            self._used.append(used)
            self._bucket = 0
        self._bucket = (self._bucket + 1) % self._each
        if len(self._times) >= _MOST_POINTS:
            self._halve()

    def _halve(self) -> None:
        """Keep the greater of each two neighbours."""
        self._times = self._times[::2]
        self._used = array("d", map(max, self._used[::2], self._used[1::2]))
        del self._times[len(self._used) :]
        self._each *= 2
        self._bucket = 0

    def _spacing(self) -> float:
        first, last = self._span()
        return (last - first) / max(1, len(self._times))

    def _span(self) -> tuple[float, float]:
        if not self._times:
            return 0.0, 1.0
        return min(0.0, self._times[0]), max(self._times[-1], self._times[0] + 1.0)

    def _runs(self) -> list[tuple[int, int]]:
        """Return the stretches in which it was looked at without a gap."""
        longest = max(_GAP_SECONDS, 3 * self._spacing())
        cuts = [i for i in range(1, len(self._times)) if self._times[i] - self._times[i - 1] > longest]
        edges = [0, *cuts, len(self._times)]
        return list(pairwise(edges))

    def _top(self) -> float:
        return max(self._total, self._peak * 1.05, (self._forecast or 0) * 1.05, 1.0)

    def _place(self) -> QRectF:
        above = QFontMetricsF(self._theme.font("small")).height() + 2
        return QRectF(self.rect()).adjusted(1, above, -1, -2)

    def _y(self, place: QRectF, used: float) -> float:
        return place.bottom() - used / self._top() * place.height()

    def _draw_area(self, painter: QPainter, place: QRectF, begin: int, end: int) -> None:
        """Draw a stretch: for each pixel the greatest value in it."""
        first, last = self._span()
        wide = place.width() / (last - first)
        points: list[QPointF] = []
        pixel, most = -1, 0.0
        for i in range(begin, end):
            x = place.left() + (self._times[i] - first) * wide
            most = max(most, self._used[i]) if int(x) == pixel else self._used[i]
            if int(x) == pixel:
                points[-1].setY(self._y(place, most))
            else:
                points.append(QPointF(x, self._y(place, most)))
            pixel = int(x)
        if len(points) == 1:
            points.append(points[0] + QPointF(1, 0))
        bottom = place.bottom()
        outline = [QPointF(points[0].x(), bottom), *points, QPointF(points[-1].x(), bottom)]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("accent_soft"))
        painter.drawPolygon(QPolygonF(outline))
        painter.setPen(QPen(self._theme.color("chart_1"), 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolygon(QPolygonF(outline))

    def _draw_torch(self, painter: QPainter, place: QRectF) -> None:
        """Draw what tensors take as steps: each figure holds until the next one."""
        if not self._torch:
            return
        first, last = self._span()
        wide = place.width() / (last - first)
        points: list[QPointF] = []
        for t, used in self._torch:
            x = place.left() + (min(max(t, first), last) - first) * wide
            if points:
                points.append(QPointF(x, points[-1].y()))
            points.append(QPointF(x, self._y(place, used)))
        points.append(QPointF(place.right(), points[-1].y()))
        painter.setPen(QPen(self._theme.color("chart_2"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(points))

    def _draw_limits(self, painter: QPainter, place: QRectF) -> None:
        metrics = QFontMetricsF(self._theme.font("small"))
        taken: list[QRectF] = []
        limits = [(self._total, gib(self._total), "bad", [4.0, 3.0])] if self._total else []
        if self._forecast:
            words = _("forecast {amount}").format(amount=gib(self._forecast))
            limits.append((self._forecast, words, "faint", [1.0, 3.0]))
        if self._peak:
            limits.append((self._peak, _("peak {amount}").format(amount=gib(self._peak)), "muted", []))
        lines = [self._y(place, value) for value, _words, _colour, _dashes in limits]
        lines += [self._y(place, used) for _t, used in self._torch[-1:]]
        for value, words, colour, dashes in limits:
            y = round(self._y(place, value)) + 0.5
            painter.setPen(self._theme.color(colour))
            if dashes:
                pen = QPen(self._theme.color(colour), 1)
                pen.setDashPattern(dashes)
                painter.setPen(pen)
                painter.drawLine(QPointF(place.left(), y), QPointF(place.right(), y))
            width = metrics.horizontalAdvance(words) + 2
            right = place.right() - Space.S
            # Labels give way to the left, where another one is.
            label = QRectF(right - width, y - metrics.height() - 1, width, metrics.height())
            # … and go below their line where that keeps other lines from crossing them.
            below = label.translated(0, metrics.height() + 3)
            if _crossed(label, lines) and not _crossed(below, lines):
                label = below
            for other in taken:
                if label.intersects(other):
                    label.moveRight(other.left() - Space.M)
            if label.left() > place.left():
                taken.append(label)
                painter.setPen(self._theme.color("muted" if colour == "faint" else colour))
                painter.drawText(label, int(Qt.AlignmentFlag.AlignLeft), words)

    def _draw_crosshair(self, painter: QPainter, place: QRectF) -> None:
        first, last = self._span()
        x = place.left() + (self._times[self._at] - first) / (last - first) * place.width()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.color("muted"), 1))
        painter.drawLine(QPointF(x, place.top()), QPointF(x, place.bottom()))
        painter.setPen(QPen(self._theme.color("surface"), 2))
        painter.setBrush(self._theme.color("chart_1"))
        painter.drawEllipse(QPointF(x, self._y(place, self._used[self._at])), 4.5, 4.5)

    def _point(self, at: int) -> None:
        if at != self._at:
            self._at = at
            self._tell()
            self.update()

    def _tell(self) -> None:
        """Say in words what is seen."""
        if not self._times:
            words = _("The memory appears here once the card is looked at.")
        elif 0 <= self._at < len(self._times):
            words = _("{amount} at {time}").format(
                amount=gib(self._used[self._at]), time=exact(self._times[self._at])
            )
        else:
            words = self._now()
        self.setAccessibleDescription(words)
        self.setToolTip(words if self._times else "")

    def _now(self) -> str:
        parts = [_("now {amount}").format(amount=gib(self._last))] if self._last is not None else []
        parts.append(_("peak {amount}").format(amount=gib(self._peak)))
        if self._torch:
            parts.append(_("tensors {amount}").format(amount=gib(self._torch[-1][1])))
        if self._forecast:
            parts.append(_("forecast {amount}").format(amount=gib(self._forecast)))
        words = " · ".join(parts)
        return _("{words} of {total}").format(words=words, total=gib(self._total)) if self._total else words


def _crossed(label: QRectF, lines: Sequence[float]) -> bool:
    """Return whether a line goes through a label; at its foot may be its own."""
    return any(label.top() < line < label.bottom() - 3 for line in lines)
