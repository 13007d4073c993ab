"""The list of all arguments: its keys and its clicks."""

from __future__ import annotations

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QListView

from gui.engine.texts import _
from gui.window.models.argument_rows import ArgumentRow
from gui.window.models.arguments_filter import ArgumentsFilter
from gui.window.models.arguments_model import ROW_ROLE, ArgumentsModel, Index
from gui.window.pages.arguments.delegate import ArgumentDelegate
from gui.window.theme.theme import Theme

_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2)
_REMOVE = (Qt.Key.Key_Delete, Qt.Key.Key_Backspace)


class ArgumentList(QListView):
    """Rows that are chosen here and edited in the panel beside.

    Args:
        theme: Colours, fonts and sizes.
        model: All rows.
        left: The rows that a search leaves.
    """

    row_changed = Signal(object)
    """The current `ArgumentRow`, or None."""
    edit_wanted = Signal()
    toggle_wanted = Signal(object)
    reset_wanted = Signal()
    copy_wanted = Signal()

    def __init__(self, theme: Theme, model: ArgumentsModel, left: ArgumentsFilter) -> None:
        super().__init__()
        self.setObjectName("arguments-list")
        self.setAccessibleName(_("All arguments"))
        self._rows = left
        self._delegate = ArgumentDelegate(theme, model)
        self.setModel(left)
        self.setItemDelegate(self._delegate)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabKeyNavigation(False)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        theme.changed.connect(self.doItemsLayout)

    def current_row(self) -> ArgumentRow | None:
        """Return the row that has the keyboard."""
        return self._row_at(self.currentIndex())

    def chosen_rows(self) -> list[ArgumentRow]:
        """Return the selected rows in the order of the list."""
        rows = (self._row_at(index) for index in sorted(self.selectedIndexes()))
        return [row for row in rows if row is not None]

    def choose(self, index: QModelIndex) -> None:
        """Select one row only, and scroll to it."""
        self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        above = index.siblingAtRow(index.row() - 1)
        if above.isValid() and not above.flags() & Qt.ItemFlag.ItemIsSelectable:
            self.scrollTo(above, QAbstractItemView.ScrollHint.EnsureVisible)  # its heading with it
        self.scrollTo(index, QAbstractItemView.ScrollHint.EnsureVisible)

    def keep_in_sight(self) -> None:
        """Scroll to the current row after the list became smaller."""
        if self.currentIndex().isValid():
            self.scrollTo(self.currentIndex(), QAbstractItemView.ScrollHint.EnsureVisible)

    def currentChanged(self, current: Index, previous: Index) -> None:  # noqa: N802 - Qt's name
        """Tell which row is the one now."""
        super().currentChanged(current, previous)
        self.row_changed.emit(self._row_at(current))

    def selectionChanged(self, now: QItemSelection, before: QItemSelection) -> None:  # noqa: N802 - Qt's name
        """Draw again."""
        super().selectionChanged(now, before)
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Enter edits, Space switches, Delete takes back, Ctrl+C copies."""
        row = self.current_row()
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_wanted.emit()
        elif row is None:
            super().keyPressEvent(event)
        elif event.key() in _ENTER:
            self.edit_wanted.emit()
        elif event.key() == Qt.Key.Key_Space and row.kind == "switch":
            self.toggle_wanted.emit(row)
        elif event.key() in _REMOVE:
            self.reset_wanted.emit()
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """A click on a value edits it, or turns its switch."""
        super().mouseReleaseEvent(event)
        plain = event.modifiers() == Qt.KeyboardModifier.NoModifier
        place = event.position().toPoint()
        index = self.indexAt(place)
        row = self._row_at(index)
        if row is None or not plain or event.button() != Qt.MouseButton.LeftButton:
            return
        if self._delegate.places(self.visualRect(index)).value.contains(place):
            if row.kind == "switch":
                self.toggle_wanted.emit(row)
            else:
                self.edit_wanted.emit()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Edit."""
        super().mouseDoubleClickEvent(event)
        row = self._row_at(self.indexAt(event.position().toPoint()))
        if row is not None and row.kind != "switch":
            self.edit_wanted.emit()

    @staticmethod
    def _row_at(index: Index) -> ArgumentRow | None:
        row = index.data(ROW_ROLE) if index.isValid() else None
        return row if isinstance(row, ArgumentRow) and not row.is_heading else None
