"""Tables whose rows have two lines: a wide column with names, and others as wide as what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QAbstractItemModel, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from gui.window.theme.theme import Theme
from gui.window.widgets.row_delegate import ROW_PX, RowDelegate


class RowColumns(NamedTuple):
    """The columns of such a table.

    Attributes:
        every: All of them, from the left.
        name: The one that has the room that is left.
        least_name_px: So much it has in any case.
        less_needed: In this order others are left out where it would have less.
    """

    every: Sequence[int]
    name: int
    least_name_px: int
    less_needed: Sequence[int]


class RowTable(QTableView):
    """The table; sub-classes tell how wide a column wants to be, and call ``measure`` once they are made.

    Args:
        theme: Colours, fonts and sizes.
        delegate: Draws the cells.
        model: What is shown.
        columns: What stands beside each other.
    """

    opened = Signal()
    """What the current row stands for is to be opened: by Enter or a double click."""
    remove_wanted = Signal()
    """What the current row stands for is to be taken away: by Delete."""

    def __init__(
        self, theme: Theme, delegate: RowDelegate, model: QAbstractItemModel, columns: RowColumns
    ) -> None:
        super().__init__()
        self._theme = theme
        self._delegate = delegate
        self._columns = columns
        self.setItemDelegate(delegate)
        self.setModel(model)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setHighlightSections(False)
        self.doubleClicked.connect(self.opened)
        theme.changed.connect(self.measure)

    def wanted_width(self, column: int) -> int:
        """Return how wide a column would like to be, in pixels of the screen."""
        raise NotImplementedError

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Open by Enter, take away by Delete."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit()
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.remove_wanted.emit()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Show as many columns as there is room for."""
        super().resizeEvent(event)
        self._choose_columns()

    def measure(self) -> None:
        """Make columns as wide as what is in them; the name has the rest."""
        self.verticalHeader().setDefaultSectionSize(self._theme.px(ROW_PX))
        header = self.horizontalHeader()
        for column in self._columns.every:
            stretches = column == self._columns.name
            mode = QHeaderView.ResizeMode.Stretch if stretches else QHeaderView.ResizeMode.Fixed
            header.setSectionResizeMode(column, mode)
            if not stretches:
                header.resizeSection(column, self.wanted_width(column))
        self._choose_columns()

    def _choose_columns(self) -> None:
        columns = self._columns
        widths = {each: self.wanted_width(each) for each in columns.every if each != columns.name}
        room = self.width() - self._theme.px(columns.least_name_px) - sum(widths.values())
        for column in columns.less_needed:
            self.setColumnHidden(column, room < 0)
            room += widths[column] if room < 0 else 0
