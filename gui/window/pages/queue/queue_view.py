"""The table of the queue: rows of two lines that are dragged, or moved by Alt+Up and Alt+Down."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView

from gui.engine.runs.queue_items import QueueItem
from gui.engine.texts import _
from gui.window.models.queue_table import ITEM_ROLE, QueueColumn, QueueTable, chip_of
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.row_delegate import CHIP_INSIDE_PX, ROW_PX, RowDelegate
from gui.window.widgets.row_table import RowColumns, RowTable

LEAST_ROWS = 4
"""With the heading; where there is room for less, the page scrolls."""
WIDEST_PX = 240
COLUMNS = RowColumns(
    every=tuple(QueueColumn),
    name=QueueColumn.NAME,
    least_name_px=300,
    less_needed=(QueueColumn.START, QueueColumn.LANE),
)


class QueueView(RowTable):
    """The table.

    Args:
        theme: Colours, fonts and sizes.
        table: What it shows.
    """

    moved = Signal(int)
    """The current item is to go up (-1) or down (1)."""

    def __init__(self, theme: Theme, table: QueueTable) -> None:
        super().__init__(theme, QueueDelegate(theme), table, COLUMNS)
        self.setObjectName("queue-table")
        self.setAccessibleName(_("Queue"))
        self._table = table
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDragDropOverwriteMode(False)
        self.setDropIndicatorShown(True)
        self.horizontalHeader().setSectionsClickable(False)
        self.measure()

    def current_item(self) -> QueueItem | None:
        """Return the item that is selected."""
        index = self.currentIndex()
        return index.data(ITEM_ROLE) if index.isValid() else None

    def select(self, number: int, otherwise_row: int = 0) -> None:
        """Select an item; one in its place where it is gone."""
        rows, found = self._table.rowCount(), self._table.row_of(number)
        if rows:
            row = min(otherwise_row, rows - 1) if found is None else found
            self.setCurrentIndex(self._table.index(row, QueueColumn.NAME))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Move by Alt and an arrow, beside what all tables do."""
        alt = event.modifiers() & Qt.KeyboardModifier.AltModifier
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down) and alt:
            self.moved.emit(-1 if event.key() == Qt.Key.Key_Up else 1)
        else:
            super().keyPressEvent(event)

    def measure(self) -> None:
        """Measure the columns, and keep room for a few rows."""
        self.setMinimumHeight(self._theme.px(LEAST_ROWS * ROW_PX))
        super().measure()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Show as many columns as there is room for, and the current item."""
        super().resizeEvent(event)
        self.scrollTo(self.currentIndex())

    def wanted_width(self, column: int) -> int:
        """Return how wide a column would like to be, in pixels of the screen."""
        table = self._table
        texts = [str(table.index(row, column).data() or "") for row in range(table.rowCount())]
        texts.append(str(table.headerData(column, Qt.Orientation.Horizontal)))
        chip = column == QueueColumn.STATE
        font = self._theme.font("small" if chip else "body")
        font.setBold(chip)
        metrics = QFontMetrics(font)
        widest = max(metrics.horizontalAdvance(f"■ {text}" if chip else text) for text in texts)
        margins = self._theme.px(2 * Space.S + Space.XS + (2 * CHIP_INSIDE_PX if chip else 0))
        return min(self._theme.px(WIDEST_PX), widest + margins)


class QueueDelegate(RowDelegate):
    """Draws the cells."""

    def draw_cell(self, painter: QPainter, place: QRect, index: QModelIndex | QPersistentModelIndex) -> None:
        """Draw what a cell says."""
        item: QueueItem = index.data(ITEM_ROLE)
        if index.column() == QueueColumn.STATE:
            self.draw_chip(painter, place, chip_of(item))
        elif index.column() == QueueColumn.NAME:
            self.draw_name(painter, place, item.name, str(index.data(Qt.ItemDataRole.ToolTipRole) or ""))
        else:
            self.write(painter, place, str(index.data() or ""), "body", "muted")
