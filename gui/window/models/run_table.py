"""The runs of this machine as a table, and what of it is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, Qt

from gui.engine.runs.run_search import search_text
from gui.engine.texts import _
from gui.window.models.headed_table import NO_PARENT, HeadedTable
from gui.window.models.run_words import (
    chip_words,
    duration_words,
    family_words,
    loss_words,
    moment_words,
    name_of,
    sentence_of,
    steps_words,
)

if TYPE_CHECKING:
    from gui.engine.runs.run_entry import RunEntry

Index = QModelIndex | QPersistentModelIndex

ENTRY_ROLE = Qt.ItemDataRole.UserRole + 1


class RunColumn(IntEnum):
    """What stands beside each other."""

    STATE = 0
    NAME = 1
    FAMILY = 2
    STEPS = 3
    LOSS = 4
    DURATION = 5
    STARTED = 6


class RunTable(HeadedTable):
    """All runs, newest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: tuple[RunEntry, ...] = ()
        self._titles: Mapping[str, str] = {}

    @property
    def entries(self) -> tuple[RunEntry, ...]:
        """All runs."""
        return self._entries

    def show(self, entries: Sequence[RunEntry], titles: Mapping[str, str]) -> None:
        """Show other entries; where the same runs have only gone on, their rows change and nothing else.

        Args:
            entries: Newest first.
            titles: Of model families, by name.
        """
        fresh = tuple(entries)
        same = [each.name for each in fresh] == [each.name for each in self._entries]
        if not same or titles != self._titles:
            self.beginResetModel()
            self._entries, self._titles = fresh, titles
            self.endResetModel()
            return
        before, self._entries = self._entries, fresh
        for row, (old, new) in enumerate(zip(before, fresh, strict=True)):
            if old is not new and old != new:
                self.dataChanged.emit(self.index(row, 0), self.index(row, len(RunColumn) - 1))

    def rowCount(self, parent: Index = NO_PARENT) -> int:  # noqa: N802 - Qt's name
        """Return how many runs there are."""
        return 0 if parent.isValid() else len(self._entries)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return what a cell says."""
        if not index.isValid():
            return None
        entry, column = self._entries[index.row()], RunColumn(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return self.words(entry, column)
        if role == ENTRY_ROLE:
            return entry
        return self._told(entry, role)

    def headings(self) -> tuple[str, ...]:
        """Return what stands above the columns."""
        return _("Outcome"), _("Run"), _("Family"), _("Steps"), _("Last loss"), _("Took"), _("Started")

    def words(self, entry: RunEntry, column: RunColumn) -> str:
        """Return what a run says in a column."""
        if column == RunColumn.STATE:
            return chip_words(entry).text
        if column == RunColumn.NAME:
            return name_of(entry)
        if column == RunColumn.FAMILY:
            return family_words(entry, self._titles)
        if column == RunColumn.STEPS:
            return steps_words(entry)
        if column == RunColumn.LOSS:
            return loss_words(entry)
        return duration_words(entry) if column == RunColumn.DURATION else moment_words(entry.started)

    def search_words(self, entry: RunEntry) -> str:
        """Return all in which a search looks."""
        return search_text(entry, family_words(entry, self._titles))

    def _told(self, entry: RunEntry, role: int) -> str | None:
        """Return what is told under the pointer, and to those who do not see the table."""
        if role == Qt.ItemDataRole.ToolTipRole:
            tags = " ".join(f"#{tag}" for tag in entry.tags)
            told = (entry.name, sentence_of(entry), tags, entry.note, entry.trainer)
            return "\n".join(filter(None, told))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            star = _("favourite") if entry.favourite else ""
            return ", ".join(filter(None, (*(self.words(entry, each) for each in RunColumn), star)))
        return None

    def order_by(self, column: RunColumn) -> Callable[[RunEntry], float | str]:
        """Return what tells a run's place in the order of a column."""
        if column == RunColumn.STEPS:
            return lambda entry: _number(entry.step)
        if column == RunColumn.LOSS:
            return lambda entry: _number(entry.loss)
        if column == RunColumn.DURATION:
            return lambda entry: _number(entry.duration_seconds)
        if column == RunColumn.STARTED:
            # A run's name begins with its time, to the second; broken ones have nothing else.
            return lambda entry: entry.name if entry.name[:8].isdigit() else ""
        if column == RunColumn.STATE:
            return self._order_of_states()
        return lambda entry: self.words(entry, column).casefold()

    def _order_of_states(self) -> Callable[[RunEntry], str]:
        """Return the order of the words of outcomes, of which there are few."""
        known: dict[object, str] = {}

        def order(entry: RunEntry) -> str:
            kind = (entry.condition, entry.state, entry.verdict, entry.reason)
            if kind not in known:
                known[kind] = self.words(entry, RunColumn.STATE).casefold()
            return known[kind]

        return order


def _number(value: float | None) -> float:
    """Return a number for an order in which those that are not known come first."""
    return -1.0 if value is None else float(value)
