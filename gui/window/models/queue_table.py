"""The queue as a table: rows that can be put into another order by dragging."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import IntEnum

from PySide6.QtCore import (
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from gui.engine.runs.queue_hours import hour_words
from gui.engine.runs.queue_items import Queue, QueueBoard, QueueItem
from gui.engine.runs.queue_lanes import lane_words, lanes_of_item
from gui.engine.runs.queue_words import sentence_of, state_words
from gui.engine.texts import _
from gui.window.models.headed_table import NO_PARENT, HeadedTable
from gui.window.models.run_words import ChipWords

Index = QModelIndex | QPersistentModelIndex

ITEM_ROLE = Qt.ItemDataRole.UserRole + 1
ROW_MIME = "application/x-kohya-preflight-queue"
"""What is dragged is an item's number."""

_TONES = {"plain": "neutral", "good": "good", "warn": "warn", "bad": "bad"}


class QueueColumn(IntEnum):
    """What stands beside each other."""

    STATE = 0
    NAME = 1
    LANE = 2
    START = 3


class QueueTable(HeadedTable):
    """All items, in the order in which they are to run."""

    moved = Signal(int, int)
    """An item was dragged: its number, and its new place, counted from 0."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._queue = Queue(QueueBoard())
        self._now = datetime.now()

    @property
    def items(self) -> tuple[QueueItem, ...]:
        """All of them."""
        return self._queue.items

    def show(self, queue: Queue, now: datetime) -> None:
        """Show another queue; where the same items have only gone on, their rows change and nothing else.

        Args:
            queue: All of it.
            now: Local time.
        """
        same = [item.number for item in queue.items] == [item.number for item in self.items]
        if not same:
            self.beginResetModel()
        self._queue, self._now = queue, now
        if not same:
            self.endResetModel()
        elif self.items:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.items) - 1, len(QueueColumn) - 1))

    def row_of(self, number: int) -> int | None:
        """Return where an item stands; None where it is not there."""
        return next((row for row, item in enumerate(self.items) if item.number == number), None)

    def rowCount(self, parent: Index = NO_PARENT) -> int:  # noqa: N802 - Qt's name
        """Return how many items there are."""
        return 0 if parent.isValid() else len(self.items)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return what a cell says."""
        if not index.isValid():
            return None
        item = self.items[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._words(item, QueueColumn(index.column()))
        if role == ITEM_ROLE:
            return item
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.sentence(item)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            words = [self._words(item, column) for column in QueueColumn]
            return ", ".join(filter(None, [*words, self.sentence(item)]))
        return None

    def headings(self) -> tuple[str, ...]:
        """Return what stands above the columns."""
        return _("State"), _("Plan"), _("Trains on"), _("Starts")

    def sentence(self, item: QueueItem) -> str:
        """Return how an item ended, or what it waits for."""
        return sentence_of(item, self._queue, self._now)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Let rows be dragged, and dropped between others."""
        flags = super().flags(index)
        return flags | (Qt.ItemFlag.ItemIsDragEnabled if index.isValid() else Qt.ItemFlag.ItemIsDropEnabled)

    def supportedDropActions(self) -> Qt.DropAction:  # noqa: N802 - Qt's name
        """Rows are moved."""
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:  # noqa: N802 - Qt's name
        """Return what can be dropped."""
        return [ROW_MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:  # noqa: N802 - Qt's name
        """Return what is dragged."""
        data = QMimeData()
        if indexes:
            data.setData(ROW_MIME, str(self.items[indexes[0].row()].number).encode())
        return data

    def dropMimeData(  # noqa: N802 - Qt's name
        self, data: QMimeData, action: Qt.DropAction, row: int, column: int, parent: Index
    ) -> bool:
        """Tell where a row was dropped; it moves when the queue says so."""
        del action, column, parent
        number = int(bytes(data.data(ROW_MIME).data()) or 0)
        before = self.row_of(number)
        if before is None:
            return False
        place = len(self.items) if row < 0 else row
        self.moved.emit(number, place - 1 if place > before else place)
        return False  # else the view would take the dragged row away itself

    def _words(self, item: QueueItem, column: QueueColumn) -> str:
        if column == QueueColumn.STATE:
            return chip_of(item).text
        if column == QueueColumn.NAME:
            return item.name
        if column == QueueColumn.LANE:
            words = lane_words(lanes_of_item(item))
            return _("{lane} (practice)").format(lane=words) if item.practice else words
        return self._start_words(item)

    def _start_words(self, item: QueueItem) -> str:
        if item.over or item.state == "running":
            return ""
        hour = item.hour_to_come(self._now)
        parts = [hour_words(hour, self._now)] if hour is not None else []
        parts += [_("when free")] if item.when_free else []
        return ", ".join(parts) or _("in its turn")


def chip_of(item: QueueItem) -> ChipWords:
    """Return the chip of an item's state."""
    words = state_words(item)
    if item.state == "running":
        return ChipWords(words.text, "accent", "▸")
    return ChipWords(words.text, _TONES[words.tone], "■" if item.state == "stopped" else None)
