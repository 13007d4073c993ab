"""How a dataset fills its buckets, what that costs, what would do better, and how many steps it makes."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QItemSelection, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QVBoxLayout, QWidget

from gui.engine.dataset.bucket_use import BucketUse
from gui.engine.dataset.report import DatasetBuckets
from gui.engine.dataset.report_findings import suggestion_fix
from gui.engine.findings import Fix
from gui.engine.preflight.header_lines import header_lines
from gui.engine.texts import _, ngettext
from gui.window.bridges.checks import Checks
from gui.window.pages.data.buckets_chart import BucketsChart
from gui.window.pages.data.buckets_table import COLUMNS, BucketTable
from gui.window.pages.data.dataset_view import DatasetView
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.chip import Chip, Tone
from gui.window.widgets.inputs import Choice
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import FlowLayout, clear, column, held, row
from gui.window.widgets.page import Scroll

SHOWN_ROWS = 8
MUCH_ENLARGED = 0.5


class BucketsPanel(QWidget):
    """Histogram, table, suggestions and the trainer's own arithmetic.

    Args:
        icons: With the theme.
        checks: Knows how many steps the open plan makes.
    """

    files_changed = Signal()
    """Files of the dataset are other ones by now."""
    plan_wished = Signal(object, str)
    """Changes of the plan, and what they do in words."""

    def __init__(self, *, icons: Icons, checks: Checks) -> None:
        super().__init__()
        self.setObjectName("buckets-panel")
        self._theme = icons.theme
        self._checks = checks
        self._view: DatasetView | None = None
        self.dataset = Choice(name="buckets-dataset", words=_("Which dataset"))
        self._chips = FlowLayout()
        self.chart = BucketsChart(icons.theme)
        self._model = BucketTable()
        self.table = self._make_table()
        self._better = QVBoxLayout()
        self._better.setSpacing(Space.M)
        self.nothing = Label("", "muted")
        self.nothing.setObjectName("buckets-nothing")
        self.steps = Label("", "code", selectable=True)
        self.steps.setObjectName("buckets-steps")
        self._put_together()
        self.dataset.changed.connect(lambda _target: self._show())
        self.table.selectionModel().selectionChanged.connect(self._selected)
        self.chart.chosen.connect(self.table.selectRow)
        checks.changed.connect(self._show_steps)
        self._theme.changed.connect(self._restyle)
        self._restyle()

    def _make_table(self) -> QTableView:
        table = QTableView()
        table.setObjectName("buckets-table")
        table.setAccessibleName(_("Buckets"))
        table.setModel(self._model)
        table.setShowGrid(False)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setTabKeyNavigation(False)
        table.verticalHeader().hide()
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setTextElideMode(Qt.TextElideMode.ElideRight)
        for section in range(COLUMNS):
            header.setSectionResizeMode(section, QHeaderView.ResizeMode.Stretch)
        return table

    def _put_together(self) -> None:
        fill = Card(_("How the buckets are filled"), self.dataset, name="buckets-fill")
        fill.body.addWidget(held(self._chips))
        for part in (self.nothing, self.chart, self.table):
            fill.body.addWidget(part)
        self._suggestions = Card(_("What would do better"), name="buckets-better")
        self._suggestions.body.addLayout(self._better)
        self._arithmetic = Card(_("What the trainer will print"), name="buckets-arithmetic")
        self._arithmetic.body.addWidget(self.steps)
        inner = QWidget()
        content = column(fill, self._suggestions, self._arithmetic, None, spacing=Space.L)
        inner.setLayout(content)
        layout = column(Scroll(inner, name="buckets-scroll"))
        self.setLayout(layout)

    def show_view(self, view: DatasetView) -> None:
        """Show the buckets of a dataset."""
        self._view = view
        targets = [(each.target, _name(each, place)) for place, each in enumerate(self._all())]
        chosen = self.dataset.value()
        self.dataset.set_options(targets)
        self.dataset.show_value(chosen if chosen in dict(targets) else next(iter(dict(targets)), None))
        self.dataset.setVisible(len(targets) > 1)
        self._show()
        self._show_steps()

    def _all(self) -> tuple[DatasetBuckets, ...]:
        report = self._view.report if self._view else None
        return report.buckets if report else ()

    def _chosen(self) -> DatasetBuckets | None:
        return next((each for each in self._all() if each.target == self.dataset.value()), None)

    def _show(self) -> None:
        buckets = self._chosen()
        use = buckets.use if buckets else None
        self.chart.show_use(use)
        self._model.show_use(use)
        filled = use is not None and bool(use.buckets)
        self.chart.setVisible(filled)
        self.table.setVisible(filled)
        self.nothing.setText(_why_nothing(buckets))
        self.nothing.setVisible(not filled)
        clear(self._chips)
        for words, tone in _chips(use) if use is not None and filled else ():
            self._chips.addWidget(Chip(words, tone))
        self._show_suggestions(buckets)
        self._restyle()

    def _show_suggestions(self, buckets: DatasetBuckets | None) -> None:
        clear(self._better)
        use = buckets.use if buckets else None
        fixes = (
            [suggestion_fix(buckets.target, use, each) for each in buckets.suggestions]
            if buckets is not None and use is not None
            else []
        )
        self._suggestions.setVisible(bool(fixes))
        for fix in fixes:
            self._better.addWidget(self._suggestion(fix))

    def _suggestion(self, fix: Fix) -> QWidget:
        button = Button(_("Apply"), compact=True, name=f"buckets-apply-{fix.id}")
        button.setAccessibleName(f"{_('Apply')}: {fix.label}")
        button.setEnabled(self._view is not None and self._view.document is not None)
        button.clicked.connect(lambda _on=False: self.plan_wished.emit(fix.changes, fix.label))
        line = row(spacing=Space.M)
        line.addWidget(Label(fix.label[:1].upper() + fix.label[1:]), 1)
        line.addWidget(button)
        return held(line)

    def _show_steps(self) -> None:
        checked = self._checks.checked
        plans = self._view is not None and self._view.document is not None
        lines = header_lines(checked.view) if plans and checked is not None and checked.view else []
        self.steps.setText("\n".join(lines))
        self._arithmetic.setVisible(bool(lines))

    def _selected(self, _now: QItemSelection, _before: QItemSelection) -> None:
        rows = self.table.selectionModel().selectedRows()
        self.chart.mark(rows[0].row() if rows else -1)

    def _restyle(self) -> None:
        high = self._theme.px(30)
        self.table.verticalHeader().setDefaultSectionSize(high)
        shown = min(SHOWN_ROWS, self._model.rowCount())
        self.table.setFixedHeight(self.table.horizontalHeader().sizeHint().height() + shown * high + 4)


def _name(buckets: DatasetBuckets, place: int) -> str:
    width, height = buckets.resolution
    return _("Dataset {number} · {width} × {height}").format(number=place + 1, width=width, height=height)


def _why_nothing(buckets: DatasetBuckets | None) -> str:
    if buckets is None:
        return _("The training size is not known, so that no buckets can be made.")
    if buckets.use is None:
        return _("The trainer refuses these settings of the buckets.")
    return _("There are no images that could be put into buckets.")


def _chips(use: BucketUse) -> Iterator[tuple[str, Tone]]:
    batches = ngettext("{count} batch an epoch", "{count} batches an epoch", use.batches)
    yield batches.format(count=f"{use.batches:,}"), "neutral"
    if use.short_batches:
        words = _("{short} not full · {waste:.0%} of the places empty")
        text = words.format(short=f"{use.short_batches:,}", waste=use.wasted)
        yield text, "warn" if use.wasted >= 0.1 else "neutral"
    extra = use.batches - use.full_batches
    if extra:
        words = ngettext(
            "{count} step more than full batches need", "{count} steps more than full batches need", extra
        )
        yield words.format(count=f"{extra:,}"), "neutral"
    if use.enlarged:
        share = use.enlarged / max(1, use.images)
        words = _("{share:.0%} enlarged, at most {times:.2f} times")
        text = words.format(share=share, times=use.most_enlarged)
        yield text, "warn" if share >= MUCH_ENLARGED else "neutral"
    if use.lost >= 0.0005:
        yield _("{lost:.1%} of all pixels cut off").format(lost=use.lost), "neutral"
    if use.too_thin:
        words = ngettext(
            "{count} size is too thin: the trainer stops",
            "{count} sizes are too thin: the trainer stops",
            len(use.too_thin),
        )
        yield words.format(count=len(use.too_thin)), "bad"
