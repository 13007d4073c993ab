"""The table of words: how often each is used, and which are in every caption with the trigger word."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSortFilterProxyModel,
    Qt,
)
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from gui.engine.dataset.caption_report import WordShare
from gui.engine.texts import _
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme

Index = QModelIndex | QPersistentModelIndex
WORD, CAPTIONS, SHARE, TRIGGER = range(4)
SORT = Qt.ItemDataRole.UserRole
VALUE = Qt.ItemDataRole.UserRole + 1


class WordTable(QAbstractTableModel):
    """Words, a row each."""

    def __init__(self) -> None:
        super().__init__()
        self._words: Sequence[WordShare] = ()

    def show_words(self, words: Sequence[WordShare]) -> None:
        """Show other words."""
        self.beginResetModel()
        self._words = words
        self.endResetModel()

    def rowCount(self, parent: Index | None = None) -> int:  # noqa: N802 - Qt's name
        """Return how many words there are."""
        return 0 if parent is not None and parent.isValid() else len(self._words)

    def columnCount(self, parent: Index | None = None) -> int:  # noqa: N802 - Qt's name
        """Word, captions, share, and whether it comes with the trigger word."""
        return 0 if parent is not None and parent.isValid() else 4

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return the name of a column."""
        if orientation == Qt.Orientation.Horizontal and role in (
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.ToolTipRole,
        ):
            return (_("Word or tag"), _("Captions"), _("Share"), _("With the trigger"))[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return what is shown of a word."""
        if not index.isValid():
            return None
        word, column = self._words[index.row()], index.column()
        if role == VALUE:
            return word
        if role == SORT:
            return (word.word.casefold(), word.captions, word.share, word.bound)[column]
        if role == Qt.ItemDataRole.TextAlignmentRole and column == CAPTIONS:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return self._words_of(word, column, role)

    @staticmethod
    def _words_of(word: WordShare, column: int, role: int) -> str | None:
        if role == Qt.ItemDataRole.DisplayRole:
            bound = _("always") if word.bound else ""
            return (word.word, f"{word.captions:,}", f"{word.share:.0%}", bound)[column]
        if role == Qt.ItemDataRole.ToolTipRole and column == TRIGGER and word.bound:
            return _("It is in every caption with the trigger word, and is learnt as a part of it.")
        return None


class WordOrder(QSortFilterProxyModel):
    """The words that hold a text, in the order of a column."""

    def __init__(self, table: WordTable) -> None:
        super().__init__()
        self.setSourceModel(table)
        self.setSortRole(SORT)
        self.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.sort(CAPTIONS, Qt.SortOrder.DescendingOrder)

    def word(self, row: int) -> WordShare | None:
        """Return the word of a row."""
        value = self.index(row, WORD).data(VALUE)
        return value if isinstance(value, WordShare) else None


class ShareBar(QStyledItemDelegate):
    """Draws a share as a bar with its figure.

    Args:
        theme: Gives the colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw a share."""
        word = index.data(VALUE)
        super().paint(painter, option, QModelIndex())
        if not isinstance(word, WordShare):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        place = QRect(option.rect).adjusted(Space.S, 0, -Space.S, 0)
        figure = self._theme.px(44)
        bar = place.adjusted(0, 0, -figure, 0)
        high = self._theme.px(8)
        bar.setTop(bar.center().y() - high // 2)
        bar.setHeight(high)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("line"))
        painter.drawRoundedRect(bar, high / 2, high / 2)
        bar.setWidth(max(high, round(bar.width() * word.share)))
        painter.setBrush(self._theme.color("warn" if word.bound else "accent"))
        painter.drawRoundedRect(bar, high / 2, high / 2)
        painter.setPen(self._theme.color("muted"))
        painter.setFont(self._theme.font("small"))
        right = QRect(place.right() - figure, place.top(), figure, place.height())
        painter.drawText(
            right, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), f"{word.share:.0%}"
        )
        painter.restore()
