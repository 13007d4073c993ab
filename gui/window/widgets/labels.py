"""Texts: whole and wrapped, or cut at the end with the whole in the tooltip."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from gui.window.widgets.styled import style

Role = Literal["hero", "title", "card", "strong", "body", "muted", "small", "mono", "code"]

_PROPERTY = {"card": "card-title"}
"""A label is a frame to the style sheet, and ``card`` is a frame's role."""


class Label(QLabel):
    """A plain text; never read as HTML, whatever is in it.

    Args:
        text: Translated.
        role: What it is on the page.
        wrap: Whether it may take several lines.
        selectable: Whether it can be marked and copied.
    """

    def __init__(
        self,
        text: str = "",
        role: Role = "body",
        *,
        wrap: bool = True,
        selectable: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        style(self, role=_PROPERTY.get(role, role))
        if wrap:
            self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        if selectable:
            self.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
        self.setText(text)

    def setText(self, text: str) -> None:  # noqa: N802 - Qt's name
        """Show another text; the same one again costs nothing."""
        if text != self.text():
            super().setText(text)


class ElidedLabel(QLabel):
    """One line that is cut with “…” where there is no room; the whole is in its tooltip.

    Args:
        text: Translated.
        role: What it is on the page.
        middle: Cut in the middle, as suits paths.
    """

    def __init__(
        self, text: str = "", role: Role = "body", *, middle: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._mode = Qt.TextElideMode.ElideMiddle if middle else Qt.TextElideMode.ElideRight
        style(self, role=_PROPERTY.get(role, role))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(24)
        self.setText(text)

    def setText(self, text: str) -> None:  # noqa: N802 - Qt's name
        """Show another text."""
        if text != self.text():
            super().setText(text)
            self.setToolTip(text)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Any width will do."""
        return QSize(24, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw what fits."""
        del event
        painter = QPainter(self)
        painter.setFont(self.font())
        place = self.contentsRect()
        text = self.fontMetrics().elidedText(self.text().replace("\n", " "), self._mode, place.width())
        colour = self.palette().color(self.foregroundRole())
        painter.setPen(colour)
        painter.drawText(place, int(self.alignment() | Qt.AlignmentFlag.AlignVCenter), text)
