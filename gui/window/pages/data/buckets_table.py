"""The buckets of a dataset as a table."""

from __future__ import annotations

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from gui.engine.dataset.bucket_use import BucketUse
from gui.engine.texts import _

Index = QModelIndex | QPersistentModelIndex
COLUMNS = 5


class BucketTable(QAbstractTableModel):
    """Buckets, a row each."""

    def __init__(self) -> None:
        super().__init__()
        self._use: BucketUse | None = None

    def show_use(self, use: BucketUse | None) -> None:
        """Show other buckets."""
        self.beginResetModel()
        self._use = use
        self.endResetModel()

    def rowCount(self, parent: Index | None = None) -> int:  # noqa: N802 - Qt's name
        """Return how many buckets there are."""
        return 0 if self._use is None or (parent is not None and parent.isValid()) else len(self._use.buckets)

    def columnCount(self, parent: Index | None = None) -> int:  # noqa: N802 - Qt's name
        """Size, images, batches, the last one, places that stay empty."""
        return 0 if parent is not None and parent.isValid() else COLUMNS

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return the name of a column."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            names = (
                _("Bucket"),
                _("Images × repeats"),
                _("Batches an epoch"),
                _("In the last batch"),
                _("Empty places"),
            )
            return names[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(section)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return what is shown of a bucket."""
        if not index.isValid() or self._use is None:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _side(index.column())
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        bucket, size = self._use.buckets[index.row()], self._use.batch_size
        empty = size - bucket.last_batch
        cells = (
            f"{bucket.size[0]} × {bucket.size[1]}",
            f"{bucket.images:,}",
            f"{bucket.batches:,}",
            _("{last} of {size}").format(last=bucket.last_batch, size=size) if empty else _("full"),
            str(empty) if empty else "",
        )
        return cells[index.column()]


def _side(column: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
