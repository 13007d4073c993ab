"""Leaves of all arguments what a search and a filter want."""

from __future__ import annotations

from PySide6.QtCore import QObject, QSortFilterProxyModel

from gui.window.models.arguments_model import ArgumentsModel, Index, Only


class ArgumentsFilter(QSortFilterProxyModel):
    """The rows that a search and a filter leave; a row stays until another search, whatever is typed in it.

    Args:
        model: All rows.
    """

    def __init__(self, model: ArgumentsModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._search = ""
        self._only: Only = "all"
        self._left: set[str] | None = None
        model.restructuring.connect(self._forget)
        self.setSourceModel(model)

    @property
    def only(self) -> Only:
        """The filter."""
        return self._only

    def look_for(self, search: str, only: Only) -> None:
        """Leave other rows."""
        self._search, self._only = search, only
        self._left = None
        self.invalidate()

    def filterAcceptsRow(self, place: int, parent: Index) -> bool:  # noqa: N802 - Qt's name
        """Whether a row is left."""
        del parent
        if self._left is None:
            self._left = self._model.matching(self._search, self._only)
        return self._model.rows[place].target in self._left

    def _forget(self) -> None:
        self._left = None
