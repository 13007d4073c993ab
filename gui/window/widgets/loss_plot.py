"""The plot of a run: axes and curves by pyqtgraph, everything else drawn over them.

Imported when the first chart is shown: pyqtgraph and numpy take half a second and 50 MB. Only options
of single widgets are set; what is global in pyqtgraph stays as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPen, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QFrame, QGraphicsView

from gui.window.models.loss_series import LossSeries
from gui.window.theme.theme import Theme
from gui.window.widgets.loss_marks import Marks, Sight, draw_behind, draw_crosshair, draw_marks
from gui.window.widgets.loss_peaks import Curve, drawable, logarithms, peaks, worth_showing
from gui.window.widgets.plot_axes import prepare, style_axes

_LEAST_STEPS = 5.0
_LONG_STEPS = 20_000
"""From here on the smoothed curve is thin: wide ones take long to draw."""
_CHOSEN_PIXELS = 6
_EMPTY = Curve(np.empty(0), np.empty(0))


class LossPlot(pg.PlotWidget):  # type: ignore[misc]
    """Curves over steps, with zoom along the steps; the height follows from what is in sight.

    Args:
        theme: Colours and fonts.
        series: What is drawn.
        marks: Saves, epochs and events.
    """

    pointed = Signal(int)
    """The crosshair stands on a row of the series; -1 for none."""

    zoomed = Signal(bool)
    """Only a part is in sight, or all again."""

    def __init__(self, theme: Theme, series: LossSeries, marks: Marks) -> None:
        super().__init__()
        self._theme = theme
        self._series = series
        self._marks = marks
        self._range: tuple[float, float] | None = None
        self._row = -1
        self._press: QPointF | None = None
        self._drag: QPointF | None = None
        self._pan: tuple[float, float, float] | None = None
        self.shown = {"smoothed": True, "step": True, "validation": True, "rate": True}
        self.logarithmic = False
        self.setObjectName("loss-plot")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setMouseTracking(True)
        # What lies behind moves with the curves.
        self.setCacheMode(QGraphicsView.CacheModeFlag(0))
        self._make_axes()
        self._make_curves()
        self.restyle()

    @property
    def is_zoomed(self) -> bool:
        """Whether only a part is in sight."""
        return self._range is not None

    @property
    def row(self) -> int:
        """The row at which the crosshair stands; -1 for none."""
        return self._row

    def extent(self) -> tuple[float, float]:
        """Return the first and last step of the whole."""
        steps, marks = self._series.steps, self._marks
        last = max(steps[-1] if steps else 1.0, marks.last_step, 2.0)
        if marks.nonfinite is not None:
            last = max(last, marks.nonfinite * 1.37)
        return min(steps[0] if steps else 0.0, 1.0), last

    def in_sight(self) -> tuple[float, float]:
        """Return the steps at the left and right edge."""
        return self._range or self.extent()

    def refresh(self) -> None:
        """Draw what there is now; costs as much for 100,000 steps as for a thousand."""
        series = self._series
        left, right = self.in_sight()
        buckets = max(50, round(self._box.width()))
        smooth = self._thinned(series.steps, series.smoothed, buckets)
        step = self._thinned(series.steps, series.loss, buckets) if series.has_losses else _EMPTY
        validation = self._thinned(series.validation_steps, series.validation, buckets)
        if self.logarithmic:
            smooth, step, validation = map(logarithms, (smooth, step, validation))
        height = worth_showing(step, smooth, validation, logarithmic=self.logarithmic)
        if height is not None:
            low = height[0] if self.logarithmic else max(0.0, height[0]) if height[0] > -0.05 else height[0]
            self._box.setYRange(low, height[1], padding=0)
            smooth, step, validation = (
                drawable(curve, low, height[1]) for curve in (smooth, step, validation)
            )
        self._put(self._smooth, smooth if self.shown["smoothed"] else _EMPTY)
        self._put(self._step, step if self.shown["step"] else _EMPTY)
        self._put(self._validation, validation if self.shown["validation"] else _EMPTY)
        self._put_rates(buckets)
        self._box.setXRange(left, right, padding=0)
        self._smooth.setPen(self._pen("chart_1", 2 if len(self._series) < _LONG_STEPS else 1))
        faint = self._theme.color("chart_1")
        # Where many lie close together they would be as strong as the smoothed curve.
        faint.setAlphaF(0.4 if len(step.x) < buckets else 0.25)
        self._step.setPen(pg.mkPen(faint, width=1))
        self.viewport().update()

    def restyle(self) -> None:
        """Take the theme's colours and sizes."""
        theme = self._theme
        self.setBackground(theme.color("surface"))
        self._validation.setPen(self._pen("good", 1))
        self._validation.setSymbolPen(None)
        self._validation.setSymbolBrush(theme.color("good"))
        for curve in self._rates.values():
            curve.setPen(self._pen("chart_2", 1, Qt.PenStyle.CustomDashLine))
        style_axes(self.plotItem, theme, {"left": "muted", "bottom": "muted", "right": "chart_2"})
        self.refresh()

    def set_logarithmic(self, on: bool) -> None:
        """Draw losses on a logarithmic scale, or on a plain one."""
        self.logarithmic = on
        self.plotItem.getAxis("left").setLogMode(False, on)
        self.refresh()

    def fit(self) -> None:
        """Bring all into sight and follow what comes."""
        self._look(None)

    def zoom(self, factor: float, middle: float | None = None) -> None:
        """Bring fewer (below 1) or more steps into sight around one of them."""
        left, right = self.in_sight()
        at = middle if middle is not None else (left + right) / 2
        self._look((at - (at - left) * factor, at + (right - at) * factor))

    def point_at(self, row: int) -> None:
        """Set the crosshair on a row; -1 takes it away."""
        row = max(-1, min(row, len(self._series) - 1))
        if row != self._row:
            self._row = row
            self.pointed.emit(row)
            self.viewport().update()

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """Zoom with Ctrl; without it the page scrolls."""
        if not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return
        turns = event.angleDelta().y() / 120
        self.zoom(0.8**turns, self._sight().step_at(event.position().x()))
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Plus and minus zoom, arrows move the crosshair (with Ctrl the view), 0 brings all into sight."""
        key, control = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        side = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(key), 0)
        if side and control:
            left, right = self.in_sight()
            self._look((left + side * (right - left) / 10, right + side * (right - left) / 10))
        elif side:
            page = 10 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
            self.point_at(max(0, self._row + side * page) if self._row >= 0 else len(self._series) - 1)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(0.7, self._pointed_step())
        elif key == Qt.Key.Key_Minus:
            self.zoom(1 / 0.7, self._pointed_step())
        elif key in (Qt.Key.Key_0, Qt.Key.Key_Home):
            self.fit()
        elif key == Qt.Key.Key_Escape and (self._row >= 0 or self.is_zoomed):
            self.point_at(-1)
            self.fit()
        else:
            event.ignore()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Begin to choose a part, or, with Shift or the middle button, to move it."""
        if event.button() == Qt.MouseButton.LeftButton:
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self._pan = (event.position().x(), *self.in_sight())
            else:
                self._press = self._drag = event.position()
        elif event.button() == Qt.MouseButton.MiddleButton:
            self._pan = (event.position().x(), *self.in_sight())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Move the crosshair, and the edge of what is chosen."""
        sight = self._sight()
        if self._pan is not None:
            x, left, right = self._pan
            way = (x - event.position().x()) * (right - left) / max(1.0, sight.place.width())
            self._look((left + way, right + way))
        elif self._press is not None:
            self._drag = event.position()
        inside = sight.place.contains(event.position())
        self.point_at(self._series.index_at(sight.step_at(event.position().x())) if inside else -1)
        self.viewport().update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Bring the chosen part into sight."""
        sight, press = self._sight(), self._press
        self._press = self._drag = self._pan = None
        if press is not None and abs(event.position().x() - press.x()) >= _CHOSEN_PIXELS:
            chosen = sorted((sight.step_at(press.x()), sight.step_at(event.position().x())))
            self._look((chosen[0], chosen[1]))
        self.viewport().update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Bring all into sight."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._press = self._drag = None
            self.fit()

    def leaveEvent(self, event: Any) -> None:  # noqa: N802 - Qt's name
        """Take the crosshair away."""
        super().leaveEvent(event)
        self.point_at(-1)

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802 - Qt's name
        """Another width shows other points; pyqtgraph calls this while it begins, with nothing."""
        super().resizeEvent(event)
        if event is not None and hasattr(self, "_rates"):
            self.refresh()

    def drawBackground(self, painter: QPainter, rect: QRectF) -> None:  # noqa: N802 - Qt's name
        """Draw what lies behind the curves."""
        super().drawBackground(painter, rect)
        if hasattr(self, "_rates"):
            draw_behind(painter, self._theme, self._sight(), self._marks)

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:  # noqa: N802 - Qt's name
        """Draw marks, crosshair and what is being chosen."""
        super().drawForeground(painter, rect)
        if not hasattr(self, "_rates"):
            return
        sight = self._sight()
        draw_marks(painter, self._theme, sight, self._marks)
        if 0 <= self._row < len(self._series):
            value = self._series.smoothed[self._row]
            draw_crosshair(painter, self._theme, sight, self._series.steps[self._row], value)
        if self._press is not None and self._drag is not None:
            chosen = QRectF(self._press.x(), sight.place.top(), 0, sight.place.height())
            chosen.setRight(self._drag.x())
            colour = self._theme.color("accent")
            colour.setAlphaF(0.15)
            painter.fillRect(chosen.normalized(), colour)

    def _make_axes(self) -> None:
        plot = self.plotItem
        self._box = prepare(plot)
        self._rate_box = pg.ViewBox(enableMenu=False, enableMouse=False)
        plot.scene().addItem(self._rate_box)
        right = plot.getAxis("right")
        right.linkToView(self._rate_box)
        right.enableAutoSIPrefix(False)
        right.tickStrings = lambda values, _scale, _spacing: list(map(rate_text, values))
        self._rate_box.setXLink(self._box)
        self._rate_box.disableAutoRange()
        self._box.sigResized.connect(lambda: self._rate_box.setGeometry(self._box.sceneBoundingRect()))

    def _make_curves(self) -> None:
        self._step = pg.PlotCurveItem(connect="finite")
        self._smooth = pg.PlotCurveItem(connect="finite", antialias=True)
        self._validation = pg.PlotDataItem(connect="finite", symbol="o", symbolSize=6)
        for curve in (self._step, self._smooth, self._validation):
            self.plotItem.addItem(curve)
        self._rates: dict[str, Any] = {}

    def _put_rates(self, buckets: int) -> None:
        shown = self.shown["rate"] and bool(self._series.rates)
        highest = 0.0
        for name, values in self._series.rates.items():
            if name not in self._rates:
                self._rates[name] = pg.PlotCurveItem(connect="finite", antialias=True)
                self._rates[name].setPen(self._pen("chart_2", 1, Qt.PenStyle.CustomDashLine))
                self._rate_box.addItem(self._rates[name])
            thin = self._thinned(self._series.steps, values, buckets // 2) if shown else _EMPTY
            self._put(self._rates[name], thin)
            finite = thin.y[np.isfinite(thin.y)]
            highest = max(highest, float(finite.max()) if finite.size else 0.0)
        self.plotItem.showAxis("right", shown)
        self._rate_box.setYRange(0, highest * 1.15 or 1, padding=0)

    def _thinned(self, x: Any, y: Any, buckets: int) -> Curve:
        return peaks(x, y, *self.in_sight(), buckets)

    @staticmethod
    def _put(item: Any, curve: Curve) -> None:
        item.setData(curve.x, curve.y)

    def _pen(self, token: str, width: float, dash: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
        pen: QPen = pg.mkPen(self._theme.color(token), width=width)
        if dash == Qt.PenStyle.CustomDashLine:
            pen.setDashPattern([4, 3])
        return pen

    def _sight(self) -> Sight:
        low, high = self._box.viewRange()[1]
        return Sight(self._box.sceneBoundingRect(), *self.in_sight(), low, high, self.logarithmic)

    def _pointed_step(self) -> float | None:
        return self._series.steps[self._row] if self._row >= 0 else None

    def _look(self, sight: tuple[float, float] | None) -> None:
        """Bring steps into sight, within the whole; None brings all."""
        first, last = self.extent()
        if sight is not None:
            width = max(_LEAST_STEPS, sight[1] - sight[0])
            left = max(first, min(sight[0], last - width))
            sight = (left, left + width) if width < last - first else None
        before, self._range = self._range, sight
        self.refresh()
        if (before is None) != (sight is None):
            self.zoomed.emit(sight is not None)


def rate_text(rate: float) -> str:
    """Return a learning rate as people write it: ``1e-4``."""
    if rate == 0:
        return ""
    figure, _mark, power = f"{rate:.3g}".partition("e")
    if not power and rate < 0.001:
        figure, _mark, power = f"{rate:.2e}".partition("e")
        figure = figure.rstrip("0").rstrip(".")
    return f"{figure}e{int(power)}" if power else figure
