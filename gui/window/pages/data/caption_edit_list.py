"""The captions that a change would touch: each as it is, and as it would be."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyleOptionViewItem

from gui.engine.dataset.caption_edits import CaptionEdit, EditPreview
from gui.engine.texts import _
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.even_rows import EvenRows

Index = QModelIndex | QPersistentModelIndex
EDIT = Qt.ItemDataRole.UserRole
CONTEXT = 24
"""So many letters are shown before the first one that changes."""


class CaptionEdits(QAbstractListModel):
    """The edits of some previews."""

    def __init__(self) -> None:
        super().__init__()
        self._edits: list[CaptionEdit] = []

    def show_previews(self, previews: Sequence[EditPreview]) -> None:
        """Show other ones."""
        self.beginResetModel()
        self._edits = list(chain.from_iterable(preview.edits for preview in previews))
        self.endResetModel()

    def rowCount(self, parent: Index | None = None) -> int:  # noqa: N802 - Qt's name
        """Return how many captions change."""
        return 0 if parent is not None and parent.isValid() else len(self._edits)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return what is shown of a caption."""
        if not index.isValid():
            return None
        edit = self._edits[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return edit.name
        if role == EDIT:
            return edit
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            before = _("(none)") if edit.before is None else edit.before
            return _("{name}\nbefore: {before}\nafter: {after}").format(
                name=edit.name, before=before, after=edit.after
            )
        return None


class _Around(NamedTuple):
    """A text in three parts, of which the one in the middle differs from another text's."""

    before: str
    middle: str
    after: str


class CaptionEditLook(EvenRows):
    """Draws an edit in three lines: the name, what it is, what it becomes.

    Args:
        theme: Gives colours and sizes.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, 160, 66)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw an edit."""
        edit = index.data(EDIT)
        if not isinstance(edit, CaptionEdit):
            return
        painter.save()
        place: QRect = QRect(option.rect).adjusted(Space.S, Space.XS, -Space.S, -Space.XS)
        high = place.height() // 3
        lines = [QRect(place.left(), place.top() + at * high, place.width(), high) for at in range(3)]
        painter.setFont(self._theme.font("small"))
        painter.setPen(self._theme.color("muted"))
        name = painter.fontMetrics().elidedText(edit.name, Qt.TextElideMode.ElideMiddle, place.width())
        painter.drawText(lines[0], int(Qt.AlignmentFlag.AlignVCenter), name)
        old, new = around(edit.before or "", edit.after)
        painter.setFont(self._theme.font("body"))
        self._paint(painter, lines[1], "−", old, "bad")
        self._paint(painter, lines[2], "+", new, "good")
        painter.restore()

    def _paint(self, painter: QPainter, line: QRect, sign: str, text: _Around, tone: str) -> None:
        """Draw a text; what differs has the colour of gain or loss."""
        measure = QFontMetrics(painter.font())
        left = line.left()
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for part, colour, soft in (
            (f"{sign} ", tone, False),
            (text.before, "text", False),
            (text.middle, tone, True),
            (text.after, "text", False),
        ):
            room = line.right() - left
            if not part or room <= 0:
                continue
            shown = measure.elidedText(part, Qt.TextElideMode.ElideRight, room)
            width = measure.horizontalAdvance(shown)
            where = QRect(left, line.top(), width, line.height())
            if soft:
                painter.fillRect(where, self._theme.color(f"{tone}_soft"))
            painter.setPen(self._theme.color(colour))
            painter.drawText(where, flags, shown)
            left += width


def around(before: str, after: str) -> tuple[_Around, _Around]:
    """Return two texts, each split into a beginning alike, what differs, an end alike."""
    old, new = _in_a_line(before), _in_a_line(after)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return _split(old, start, end), _split(new, start, end)


def _split(text: str, start: int, end: int) -> _Around:
    begin = text[:start]
    if len(begin) > CONTEXT:
        begin = "…" + begin[-CONTEXT:]
    last = len(text) - end
    return _Around(begin, text[start:last], text[last:])


def _in_a_line(text: str) -> str:
    return text.replace("\r\n", "↵").replace("\n", "↵").replace("\r", "↵")
