"""The loss of a run over its steps: curves, marks, crosshair, zoom, export."""

from __future__ import annotations

import contextlib
import importlib
import math
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap, QShowEvent
from PySide6.QtWidgets import QFileDialog, QMenu, QVBoxLayout, QWidget

from gui.engine.documents import write_atomically
from gui.engine.errors import PreflightError
from gui.engine.runs.metrics import StepRow
from gui.engine.texts import _
from gui.window.models.loss_series import LossSeries
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.buttons import Button, IconButton
from gui.window.widgets.labels import ElidedLabel
from gui.window.widgets.layouts import FlowLayout
from gui.window.widgets.loss_marks import Mark, MarkKind, Marks
from gui.window.widgets.page import Empty
from gui.window.widgets.plot_picture import write_picture
from gui.window.widgets.styled import style

if TYPE_CHECKING:
    from gui.window.widgets.loss_plot import LossPlot

_REFRESH_MS = 60
_ROWS_AT_ONCE = 2000
_SAID_MS = 8000


class LossChart(QWidget):
    """The chart and its controls.

    Attributes:
        controls: Which curves are shown, fit, more. Stands above the chart, unless the owner puts it
            elsewhere, such as beside the title of a card.

    Args:
        theme: Colours and fonts.
    """

    _written = Signal(str)
    _import_done = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("loss-chart")
        self.setAccessibleName(_("Loss"))
        self._theme = theme
        self._icons = Icons(theme)
        self._series = LossSeries()
        self._marks = Marks()
        self._plot: LossPlot | None = None
        self._waiting: deque[StepRow] = deque()
        self._soon = QTimer(self, singleShot=True, interval=_REFRESH_MS)
        self._soon.timeout.connect(self._refresh)
        self._quiet = QTimer(self, singleShot=True, interval=_SAID_MS)
        self._quiet.timeout.connect(self._tell)
        self._empty = Empty(
            _("The loss appears here with the first step"),
            _("Single steps faint, smoothed strong, the learning rate beside them."),
            name="loss-empty",
        )
        self._readout = ElidedLabel("", "small")
        self._readout.setObjectName("loss-readout")
        self.controls = self._make_controls()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.XS)
        layout.addWidget(self.controls)
        layout.addWidget(self._empty, 1)
        layout.addWidget(self._readout)
        self.setMinimumHeight(theme.px(160))
        self._imported = threading.Event()
        self._importing = False
        self._import_done.connect(self._refresh)
        self._written.connect(self._say)
        theme.changed.connect(self._restyle)
        self._restyle()
        self._tell()

    @property
    def series(self) -> LossSeries:
        """The figures."""
        return self._series

    def add_rows(self, rows: Sequence[StepRow]) -> None:
        """Take figures of steps; many at once are taken in slices, so that the window stays quick."""
        self._waiting.extend(rows)
        self._take_some()

    def add_validation(self, step: int, loss: float) -> None:
        """Take the loss of a validation."""
        self._series.add_validation(step, loss)
        self._later()

    def add_mark(self, step: int, kind: MarkKind, text: str) -> None:
        """Mark a step; ``text`` is translated, such as “saved 200”, and may be empty."""
        self._marks.add(Mark(step, kind, text))
        self._later()

    def set_nonfinite(self, step: int | None) -> None:
        """Colour everything from a step on: its loss is not finite."""
        self._marks.nonfinite = step
        self._later()

    def clear(self) -> None:
        """Begin with another run."""
        self._waiting.clear()
        self._series.__init__(self._series.window)  # type: ignore[misc]
        self._marks.__init__()  # type: ignore[misc]
        if self._plot is not None:
            self._plot.point_at(-1)
            self._plot.fit()
        self._later()

    def point_at(self, step: int) -> None:
        """Set the crosshair on the step nearest to this one."""
        if self._plot is not None:
            self._plot.point_at(self._series.index_at(step))

    def export_png(self, path: Path) -> None:
        """Write what is seen as a picture, twice as fine as on the screen.

        Raises:
            CannotWrite: It cannot be written there.
        """
        write_picture(self._show_plot(), self._theme, path)

    def export_csv(self, path: Path) -> None:
        """Write all figures: step, loss, smoothed, avr_loss, validation_loss, learning rates.

        Raises:
            CannotWrite: It cannot be written there.
        """
        self._series.add([self._waiting.popleft() for _waiting in range(len(self._waiting))])
        write_atomically(path, self._series.csv())

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Draw what came while nobody looked."""
        super().showEvent(event)
        self._later()

    def _make_controls(self) -> QWidget:
        self._chips: dict[str, Button] = {}
        for key, words in (
            ("smoothed", ""),
            ("step", _("step")),
            ("validation", _("validation")),
            ("rate", _("learning rate")),
        ):
            chip = Button(words, "segment", name=f"loss-show-{key}", tip=_("Show or hide this curve"))
            style(chip, kind="legend")
            chip.setChecked(True)
            chip.clicked.connect(lambda checked, key=key: self._show_curve(key, checked))
            self._chips[key] = chip
        self._fit = Button(_("All steps"), compact=True, name="loss-fit", tip=_("Double click does it too"))
        self._fit.clicked.connect(lambda: self._show_plot().fit())
        self._fit.hide()
        self._more = IconButton(self._icons.icon("more"), _("More for this chart"), name="loss-more")
        self._menu = QMenu(self)
        self._menu.setObjectName("loss-menu")
        self._logarithmic = self._menu.addAction(_("Logarithmic scale"))
        self._logarithmic.setCheckable(True)
        self._logarithmic.toggled.connect(lambda on: self._show_plot().set_logarithmic(on))
        self._menu.addSeparator()
        self._menu.addAction(_("Save as picture (PNG)…")).triggered.connect(self._ask_png)
        self._menu.addAction(_("Save figures (CSV)…")).triggered.connect(self._ask_csv)
        self._more.clicked.connect(self._open_menu)
        controls = QWidget()
        controls.setObjectName("loss-controls")
        controls.setLayout(FlowLayout(*self._chips.values(), self._fit, self._more, to_right=True))
        return controls

    def _open_menu(self) -> None:
        self._menu.popup(self._more.mapToGlobal(self._more.rect().bottomLeft()))

    def _show_curve(self, key: str, shown: bool) -> None:
        plot = self._show_plot()
        plot.shown[key] = shown
        plot.refresh()
        self._restyle()

    def _take_some(self) -> None:
        some = [self._waiting.popleft() for _turn in range(min(_ROWS_AT_ONCE, len(self._waiting)))]
        self._series.add(some)
        if self._waiting:
            QTimer.singleShot(0, self, self._take_some)
        self._later()

    def _later(self) -> None:
        if self.isVisible() and not self._soon.isActive():
            self._soon.start()

    def _refresh(self) -> None:
        has_any = bool(len(self._series)) or bool(self._series.validation_steps)
        if has_any and self._plot is None and not self._imported.is_set():
            self._import_soon()
            return
        if has_any or self._plot is not None:
            plot = self._show_plot()
            plot.setVisible(has_any)
            if has_any:
                plot.refresh()
        self._empty.setVisible(not has_any)
        self._chips["step"].setVisible(self._series.has_losses)
        self._chips["validation"].setVisible(bool(self._series.validation_steps))
        self._chips["rate"].setVisible(bool(self._series.rates))
        self._chips["smoothed"].setVisible(has_any)
        self._more.setVisible(has_any)
        self._readout.setVisible(has_any)
        self._restyle_smoothed()
        if not self._quiet.isActive():
            self._tell()

    def _import_soon(self) -> None:
        """Import what the plot needs in a thread: half a second in which the window would stand still."""
        if not self._importing:
            self._importing = True
            threading.Thread(target=self._import, name="import of the chart").start()

    def _import(self) -> None:
        importlib.import_module("gui.window.widgets.loss_plot")
        self._imported.set()
        with contextlib.suppress(RuntimeError):  # the chart is gone
            self._import_done.emit()

    def _show_plot(self) -> LossPlot:
        """Return the plot; it is made, and what it needs imported, when it is wanted first."""
        if self._plot is None:
            from gui.window.widgets.loss_plot import LossPlot

            self._plot = LossPlot(self._theme, self._series, self._marks)
            self._plot.setAccessibleName(_("Loss by step"))
            self._plot.setToolTip("")
            self._plot.pointed.connect(self._tell)
            self._plot.zoomed.connect(self._fit.setVisible)
            layout = self.layout()
            if isinstance(layout, QVBoxLayout):
                layout.insertWidget(layout.indexOf(self._readout), self._plot, 1)
        return self._plot

    def _tell(self) -> None:
        """Say in words where the crosshair stands, or how things are now."""
        series = self._series
        at = self._plot.row if self._plot is not None else -1
        index = at if 0 <= at < len(series) else len(series) - 1
        words = self._values_at(index) if index >= 0 else _("No step yet.")
        if at < 0 and self._marks.nonfinite is not None:
            words = _("{words} · not finite since step {step}").format(
                words=words, step=f"{self._marks.nonfinite:,}"
            )
        self._readout.setText(words)
        self.setAccessibleDescription(words)
        if self._plot is not None:
            self._plot.setAccessibleDescription(words)

    def _values_at(self, index: int) -> str:
        series = self._series
        words = [_("step {step}").format(step=f"{series.steps[index]:,.0f}")]
        smoothed = _("smoothed") if series.has_losses else _("mean")
        for name, value in (
            (_("loss"), series.loss[index]),
            (smoothed, series.smoothed[index]),
            (_("avr_loss"), series.mean[index]),
        ):
            if not math.isnan(value):
                words.append(f"{name} {value:.4g}")
        if math.isnan(series.smoothed[index]):
            words.append(_("loss not finite or not known"))
        for name, values in series.rates.items():
            if not math.isnan(values[index]):
                words.append(_("lr {name} {value}").format(name=name, value=f"{values[index]:.3g}"))
        return " · ".join(words)

    def _ask_png(self) -> None:
        path, _kind = QFileDialog.getSaveFileName(self, _("Save as picture"), "loss.png", "PNG (*.png)")
        if path:
            self._export(lambda: self.export_png(Path(path)), Path(path))

    def _ask_csv(self) -> None:
        path, _kind = QFileDialog.getSaveFileName(self, _("Save figures"), "loss.csv", "CSV (*.csv)")
        if path:
            # Formatting 100,000 rows takes longer than a frame.
            work = threading.Thread(
                target=self._export, args=(lambda: self.export_csv(Path(path)), Path(path))
            )
            work.start()

    def _export(self, work: Callable[[], None], path: Path) -> None:
        try:
            work()
            words = _("Saved as {path}").format(path=path)
        except PreflightError as error:
            words = error.message()
        self._written.emit(words)

    def _say(self, words: str) -> None:
        self._readout.setText(words)
        self._quiet.start()

    def _restyle_smoothed(self) -> None:
        words = (
            _("smoothed ({count})").format(count=self._series.window)
            if self._series.has_losses
            else _("mean loss")
        )
        self._chips["smoothed"].setText(words)
        tip = _("Show or hide this curve: a mean over about {count} steps, weighted towards the last")
        self._chips["smoothed"].set_tip(tip.format(count=self._series.window))

    def _restyle(self) -> None:
        colours = {"smoothed": "chart_1", "step": "chart_1", "validation": "good", "rate": "chart_2"}
        for key, chip in self._chips.items():
            colour = colours[key] if chip.isChecked() else "line"
            chip.setIcon(self._sample(key, self._theme.color(colour)))
        self._more.setIcon(self._icons.icon("more"))
        self._restyle_smoothed()
        if self._plot is not None:
            self._plot.restyle()

    def _sample(self, key: str, colour: QColor) -> QIcon:
        """Return a short piece of a curve: the chip tells it by its line, not by colour alone."""
        picture = QPixmap(32, 32)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if key == "step":
            colour.setAlphaF(0.6)
        pen = QPen(colour, 5 if key == "smoothed" else 2)
        if key == "rate":
            pen.setDashPattern([4, 2])
            pen.setWidth(3)
        painter.setPen(pen)
        if key == "step":
            points = [(1, 16), (7, 6), (13, 26), (19, 6), (25, 26), (31, 16)]
            painter.drawPolyline([QPointF(x, y) for x, y in points])
        else:
            painter.drawLine(QPointF(1, 16), QPointF(31, 16))
        if key == "validation":
            painter.setBrush(colour)
            painter.drawEllipse(QPointF(16, 16), 6, 6)
        painter.end()
        return QIcon(picture)
