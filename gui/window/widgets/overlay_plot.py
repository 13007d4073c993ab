"""The losses of several runs in one plot. Imports pyqtgraph and numpy: imported when it is first shown."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QGraphicsView

from gui.window.models.overlay_curve import OverlayCurve
from gui.window.theme.theme import Theme
from gui.window.widgets.loss_peaks import Curve, drawable, logarithms, peaks, worth_showing
from gui.window.widgets.overlay_looks import look_of
from gui.window.widgets.plot_axes import prepare, style_axes

_EMPTY = Curve(np.empty(0), np.empty(0))
_MOST_TIMES = 12.0
"""A run whose loss explodes leaves the picture, so that the others can still be seen."""


class OverlayPlot(pg.PlotWidget):  # type: ignore[misc]
    """Smoothed losses over steps or over images.

    Args:
        theme: Colours and fonts.
        curves: One a run.
    """

    pointed = Signal(float)
    """The crosshair stands here; below zero it is nowhere."""

    def __init__(self, theme: Theme, curves: Sequence[OverlayCurve]) -> None:
        super().__init__()
        self._theme = theme
        self._curves = list(curves)
        self._at = -1.0
        self.by_images = False
        self.logarithmic = False
        self.hidden: set[int] = set()
        self.setObjectName("overlay-plot")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setMouseTracking(True)
        self.setCacheMode(QGraphicsView.CacheModeFlag(0))
        self._box = prepare(self.plotItem)
        self._items = [pg.PlotCurveItem(connect="finite", antialias=True) for _curve in self._curves]
        for item in self._items:
            self.plotItem.addItem(item)
        self._drawn: dict[int, Curve] = {}
        self.restyle()

    @property
    def at(self) -> float:
        """Where the crosshair stands; below zero it is nowhere."""
        return self._at

    def extent(self) -> float:
        """Return the last step, or image, of all runs that are shown."""
        return max((curve.last(by_images=self.by_images) for curve in self._shown()), default=1.0)

    def refresh(self) -> None:
        """Draw what is shown now."""
        last, buckets = max(self.extent(), 2.0), max(50, round(self._box.width()))
        self._drawn = {
            number: self._thinned(curve, last, buckets)
            for number, curve in enumerate(self._curves)
            if number not in self.hidden and len(curve.series)
        }
        self._box.setXRange(0.0, last, padding=0)
        self._show_heights()
        low, high = self._box.viewRange()[1]
        for number, item in enumerate(self._items):
            thin = self._drawn.get(number, _EMPTY)
            item.setData(thin.x, drawable(thin, low, high).y)
        self.viewport().update()

    def restyle(self) -> None:
        """Take the theme's colours and sizes."""
        self.setBackground(self._theme.color("surface"))
        for number, item in enumerate(self._items):
            item.setPen(self.pen_of(number))
        style_axes(self.plotItem, self._theme, {"left": "muted", "bottom": "muted"})
        self.refresh()

    def pen_of(self, number: int) -> QPen:
        """Return what a run's curve is drawn with."""
        look = look_of(number)
        pen: QPen = pg.mkPen(self._theme.color(look.colour), width=2)
        if look.dashes:
            pen.setDashPattern(list(look.dashes))
        return pen

    def set_logarithmic(self, on: bool) -> None:
        """Draw losses on a logarithmic scale, or on a plain one."""
        self.logarithmic = on
        self.plotItem.getAxis("left").setLogMode(False, on)
        self.refresh()

    def point_at(self, at: float) -> None:
        """Set the crosshair; below zero takes it away."""
        at = max(-1.0, min(at, self.extent()))
        if at != self._at:
            self._at = at
            self.pointed.emit(at)
            self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Arrows move the crosshair, Escape takes it away."""
        side = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if side:
            page = 10 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
            width = self.extent() / 100
            self.point_at(max(0.0, self._at + side * page * width) if self._at >= 0 else self.extent())
        elif event.key() == Qt.Key.Key_Escape and self._at >= 0:
            self.point_at(-1.0)
        else:
            event.ignore()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Move the crosshair."""
        place = self._place()
        inside = place.contains(event.position())
        share = (event.position().x() - place.left()) / max(1.0, place.width())
        self.point_at(share * self.extent() if inside else -1.0)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Leave pyqtgraph's own ways out."""
        event.accept()

    def leaveEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Take the crosshair away."""
        super().leaveEvent(event)
        self.point_at(-1.0)

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        """Another width shows other points; pyqtgraph calls this while it begins, with nothing."""
        super().resizeEvent(event)
        if event is not None and hasattr(self, "_items"):
            self.refresh()

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:  # noqa: N802 - Qt's name
        """Draw each run's letter at the end of its curve, and the crosshair."""
        super().drawForeground(painter, rect)
        if not hasattr(self, "_drawn"):
            return
        place = self._place()
        self._draw_letters(painter, place)
        if self._at < 0:
            return
        x = place.left() + self._at / max(self.extent(), 2.0) * place.width()
        painter.setPen(QPen(self._theme.color("muted"), 1))
        painter.drawLine(QPointF(x, place.top()), QPointF(x, place.bottom()))

    def _draw_letters(self, painter: QPainter, place: QRectF) -> None:
        """Draw them: the curves are told apart by more than their colours."""
        painter.setFont(self._theme.font("strong"))
        low, high = self._box.viewRange()[1]
        metrics = QFontMetricsF(painter.font())
        for number, curve in self._drawn.items():
            end = _last_seen(curve, low, high)
            if end is None:
                continue
            label = self._curves[number].label
            width = metrics.horizontalAdvance(label)
            x = place.left() + end[0] / max(self.extent(), 2.0) * place.width() + 4
            y = place.bottom() - (end[1] - low) / ((high - low) or 1) * place.height() - 4
            x = min(x, place.right() - width - 2 - number * (width + 6))
            y = min(max(y, place.top() + metrics.ascent()), place.bottom() - 2)
            painter.setPen(self._theme.color(look_of(number).colour))
            painter.drawText(QPointF(x, y), label)

    def _thinned(self, curve: OverlayCurve, last: float, buckets: int) -> Curve:
        factor = curve.factor(by_images=self.by_images)
        x = array("d", (step * factor for step in curve.series.steps))
        thin = peaks(x, curve.series.smoothed, 0.0, last, buckets)
        return logarithms(thin) if self.logarithmic else thin

    def _show_heights(self) -> None:
        """Choose what is at the bottom and at the top of the picture."""
        shown = self._drawn.values()
        known = [worth_showing(thin, thin, _EMPTY, logarithmic=self.logarithmic) for thin in shown]
        ranges = [each for each in known if each is not None]
        if not ranges:
            return
        low, high = min(low for low, _high in ranges), max(high for _low, high in ranges)
        least = min(high for _low, high in ranges)
        if not self.logarithmic and least > 0:
            low, high = max(0.0, low), min(high, _MOST_TIMES * least)
        self._box.setYRange(low, high, padding=0)

    def _place(self) -> QRectF:
        place: QRectF = self._box.sceneBoundingRect()
        return place

    def _shown(self) -> list[OverlayCurve]:
        return [curve for number, curve in enumerate(self._curves) if number not in self.hidden]


def _last_seen(curve: Curve, low: float, high: float) -> tuple[float, float] | None:
    """Return the last point of a curve that is in sight."""
    with np.errstate(invalid="ignore"):
        seen = np.flatnonzero((curve.y >= low) & (curve.y <= high))
    return (float(curve.x[seen[-1]]), float(curve.y[seen[-1]])) if seen.size else None
