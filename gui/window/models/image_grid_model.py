"""The images of a dataset as a list for Qt: those that a filter lets through."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt

from gui.window.models.image_rows import ImageFilter, ImageRows
from gui.window.models.looked_images import LookedAt

Index = QModelIndex | QPersistentModelIndex
Words = Callable[[ImageRows, int], str]


class ImageGridModel(QAbstractListModel):
    """Rows that are shown; nothing but numbers is kept of them.

    Args:
        words: Says an image and what is wrong with it, for tooltips and screen readers.
    """

    def __init__(self, words: Words) -> None:
        super().__init__()
        self.rows = ImageRows(())
        self.filter = ImageFilter()
        self._words = words
        self._shown: Sequence[int] = ()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802 - Qt's name and default
        """Return how many are shown."""
        return 0 if parent.isValid() else len(self._shown)

    def row(self, number: int) -> int:
        """Return which of all images is shown at a place."""
        return self._shown[number]

    def number_of(self, path: Path) -> int | None:
        """Return at which place a file is shown; None where it is not."""
        row = self.rows.row_at(path)
        if row is None:
            return None
        number = bisect_left(self._shown, row)
        return number if number < len(self._shown) and self._shown[number] == row else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return an image's name, or its words."""
        if not index.isValid() or index.row() >= len(self._shown):
            return None
        row = self._shown[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self.rows.name(row)
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._words(self.rows, row)
        return None

    def show_rows(self, rows: ImageRows) -> None:
        """Show other images."""
        self.beginResetModel()
        self.rows = rows
        self._shown = rows.shown(self.filter)
        self.endResetModel()

    def show_filter(self, wanted: ImageFilter) -> None:
        """Let others through."""
        if wanted != self.filter:
            self.filter = wanted
            self.show_rows(self.rows)

    def learn(self, images: Iterable[LookedAt]) -> set[int]:
        """Take what was found out about images; what a filter lets through stays as it is for now.

        Returns:
            Which of all images look otherwise now. Nobody else is told: of 100,000 few are in sight.
        """
        return self.rows.learn(images)
