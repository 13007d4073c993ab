"""A list of files with a word about each, a few of them seen at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QListView

from gui.window.pages.data.caption_rows import STATE, CaptionRowLook
from gui.window.pages.data.caption_states import CaptionState
from gui.window.theme.theme import Theme

Index = QModelIndex | QPersistentModelIndex
SHOWN = 5


class FileRow(NamedTuple):
    """One file and a word about it."""

    name: str
    note: str


class FileRows(QAbstractListModel):
    """Files."""

    def __init__(self) -> None:
        super().__init__()
        self._files: Sequence[FileRow] = ()

    def show_files(self, files: Sequence[FileRow]) -> None:
        """Show other ones."""
        self.beginResetModel()
        self._files = files
        self.endResetModel()

    def rowCount(self, parent: Index | None = None) -> int:  # noqa: N802 - Qt's name
        """Return how many there are."""
        return 0 if parent is not None and parent.isValid() else len(self._files)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return what is shown of a file."""
        if not index.isValid():
            return None
        file = self._files[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return file.name
        if role == STATE:
            return CaptionState("", file.note, "neutral")
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"{file.name}: {file.note}"
        return None


class FileList(QListView):
    """As high as it has files, up to a few; more of them scroll.

    Args:
        theme: Gives colours and sizes.
        words: The accessible name.
        name: The object name.
    """

    def __init__(self, theme: Theme, words: str, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName(words)
        self.setUniformItemSizes(True)
        self._theme = theme
        self._rows = FileRows()
        self.setModel(self._rows)
        self._look = CaptionRowLook(theme)
        self.setItemDelegate(self._look)
        theme.changed.connect(self._fit)
        self.hide()

    def show_files(self, files: Sequence[FileRow]) -> None:
        """Show other files."""
        self._rows.show_files(files)
        self.setVisible(bool(files))
        self._fit()

    def _fit(self) -> None:
        count = self._rows.rowCount()
        self.setFixedHeight(min(SHOWN, max(1, count)) * self._theme.px(30) + 4)
