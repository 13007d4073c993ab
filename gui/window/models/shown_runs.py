"""The runs of one kind in which some words occur, in the order that the user wants."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from gui.engine.runs.run_search import RunFilter
from gui.window.models.headed_table import NO_PARENT
from gui.window.models.run_table import RunColumn, RunTable

if TYPE_CHECKING:
    from gui.engine.runs.run_entry import RunEntry

Index = QModelIndex | QPersistentModelIndex


class ShownRuns(QAbstractTableModel):
    """What of the table is shown.

    Qt's own filter asks the model for each comparison that sorting makes: with ten thousand runs the
    window stood still for seconds. Here each run's place in an order is found once.

    Args:
        table: All runs.
    """

    def __init__(self, table: RunTable) -> None:
        super().__init__()
        self._table = table
        self._filter = RunFilter()
        self._column = RunColumn.STARTED
        self._order = Qt.SortOrder.DescendingOrder
        self._rows: list[int] = []
        self._places: dict[str, int] = {}
        self._search: dict[str, tuple[RunEntry, str]] = {}
        table.modelReset.connect(self._reset)
        table.dataChanged.connect(self._changed)

    def row_of(self, name: str) -> int | None:
        """Return the row of a run; None where it is not shown."""
        return self._places.get(name)

    def choose(self, wanted: RunFilter) -> None:
        """Show other ones."""
        if wanted != self._filter:
            self._filter = wanted
            self._reset()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Show them in another order; a column below zero stands for the table's own."""
        self._column = RunColumn(column) if column >= 0 else RunColumn.STARTED
        self._order = order if column >= 0 else Qt.SortOrder.DescendingOrder
        self._arrange(self._find())

    def rowCount(self, parent: Index = NO_PARENT) -> int:  # noqa: N802 - Qt's name
        """Return how many runs are shown."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = NO_PARENT) -> int:  # noqa: N802 - Qt's name
        """Return how many columns there are."""
        return 0 if parent.isValid() else len(RunColumn)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return what a cell says."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        return self._table.data(self._table.index(self._rows[index.row()], index.column()), role)

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return what stands above a column."""
        return self._table.headerData(section, orientation, role)

    def _reset(self) -> None:
        self.beginResetModel()
        self._take(self._find())
        self.endResetModel()

    def _changed(self, first: QModelIndex, last: QModelIndex) -> None:
        """Show what has changed in some runs; they may belong elsewhere now, or nowhere."""
        rows = self._find()
        if len(rows) != len(self._rows) or set(rows) != set(self._rows):
            self._reset()
            return
        if rows != self._rows:
            self._arrange(rows)
        for row in range(first.row(), last.row() + 1):
            place = self._places.get(self._table.entries[row].name)
            if place is not None:
                self.dataChanged.emit(self.index(place, 0), self.index(place, len(RunColumn) - 1))

    def _arrange(self, rows: list[int]) -> None:
        """Show the same runs in another order; what is selected stays so."""
        self.layoutAboutToBeChanged.emit()
        kept = self.persistentIndexList()
        names = [self._table.entries[self._rows[index.row()]].name for index in kept]
        self._take(rows)
        moved = [
            self.index(self._places[name], index.column()) if name in self._places else QModelIndex()
            for name, index in zip(names, kept, strict=True)
        ]
        self.changePersistentIndexList(kept, moved)
        self.layoutChanged.emit()

    def _take(self, rows: list[int]) -> None:
        self._rows = rows
        self._places = {self._table.entries[row].name: place for place, row in enumerate(rows)}

    def _find(self) -> list[int]:
        """Return the rows of the table that are shown, in their order."""
        entries = self._table.entries
        rows = [row for row, entry in enumerate(entries) if self._is_wanted(entry)]
        key: Callable[[RunEntry], object] = self._table.order_by(self._column)
        keys = {row: key(entries[row]) for row in rows}
        rows.sort(key=keys.__getitem__, reverse=self._order == Qt.SortOrder.DescendingOrder)  # type: ignore[arg-type]
        return rows

    def _is_wanted(self, entry: RunEntry) -> bool:
        if not self._filter.takes(entry):
            return False
        if not self._filter.words:
            return True
        known = self._search.get(entry.name)
        if known is None or known[0] is not entry:
            known = self._search[entry.name] = (entry, self._table.search_words(entry))
        return self._filter.finds(known[1])
