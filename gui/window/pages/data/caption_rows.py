"""The list of images beside the caption editor; one of 100,000 costs as little as one of ten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from gui.engine.dataset.caption_check import CaptionFolder
from gui.engine.texts import _
from gui.window.pages.data.caption_states import CaptionState
from gui.window.theme.space import SMALL_RADIUS, Space
from gui.window.theme.theme import Theme
from gui.window.widgets.even_rows import EvenRows

Index = QModelIndex | QPersistentModelIndex
STATE = Qt.ItemDataRole.UserRole

TROUBLE, DRAFT = "trouble", "draft"
"""What the list is cut down to besides one kind of trouble: any, or what is not written yet."""


class CaptionRow(NamedTuple):
    """One image and the captions of its folder."""

    where: CaptionFolder
    image: str

    @property
    def place(self) -> tuple[Path, str]:
        """Its folder and its name."""
        return self.where.folder, self.image


class CaptionImages(NamedTuple):
    """All images of a dataset, made ready in a thread: of 100,000 that takes a while.

    Attributes:
        rows: In the order of their folders.
        numbers: Which row each image has.
        states: What is to be seen of captions, where there is something.
    """

    rows: Sequence[CaptionRow]
    numbers: Mapping[tuple[Path, str], int]
    states: Mapping[tuple[Path, str], CaptionState]

    @classmethod
    def of(
        cls, folders: Sequence[CaptionFolder], states: Mapping[tuple[Path, str], CaptionState]
    ) -> CaptionImages:
        """Make them ready."""
        rows = [CaptionRow(where, image) for where in folders for image in where.images]
        return cls(rows, _numbered(rows), states)


def _numbered(rows: Sequence[CaptionRow]) -> dict[tuple[Path, str], int]:
    return {row.place: number for number, row in enumerate(rows)}


class CaptionRows(QAbstractListModel):
    """Images with the state of their captions."""

    def __init__(self) -> None:
        super().__init__()
        self._images = CaptionImages((), {}, {})
        self._shown: Sequence[CaptionRow] = ()
        self._numbers: Mapping[tuple[Path, str], int] = {}
        self._drafts: set[tuple[Path, str]] = set()
        self._text = self._key = ""

    def show_images(self, images: CaptionImages, drafts: set[tuple[Path, str]]) -> None:
        """Show other images, or other states of the same ones."""
        self._images, self._drafts = images, drafts
        self._choose()

    def cut_down(self, text: str, key: str) -> None:
        """Show only images with a text in their name whose captions are in some state.

        Args:
            text: Empty for any.
            key: Of a kind of trouble, or TROUBLE or DRAFT; empty for any.
        """
        if (text, key) != (self._text, self._key):
            self._text, self._key = text, key
            self._choose()

    def row(self, number: int) -> CaptionRow:
        """Return the image of a row."""
        return self._shown[number]

    def number_of(self, place: tuple[Path, str]) -> int:
        """Return the row of an image; -1 where it is not shown."""
        return self._numbers.get(place, -1)

    def set_draft(self, place: tuple[Path, str], *, draft: bool) -> None:
        """Show whether what was typed for an image is not written yet."""
        (self._drafts.add if draft else self._drafts.discard)(place)
        number = self.number_of(place)
        if number >= 0:
            self.dataChanged.emit(self.index(number), self.index(number), [STATE])

    def rowCount(self, parent: Index | None = None) -> int:  # noqa: N802 - Qt's name
        """Return how many images are shown."""
        return 0 if parent is not None and parent.isValid() else len(self._shown)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return what is shown of an image."""
        if not index.isValid():
            return None
        row = self._shown[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return row.image
        if role == Qt.ItemDataRole.ToolTipRole:
            return str(row.where.folder / row.image)
        state = self._state(row.place)
        if role == STATE:
            return state
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{row.image}, {state.words}" if state else row.image
        return None

    def _state(self, place: tuple[Path, str]) -> CaptionState | None:
        if place in self._drafts:
            return CaptionState(DRAFT, _("not written"), "accent")
        return self._images.states.get(place)

    def _choose(self) -> None:
        self.beginResetModel()
        if self._text or self._key:
            self._shown = [row for row in self._images.rows if self._fits(row)]
            self._numbers = _numbered(self._shown)
        else:
            self._shown, self._numbers = self._images.rows, self._images.numbers
        self.endResetModel()

    def _fits(self, row: CaptionRow) -> bool:
        if self._text and self._text.casefold() not in row.image.casefold():
            return False
        state = self._state(row.place)
        return not self._key or (state is not None and self._key in (TROUBLE, state.key))


class CaptionRowLook(EvenRows):
    """Draws a row: the name, and at its right the state of the caption.

    Args:
        theme: Gives colours and sizes.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, 120, 30)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw a row."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        place = QRect(option.rect).adjusted(Space.XS, 1, -Space.XS, -1)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("accent_soft"))
            painter.drawRoundedRect(place, SMALL_RADIUS, SMALL_RADIUS)
        inner = place.adjusted(Space.S, 0, -Space.S, 0)
        state = index.data(STATE)
        if isinstance(state, CaptionState):
            inner.setRight(self._paint_state(painter, inner, state) - Space.S)
        painter.setFont(self._theme.font("body"))
        painter.setPen(self._theme.color("text"))
        self._write(
            painter, inner, str(index.data()), Qt.AlignmentFlag.AlignLeft, Qt.TextElideMode.ElideMiddle
        )
        painter.restore()

    def _paint_state(self, painter: QPainter, inner: QRect, state: CaptionState) -> int:
        """Draw a state and return where it begins."""
        painter.setFont(self._theme.font("small"))
        colour = "muted" if state.tone == "neutral" else state.tone
        painter.setPen(self._theme.color(colour))
        width = min(painter.fontMetrics().horizontalAdvance(state.words) + 2, inner.width() * 3 // 5)
        where = QRect(inner.right() - width, inner.top(), width, inner.height())
        self._write(painter, where, state.words, Qt.AlignmentFlag.AlignRight, Qt.TextElideMode.ElideRight)
        return where.left()

    @staticmethod
    def _write(
        painter: QPainter, where: QRect, text: str, side: Qt.AlignmentFlag, elide: Qt.TextElideMode
    ) -> None:
        shown = QFontMetrics(painter.font()).elidedText(text.replace("\n", "␤"), elide, where.width())
        painter.drawText(where, int(side | Qt.AlignmentFlag.AlignVCenter), shown)
