"""Runs side by side, in the place of their list: what differs, how they went, losses, samples."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QClipboard, QKeyEvent
from PySide6.QtWidgets import QFileDialog, QVBoxLayout, QWidget

from gui.engine.documents import write_atomically
from gui.engine.errors import PreflightError, RunRefused
from gui.engine.paths import Home
from gui.engine.runs.comparison import compare, last_good
from gui.engine.runs.comparison_lines import (
    comparison_csv,
    comparison_lines,
    label_of,
    results_title,
    run_words,
    sections,
)
from gui.engine.runs.comparison_models import Comparison
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.metrics import StepRow, read_metrics
from gui.engine.texts import _
from gui.window.bridges.tasks import TaskHandle, Tasks
from gui.window.models.loss_series import LossSeries
from gui.window.models.overlay_curve import OverlayCurve
from gui.window.pages.runs.compare_samples import CompareSamples
from gui.window.pages.runs.compare_table import CompareTable
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.banner import Banner
from gui.window.widgets.busy import Busy
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.labels import ElidedLabel, Label
from gui.window.widgets.layouts import clear, column, held, row
from gui.window.widgets.overlay_chart import OverlayChart
from gui.window.widgets.page import Scroll

_KEY = "runs-compare"


class _Found(NamedTuple):
    """What the comparison shows."""

    comparison: Comparison
    curves: list[OverlayCurve]


class CompareView(QWidget):
    """The view; hidden until something is compared.

    Args:
        tasks: Where runs are read.
        icons: Pictures, with the theme.
        home: Where runs are kept.
        clipboard: Takes the comparison as text.
    """

    closed = Signal()
    opened = Signal()

    def __init__(self, tasks: Tasks, icons: Icons, home: Home, clipboard: QClipboard) -> None:
        super().__init__()
        self.setObjectName("compare-view")
        self._tasks = tasks
        self._icons = icons
        self._home = home
        self._clipboard = clipboard
        self._found: _Found | None = None
        self._back = Button(
            _("Back to the list"), icon=icons.icon("chevron-left"), name="compare-back", tip=_("Key: Esc")
        )
        self._copy = Button(_("Copy as text"), "link", name="compare-copy")
        self._table = Button(_("Save as table (CSV)…"), "link", name="compare-csv")
        icons.theme.changed.connect(self._draw)
        self._back.clicked.connect(self.close_it)
        self._copy.clicked.connect(self._copy_text)
        self._table.clicked.connect(self._ask_csv)
        self._busy = Busy(_("Reading the runs …"), name="compare-busy")
        self._busy.cancelled.connect(self.close_it)
        self._trouble = Banner(icons, "warn", name="compare-trouble")
        self._parts = column(spacing=Space.L)
        inner = QWidget()
        inside = QVBoxLayout(inner)
        inside.setContentsMargins(0, 0, Space.S, 0)
        inside.addLayout(self._parts)
        inside.addStretch(1)
        self._scroll = Scroll(inner, name="compare-scroll")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.M)
        layout.addLayout(row(self._back, None, self._copy, self._table))
        for part in (self._busy, self._trouble):
            layout.addWidget(part)
        layout.addWidget(self._scroll, 1)
        self.hide()

    def compare(self, runs: Sequence[RunFolder]) -> None:
        """Put runs side by side; of one alone, it and the last good run before it."""
        home = self._home
        self._show(self._busy)

        def work(_handle: TaskHandle) -> _Found:
            chosen = list(runs) if len(runs) > 1 else [_good_before(runs[0], home), runs[0]]
            # Half a second in which the window would stand still.
            importlib.import_module("gui.window.widgets.overlay_plot")
            found = compare(chosen, home)
            return _Found(found, [_curve(found, number) for number in range(len(chosen))])

        self._tasks.run(work, self._take, self._fail, key=_KEY)
        self._back.setFocus(Qt.FocusReason.OtherFocusReason)

    def _draw(self) -> None:
        self._back.setIcon(self._icons.icon("chevron-left"))

    def close_it(self) -> None:
        """Go back to the list."""
        self._tasks.cancel(_KEY)
        self.hide()
        clear(self._parts)
        self._found = None
        self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Escape goes back."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_it()
        else:
            super().keyPressEvent(event)

    def _take(self, found: _Found) -> None:
        clear(self._parts)
        self._found = found
        comparison = found.comparison
        count = len(comparison.runs)
        self._parts.addWidget(self._heads(comparison))
        names = ("compare-arguments", "compare-dataset", "compare-environment", "compare-results")
        differing: list[CompareTable] = []
        same: list[CompareTable] = []
        for (title, rows), name in zip(sections(comparison), names, strict=True):
            results = title == results_title()
            if rows:
                card = CompareTable(title, rows, count, name=name, everything=results)
                (differing if results or any(each.differs for each in rows) else same).append(card)
        for card in differing:  # first what differs, which is why one looks; the results are its last part
            self._parts.addWidget(card)
        if any(len(curve.series) for curve in found.curves):
            self._parts.addWidget(self._losses(found.curves))
        for card in same:
            self._parts.addWidget(card)
        if comparison.samples:
            self._parts.addWidget(CompareSamples(comparison.samples, self._tasks, self._icons.theme))
        self._show(self._scroll)

    def _heads(self, comparison: Comparison) -> Card:
        card = Card(name="compare-runs")
        for number, run in enumerate(comparison.runs):
            letter = Label(label_of(number), "strong", wrap=False)
            name = ElidedLabel(f"{run_words(run)}  ·  {run.name}", "body", middle=True)
            line = row(letter, name, spacing=Space.M)
            line.setStretch(1, 1)
            card.body.addWidget(held(line, f"compare-run-{number}"))
        return card

    def _losses(self, curves: list[OverlayCurve]) -> Card:
        card = Card(_("Loss"), name="compare-losses")
        chart = OverlayChart(self._icons.theme, self._icons)
        card.body.addWidget(chart)
        chart.show_curves(curves)
        return card

    def _fail(self, error: PreflightError) -> None:
        self._trouble.show_words(_("These runs are not compared."), error.message(), "warn")
        self._show(self._trouble)

    def _show(self, shown: QWidget) -> None:
        for part in (self._busy, self._trouble, self._scroll):
            part.setVisible(part is shown)
        for button in (self._copy, self._table):
            button.setVisible(shown is self._scroll)
        if self.isHidden():
            self.show()
            self.opened.emit()

    def _copy_text(self) -> None:
        if self._found is not None:
            self._clipboard.setText("\n".join(comparison_lines(self._found.comparison)) + "\n")

    def _ask_csv(self) -> None:
        path, _kind = QFileDialog.getSaveFileName(self, _("Save as table"), "comparison.csv", "CSV (*.csv)")
        if path and self._found is not None:
            self._trouble.hide()
            try:
                write_atomically(Path(path), comparison_csv(self._found.comparison))
            except PreflightError as error:
                self._trouble.show_words(_("The table was not saved."), error.message(), "bad")
                self._trouble.show()


def _good_before(run: RunFolder, home: Home) -> RunFolder:
    """Return the last good run before another one.

    Raises:
        RunRefused: There is none.
    """
    found = last_good(run, home)
    if found is None:
        raise RunRefused(
            _("No finished run before it had the same output or plan. Select two runs to compare them.")
        )
    return found


def _curve(found: Comparison, number: int) -> OverlayCurve:
    run = found.runs[number]
    series = LossSeries()
    series.add(row for row in read_metrics(RunFolder(run.folder).metrics) if isinstance(row, StepRow))
    return OverlayCurve(label_of(number), run_words(run), series, run.images_per_step)
