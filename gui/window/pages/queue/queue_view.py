"""The table of the queue: rows of two lines that are dragged, or moved by Alt+Up and Alt+Down."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from gui.engine.runs.queue_items import QueueItem
from gui.engine.texts import _
from gui.window.models.queue_table import ITEM_ROLE, QueueColumn, QueueTable, chip_of
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.row_delegate import CHIP_INSIDE_PX, ROW_PX, RowDelegate

LEAST_ROWS = 4
"""With the heading; where there is room for less, the page scrolls."""
WIDEST_PX = 240
LEAST_NAME_PX = 300
LESS_NEEDED = (QueueColumn.START, QueueColumn.LANE)
"""In this order columns are left out where the plan would have too little room."""


class QueueView(QTableView):
    """The table.

    Args:
        theme: Colours, fonts and sizes.
        table: What it shows.
    """

    opened = Signal()
    """The run of the current item is to be opened: by Enter or a double click."""
    remove_wanted = Signal()
    moved = Signal(int)
    """The current item is to go up (-1) or down (1)."""

    def __init__(self, theme: Theme, table: QueueTable) -> None:
        super().__init__()
        self.setObjectName("queue-table")
        self.setAccessibleName(_("Queue"))
        self._theme = theme
        self._table = table
        self._delegate = QueueDelegate(theme)
        self.setItemDelegate(self._delegate)
        self.setModel(table)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDragDropOverwriteMode(False)
        self.setDropIndicatorShown(True)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        self.doubleClicked.connect(self.opened)
        theme.changed.connect(self.measure)
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
        """Open by Enter, remove by Delete, move by Alt and an arrow."""
        alt = event.modifiers() & Qt.KeyboardModifier.AltModifier
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down) and alt:
            self.moved.emit(-1 if event.key() == Qt.Key.Key_Up else 1)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit()
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.remove_wanted.emit()
        else:
            super().keyPressEvent(event)

    def measure(self) -> None:
        """Make columns as wide as what is in them; the plan has the rest."""
        self.verticalHeader().setDefaultSectionSize(self._theme.px(ROW_PX))
        self.setMinimumHeight(self._theme.px(LEAST_ROWS * ROW_PX))
        header = self.horizontalHeader()
        for column in QueueColumn:
            stretches = column == QueueColumn.NAME
            mode = QHeaderView.ResizeMode.Stretch if stretches else QHeaderView.ResizeMode.Fixed
            header.setSectionResizeMode(column, mode)
            if not stretches:
                header.resizeSection(column, self._wanted_width(column))
        self._choose_columns()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Show as many columns as there is room for, and the current item."""
        super().resizeEvent(event)
        self._choose_columns()
        self.scrollTo(self.currentIndex())

    def _choose_columns(self) -> None:
        widths: dict[QueueColumn, int] = {
            each: self._wanted_width(each) for each in QueueColumn if each != QueueColumn.NAME
        }
        room = self.width() - self._theme.px(LEAST_NAME_PX) - sum(widths.values())
        for column in LESS_NEEDED:
            self.setColumnHidden(column, room < 0)
            room += widths[column] if room < 0 else 0

    def _wanted_width(self, column: QueueColumn) -> int:
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
