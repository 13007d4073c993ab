"""Buttons: one main action a page, the rest quiet."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QIcon, QKeySequence
from PySide6.QtWidgets import QPushButton, QSizePolicy, QToolButton, QWidget

from gui.engine.texts import _
from gui.window.widgets.styled import style

Kind = Literal["quiet", "primary", "danger", "link", "segment"]


class Button(QPushButton):
    """A button that says what happens.

    Args:
        text: Translated.
        kind: ``primary`` is the page's one action; ``segment`` is one of several that exclude each other.
        shortcut: Its key, told in the tooltip.
        tip: What else is worth knowing.
        name: The object name.
        compact: As low as suits a card.
    """

    def __init__(
        self,
        text: str,
        kind: Kind = "quiet",
        *,
        icon: QIcon | None = None,
        shortcut: str | None = None,
        tip: str = "",
        name: str = "",
        compact: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._tip = tip
        if icon is not None:
            self.setIcon(icon)
        if name:
            self.setObjectName(name)
        if kind == "segment":
            self.setCheckable(True)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setAutoDefault(False)
        style(self, kind=kind, compact=compact)
        self.setText(text)
        if shortcut:
            self.setShortcut(QKeySequence(shortcut))
        self._tell()

    def set_tip(self, tip: str) -> None:
        """Change what else is worth knowing."""
        self._tip = tip
        self._tell()

    def setText(self, text: str) -> None:  # noqa: N802 - Qt's name
        """Show another text; a “&” is a “&”."""
        shown = text.replace("&", "&&")
        if shown != self.text():
            shortcut = self.shortcut()
            super().setText(shown)
            self.setShortcut(shortcut)
        self.setAccessibleName(text)

    def _tell(self) -> None:
        keys = self.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        words = [self._tip, _("Key: {keys}").format(keys=keys) if keys else ""]
        self.setToolTip("\n".join(word for word in words if word))


class IconButton(QToolButton):
    """A button of a picture only; its words are its tooltip and its accessible name.

    Args:
        icon: The picture.
        words: What happens.
        shortcut: Its key.
    """

    def __init__(
        self,
        icon: QIcon,
        words: str,
        *,
        shortcut: str | None = None,
        name: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setIcon(icon)
        self.setAccessibleName(words)
        if name:
            self.setObjectName(name)
        style(self, kind="icon")
        self._measure()
        if shortcut:
            self.setShortcut(QKeySequence(shortcut))
            keys = self.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            words = f"{words} ({keys})"
        self.setToolTip(words)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Keep the picture in proportion to the text."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._measure()

    def _measure(self) -> None:
        side = round(self.fontMetrics().height() * 1.2)
        if self.iconSize() != QSize(side, side):
            self.setIconSize(QSize(side, side))
