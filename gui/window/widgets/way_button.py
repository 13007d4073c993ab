"""The button of a fix: its words are cut where there is no room, as the sentences of fixes can be long."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent

from gui.window.widgets.buttons import Button, Kind

LEAST_PX = 60
SLACK_PX = 2
"""Widths of texts are rounded."""


class WayButton(Button):
    """A button whose whole text is in its tooltip and its accessible name.

    Args:
        text: Translated.
        kind: As of `Button`.
        name: The object name.
    """

    def __init__(self, text: str, kind: Kind, *, name: str) -> None:
        self._whole = text
        super().__init__(text, kind, name=name, tip=text, compact=kind != "link")

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return what the whole text needs."""
        hint = super().sizeHint()
        metrics = self.fontMetrics()
        missing = metrics.horizontalAdvance(self._whole) - metrics.horizontalAdvance(self._shown())
        return QSize(hint.width() + missing + SLACK_PX, hint.height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Any width will do."""
        return QSize(LEAST_PX, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Show as much as there is room for."""
        super().resizeEvent(event)
        metrics = self.fontMetrics()
        around = super().sizeHint().width() - metrics.horizontalAdvance(self._shown())
        room = self.width() - around
        shown = self._whole
        if metrics.horizontalAdvance(shown) > room:
            shown = metrics.elidedText(shown, Qt.TextElideMode.ElideRight, max(room, 1))
        self.setText(shown)
        self.setAccessibleName(self._whole)

    def _shown(self) -> str:
        return self.text().replace("&&", "&")
