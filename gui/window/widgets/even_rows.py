"""Rows of lists that are all as large as each other, so that none has to be measured."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from gui.window.theme.theme import Theme


class EvenRows(QStyledItemDelegate):
    """What sub-classes draw.

    Args:
        theme: Gives colours and sizes.
        width_px: The least that a row needs, at the theme's own scale.
        height_px: Of a row, likewise.
    """

    def __init__(self, theme: Theme, width_px: int, height_px: int) -> None:
        super().__init__()
        self._theme = theme
        self._width_px, self._height_px = width_px, height_px

    def sizeHint(  # noqa: N802 - Qt's name
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """Return the size of each."""
        del option, index
        return QSize(self._theme.px(self._width_px), self._theme.px(self._height_px))
