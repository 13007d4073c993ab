"""A caption to read, as high as its text: marked as in the editor, but not to be changed."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy

from gui.engine.dataset.caption_marks import CaptionMarks
from gui.window.pages.data.caption_editor import CaptionEditor
from gui.window.pages.data.image_look import CaptionLook
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.styled import style

MOST_LINES = 6


class MarkedCaption(CaptionEditor):
    """Up to some lines high; a longer one scrolls.

    Args:
        theme: Gives the colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.setObjectName("data-caption")
        style(self, role="well")
        self.setReadOnly(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(Space.XS)
        theme.changed.connect(self._fit)

    def show_caption(self, caption: CaptionLook) -> None:
        """Show another caption."""
        text = caption.read.text
        if text != self.text():
            self.show_text(text)
        self.show_marks(caption.marks or CaptionMarks(), text)
        self._fit()
        self.verticalScrollBar().setValue(0)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Be as high as the text is at another width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Be as high as the text, up to some lines."""
        text, block = 0.0, self.document().firstBlock()
        while block.isValid():
            text += self.blockBoundingRect(block).height()
            block = block.next()
        line = self.fontMetrics().lineSpacing()
        inner = min(math.ceil(max(text, line)), MOST_LINES * line) + 2 * Space.XS
        margins = self.contentsMargins()
        height = inner + margins.top() + margins.bottom() + 2
        if height != self.height():
            self.setFixedHeight(height)
