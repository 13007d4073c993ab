"""The table of runs: rows of two lines, with a chip in front."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFontMetrics, QPainter
from PySide6.QtWidgets import QAbstractItemView

from gui.engine.texts import _
from gui.window.models.run_table import ENTRY_ROLE, RunColumn
from gui.window.models.run_words import chip_words, marked_name, noted_sentence
from gui.window.models.shown_runs import ShownRuns
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.row_delegate import CHIP_INSIDE_PX, RowDelegate
from gui.window.widgets.row_table import RowColumns, RowTable

if TYPE_CHECKING:
    from gui.engine.runs.run_entry import RunEntry

COLUMNS = RowColumns(
    every=tuple(RunColumn),
    name=RunColumn.NAME,
    least_name_px=230,
    less_needed=(
        RunColumn.FAMILY,
        RunColumn.DURATION,
        RunColumn.LOSS,
        RunColumn.STEPS,
        RunColumn.STARTED,
    ),
)
WIDEST_PX = 260
MEASURED_ROWS = 200


class RunView(RowTable):
    """The table.

    Args:
        theme: Colours, fonts and sizes.
        shown: What it shows.
    """

    menu_wanted = Signal(object)
    """Global `QPoint` at which a menu about the current run is to appear."""

    def __init__(self, theme: Theme, shown: ShownRuns) -> None:
        super().__init__(theme, RunDelegate(theme), shown, COLUMNS)
        self.setObjectName("runs-table")
        self.setAccessibleName(_("Runs"))
        self._shown = shown
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setMouseTracking(True)
        header = self.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(RunColumn.STARTED, Qt.SortOrder.DescendingOrder)
        self.setSortingEnabled(True)
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

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 - Qt's name
        """Offer what can be done with the run under the pointer."""
        self.menu_wanted.emit(event.globalPos())

    def wanted_width(self, column: int) -> int:
        """Return how wide a column would like to be, in pixels of the screen."""
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
