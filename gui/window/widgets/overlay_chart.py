"""The losses of several runs over each other: by steps or by images, with names, readout and export."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QIcon, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QButtonGroup, QFileDialog, QMenu, QVBoxLayout, QWidget

from gui.engine.documents import write_atomically
from gui.engine.errors import PreflightError
from gui.engine.texts import _
from gui.window.models.overlay_curve import OverlayCurve, overlay_csv
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.buttons import Button, IconButton
from gui.window.widgets.labels import ElidedLabel
from gui.window.widgets.layouts import FlowLayout, clear, held
from gui.window.widgets.overlay_looks import look_of
from gui.window.widgets.plot_picture import write_picture
from gui.window.widgets.styled import style

if TYPE_CHECKING:
    from gui.window.widgets.overlay_plot import OverlayPlot

HEIGHT_PX = 300


class OverlayChart(QWidget):
    """The chart; what draws it is imported when there are curves.

    Args:
        theme: Colours and fonts.
        icons: Pictures.
    """

    def __init__(self, theme: Theme, icons: Icons) -> None:
        super().__init__()
        self.setObjectName("overlay-chart")
        self._theme = theme
        self._icons = icons
        self._curves: list[OverlayCurve] = []
        self._plot: OverlayPlot | None = None
        self._chips: list[Button] = []
        self._legend = FlowLayout()
        self._by = self._make_by()
        self._more = IconButton(icons.icon("more"), _("More for this chart"), name="overlay-more")
        self._menu = self._make_menu()
        self._more.clicked.connect(
            lambda: self._menu.popup(self._more.mapToGlobal(self._more.rect().bottomLeft()))
        )
        self._readout = ElidedLabel("", "small")
        self._readout.setObjectName("overlay-readout")
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(Space.S)
        self._layout.addWidget(held(self._legend))
        self._layout.addWidget(held(FlowLayout(*self._by.values(), self._more)))
        self._layout.addWidget(self._readout)
        theme.changed.connect(self._restyle)

    def show_curves(self, curves: Sequence[OverlayCurve]) -> None:
        """Show other runs."""
        from gui.window.widgets.overlay_plot import OverlayPlot

        self._curves = list(curves)
        if self._plot is not None:
            self._layout.removeWidget(self._plot)
            self._plot.hide()
            self._plot.deleteLater()
        self._plot = OverlayPlot(self._theme, self._curves)
        self._plot.setAccessibleName(_("Losses of all runs"))
        self._plot.setFixedHeight(self._theme.px(HEIGHT_PX))
        self._plot.pointed.connect(self._tell)
        self._layout.insertWidget(2, self._plot)
        counts = [curve.images_per_step for curve in self._curves]
        self._by["images"].setEnabled(all(count is not None for count in counts))
        self._by["images"].set_tip(_("Batch size × accumulation × processes images a step"))
        self._by["steps"].setChecked(True)
        self._make_legend()
        self._restyle()
        self._tell()

    def export_png(self, path: Path) -> None:
        """Write what is seen as a picture.

        Raises:
            CannotWrite: It cannot be written there.
        """
        if self._plot is not None:
            write_picture(self._plot, self._theme, path)

    def export_csv(self, path: Path) -> None:
        """Write all losses, a row a step.

        Raises:
            CannotWrite: It cannot be written there.
        """
        write_atomically(path, overlay_csv(self._curves))

    def _make_by(self) -> dict[str, Button]:
        group = QButtonGroup(self)
        made = {}
        for key, words in (("steps", _("By steps")), ("images", _("By images"))):
            button = Button(words, "segment", name=f"overlay-by-{key}")
            button.clicked.connect(lambda _checked, key=key: self._count(key))
            group.addButton(button)
            made[key] = button
        made["steps"].setChecked(True)
        return made

    def _make_menu(self) -> QMenu:
        menu = QMenu(self)
        menu.setObjectName("overlay-menu")
        logarithmic = menu.addAction(_("Logarithmic scale"))
        logarithmic.setCheckable(True)
        logarithmic.toggled.connect(lambda on: self._plot.set_logarithmic(on) if self._plot else None)
        menu.addSeparator()
        menu.addAction(_("Save as picture (PNG)…")).triggered.connect(
            lambda: self._ask(_("Save as picture"), "losses.png", "PNG (*.png)", self.export_png)
        )
        menu.addAction(_("Save figures (CSV)…")).triggered.connect(
            lambda: self._ask(_("Save figures"), "losses.csv", "CSV (*.csv)", self.export_csv)
        )
        return menu

    def _make_legend(self) -> None:
        clear(self._legend)
        self._chips = []
        for number, curve in enumerate(self._curves):
            chip = Button(f"{curve.label}  {curve.name}", "segment", name=f"overlay-show-{number}")
            chip.set_tip(_("Show or hide this curve"))
            style(chip, kind="legend")
            chip.setChecked(True)
            chip.clicked.connect(lambda shown, number=number: self._show_curve(number, shown))
            self._legend.addWidget(chip)
            self._chips.append(chip)

    def _count(self, key: str) -> None:
        if self._plot is not None:
            self._plot.point_at(-1.0)
            self._plot.by_images = key == "images"
            self._plot.refresh()
            self._tell()

    def _show_curve(self, number: int, shown: bool) -> None:
        if self._plot is not None:
            (self._plot.hidden.discard if shown else self._plot.hidden.add)(number)
            self._plot.refresh()
            self._restyle()
            self._tell()

    def _tell(self, at: float = -1.0) -> None:
        """Say in words what each run's loss is under the crosshair, or at its end."""
        plot = self._plot
        if plot is None:
            return
        words = []
        if at >= 0:
            text = _("{count} images") if plot.by_images else _("step {step}")
            words.append(text.format(count=f"{at:,.0f}", step=f"{at:,.0f}"))
        for number, curve in enumerate(self._curves):
            if number not in plot.hidden:
                place = at if at >= 0 else curve.last(by_images=plot.by_images)
                value = curve.value_at(place, by_images=plot.by_images)
                words.append(f"{curve.label} –" if value is None else f"{curve.label} {value:.4g}")
        self._readout.setText(" · ".join(words))
        self.setAccessibleDescription(self._readout.text())
        plot.setAccessibleDescription(self._readout.text())

    def _ask(self, title: str, name: str, pattern: str, export: Callable[[Path], None]) -> None:
        path, _kind = QFileDialog.getSaveFileName(self, title, name, pattern)
        if not path:
            return
        try:
            export(Path(path))
            self._readout.setText(_("Saved as {path}").format(path=path))
        except PreflightError as error:
            self._readout.setText(error.message())

    def _restyle(self) -> None:
        self._more.setIcon(self._icons.icon("more"))
        for number, chip in enumerate(self._chips):
            chip.setIcon(self._sample(number, shown=chip.isChecked()))
        if self._plot is not None:
            self._plot.setFixedHeight(self._theme.px(HEIGHT_PX))
            self._plot.restyle()

    def _sample(self, number: int, *, shown: bool) -> QIcon:
        """Return a short piece of the curve: the chip tells it by its dashes, not by colour alone."""
        look = look_of(number)
        picture = QPixmap(48, 32)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        pen = QPen(self._theme.color(look.colour if shown else "line"), 4)
        if look.dashes:
            pen.setDashPattern([length / 2 for length in look.dashes])
        painter.setPen(pen)
        painter.drawLine(QPointF(1, 16), QPointF(47, 16))
        painter.end()
        return QIcon(picture)
