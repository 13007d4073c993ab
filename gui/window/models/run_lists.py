"""What a run's lists show: what happened, newest first, and the files that it saved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gui.engine.texts import _

Index = QModelIndex | QPersistentModelIndex


class LineRole(IntEnum):
    """What the delegate asks of a model."""

    LINE = Qt.ItemDataRole.UserRole + 1


@dataclass(frozen=True)
class Line:
    """One line of a list.

    Attributes:
        text: What is said.
        tone: ``plain``, ``good``, ``warn`` or ``bad``.
        time: Before it, as ``mm:ss``.
        small: Below it.
        chip: After it, in a word or two.
        tip: In the tooltip.
        strong: Whether it stands out.
        struck: Whether it is no longer there.
        step: The step that it belongs to.
        key: For whoever wants to do something with it.
    """

    text: str
    tone: str = "plain"
    time: str = ""
    small: str = ""
    chip: str = ""
    tip: str = ""
    strong: bool = False
    struck: bool = False
    step: int | None = None
    key: Any = None


def mark_of(tone: str) -> str:
    """Return the mark of a tone: nothing is told by colour alone."""
    return {"good": "✓", "warn": "!", "bad": "×"}.get(tone, "·")


class LineModel(QAbstractListModel):
    """Lines in a list; the newest is at the top.

    Args:
        most: So many lines are kept.
    """

    def __init__(self, most: int = 5000, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._most = most
        self._lines: list[Line] = []

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802 - Qt's name and default
        """Return how many lines there are."""
        return 0 if parent.isValid() else len(self._lines)

    def line(self, row: int) -> Line:
        """Return a line."""
        return self._lines[row]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a line, or its words."""
        if not index.isValid() or index.row() >= len(self._lines):
            return None
        line = self._lines[index.row()]
        if role == LineRole.LINE:
            return line
        if role == Qt.ItemDataRole.DisplayRole:
            return line.text
        if role == Qt.ItemDataRole.ToolTipRole:
            return line.tip or None
        if role == Qt.ItemDataRole.AccessibleTextRole:
            gone = _("no longer there") if line.struck else ""
            parts = (line.time, line.text, line.small, line.chip, gone)
            return ", ".join(part for part in parts if part)
        return None

    def add(self, lines: Iterable[Line]) -> None:
        """Put newer lines at the top, the last one first."""
        newer = list(lines)[::-1][: self._most]
        if not newer:
            return
        self.beginInsertRows(QModelIndex(), 0, len(newer) - 1)
        self._lines[:0] = newer
        self.endInsertRows()
        if len(self._lines) > self._most:
            self.beginRemoveRows(QModelIndex(), self._most, len(self._lines) - 1)
            del self._lines[self._most :]
            self.endRemoveRows()

    def replace_newest(self, line: Line) -> None:
        """Show another line at the top."""
        self._lines[0] = line
        place = self.index(0, 0)
        self.dataChanged.emit(place, place)

    def show(self, lines: Sequence[Line]) -> None:
        """Show these instead, and change no more than what is other than before."""
        if lines == self._lines:
            return
        if len(lines) != len(self._lines):
            self.beginResetModel()
            self._lines = list(lines)
            self.endResetModel()
            return
        for row, line in enumerate(lines):
            if line != self._lines[row]:
                self._lines[row] = line
                place = self.index(row, 0)
                self.dataChanged.emit(place, place)

    def clear(self) -> None:
        """Take all lines away."""
        self.show([])
