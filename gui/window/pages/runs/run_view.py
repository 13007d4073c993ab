"""The table of runs: rows of two lines, with a chip in front."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFontMetrics, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QTableView,
)

from gui.engine.texts import _
from gui.window.models.run_table import ENTRY_ROLE, RunColumn
from gui.window.models.run_words import chip_words, marked_name, noted_sentence
from gui.window.models.shown_runs import ShownRuns
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.row_delegate import CHIP_INSIDE_PX, ROW_PX, RowDelegate

if TYPE_CHECKING:
    from gui.engine.runs.listing import RunEntry

LEAST_NAME_PX = 230
WIDEST_PX = 260
LESS_NEEDED = (RunColumn.FAMILY, RunColumn.DURATION, RunColumn.LOSS, RunColumn.STEPS, RunColumn.STARTED)
"""In this order columns are left out where the name would have too little room."""
MEASURED_ROWS = 200


class RunView(QTableView):
    """The table.

    Args:
        theme: Colours, fonts and sizes.
        shown: What it shows.
    """

    opened = Signal()
    """The current run is to be opened: by Enter or a double click."""
    delete_wanted = Signal()
    menu_wanted = Signal(object)
    """Global `QPoint` at which a menu about the current run is to appear."""

    def __init__(self, theme: Theme, shown: ShownRuns) -> None:
        super().__init__()
        self.setObjectName("runs-table")
        self.setAccessibleName(_("Runs"))
        self._theme = theme
        self._delegate = RunDelegate(theme)
        self.setItemDelegate(self._delegate)
        self._shown = shown
        self.setModel(shown)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(RunColumn.STARTED, Qt.SortOrder.DescendingOrder)
        self.setSortingEnabled(True)
        self.doubleClicked.connect(self.opened)
        theme.changed.connect(self.measure)
        self.measure()

    def current_entry(self) -> RunEntry | None:
        """Return the run that is selected."""
        index = self.currentIndex()
        return index.data(ENTRY_ROLE) if index.isValid() else None

    def chosen_entries(self) -> list[RunEntry]:
        """Return all runs that are selected, in the order of their rows."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        return [self._shown.index(row, RunColumn.NAME).data(ENTRY_ROLE) for row in rows]

    def select(self, name: str, otherwise_row: int = 0, also: Collection[str] = ()) -> None:
        """Select a run by its name; one in its place where it is not shown.

        Args:
            name: The run's.
            otherwise_row: Its place.
            also: Names of others that are selected with it.
        """
        shown = self._shown
        rows, found = shown.rowCount(), shown.row_of(name)
        if not rows:
            return
        row = min(otherwise_row, rows - 1) if found is None else found
        kind = QItemSelectionModel.SelectionFlag
        # The view's own way would heed the keys that happen to be held now.
        model, flags = self.selectionModel(), kind.Select | kind.Rows
        model.setCurrentIndex(shown.index(row, RunColumn.NAME), kind.Clear | flags)
        for other in also:
            place = shown.row_of(other)
            if place is not None and place != row:
                model.select(shown.index(place, RunColumn.NAME), flags)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Open by Enter, delete by Delete."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit()
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.delete_wanted.emit()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 - Qt's name
        """Offer what can be done with the run under the pointer."""
        self.menu_wanted.emit(event.globalPos())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Show as many columns as there is room for."""
        super().resizeEvent(event)
        self._choose_columns()

    def measure(self) -> None:
        """Make columns as wide as what is in them."""
        self.verticalHeader().setDefaultSectionSize(self._theme.px(ROW_PX))
        header = self.horizontalHeader()
        for column in RunColumn:
            stretches = column == RunColumn.NAME
            mode = QHeaderView.ResizeMode.Stretch if stretches else QHeaderView.ResizeMode.Fixed
            header.setSectionResizeMode(column, mode)
            if not stretches:
                header.resizeSection(column, self._wanted_width(column))
        self._choose_columns()

    def _wanted_width(self, column: RunColumn) -> int:
        model = self.model()
        rows = min(model.rowCount(), MEASURED_ROWS)
        texts = {str(model.index(row, column).data() or "") for row in range(rows)}
        metrics = QFontMetrics(self._theme.font("strong" if column == RunColumn.STATE else "body"))
        margins = self._theme.px(2 * Space.S + Space.XS)
        if column == RunColumn.STATE:
            margins += self._theme.px(2 * CHIP_INSIDE_PX) + metrics.horizontalAdvance("■ ")
            metrics = QFontMetrics(self._theme.font("small"))
        widest = max((metrics.horizontalAdvance(text) for text in texts), default=0)
        heading = str(model.headerData(column, Qt.Orientation.Horizontal))
        small = QFontMetrics(self._theme.font("small")).horizontalAdvance(heading) + self._theme.px(Space.XL)
        # Bold letters are a tenth wider than what was measured.
        wanted = widest * (1.15 if column == RunColumn.STATE else 1.0) + margins
        return round(min(self._theme.px(WIDEST_PX), max(wanted, small + margins)))

    def _choose_columns(self) -> None:
        widths: dict[RunColumn, int] = {
            each: self._wanted_width(each) for each in RunColumn if each != RunColumn.NAME
        }
        room = self.width() - self._theme.px(LEAST_NAME_PX) - sum(widths.values())
        for column in LESS_NEEDED:
            self.setColumnHidden(column, room < 0)
            room += widths[column] if room < 0 else 0


class RunDelegate(RowDelegate):
    """Draws the cells."""

    def draw_cell(self, painter: QPainter, place: QRect, index: QModelIndex | QPersistentModelIndex) -> None:
        """Draw what a cell says."""
        entry: RunEntry = index.data(ENTRY_ROLE)
        if index.column() == RunColumn.STATE:
            self.draw_chip(painter, place, chip_words(entry))
        elif index.column() == RunColumn.NAME:
            self.draw_name(painter, place, marked_name(entry), noted_sentence(entry))
        else:
            self.write(painter, place, str(index.data() or ""), "body", "muted")
