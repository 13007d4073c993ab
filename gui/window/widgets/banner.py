"""Banners: what the user must not miss, in the page and not in the way."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from gui.engine.texts import _
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.buttons import IconButton
from gui.window.widgets.chip import Tone
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import FlowLayout, clear
from gui.window.widgets.styled import style

_ICONS: dict[Tone, str] = {
    "bad": "warning",
    "warn": "warning",
    "good": "check",
    "accent": "info",
    "neutral": "info",
}


class Banner(QFrame):
    """A title, a text and buttons on a tinted surface with a picture.

    Args:
        icons: Draws the picture.
        tone: What it means for the user.
    """

    def __init__(
        self, icons: Icons, tone: Tone = "bad", title: str = "", text: str = "", *, name: str = ""
    ) -> None:
        super().__init__()
        if name:
            self.setObjectName(name)
        self._icons = icons
        self._tone: Tone = tone
        self._picture = QLabel()
        self.title = Label(title, "strong")
        self.text = Label(text, "muted")
        self.body = QVBoxLayout()
        self.buttons = FlowLayout()
        words = QVBoxLayout()
        words.setSpacing(Space.XS)
        words.addWidget(self.title)
        words.addWidget(self.text)
        words.addLayout(self.body)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(Space.L, Space.M, Space.L, Space.M)
        layout.setSpacing(Space.L)
        layout.addWidget(self._picture, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(words, 1)
        self._layout = layout
        self._close: IconButton | None = None
        words.addLayout(self.buttons)
        icons.theme.changed.connect(self._draw)
        self.show_words(title, text, tone)

    def show_words(self, title: str, text: str = "", tone: Tone | None = None) -> None:
        """Say something else."""
        self._tone = tone or self._tone
        style(self, role="banner", tone=self._tone)
        self.title.setText(title)
        self.text.setText(text)
        self.text.setVisible(bool(text))
        self.setAccessibleName(title)
        self._draw()

    def make_closable(self, close: Callable[[], object], name: str = "") -> None:
        """Give it a small button at its end that takes it away."""
        self._close = IconButton(self._icons.icon("cross"), _("Close"), name=name)
        self._close.clicked.connect(close)
        self._layout.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)

    def set_buttons(self, *buttons: QWidget) -> None:
        """Offer other ways on."""
        clear(self.buttons)
        for button in buttons:
            self.buttons.addWidget(button)

    def _draw(self) -> None:
        colour = "accent" if self._tone == "neutral" else self._tone
        self._picture.setPixmap(self._icons.pixmap(_ICONS[self._tone], 24, colour))
        if self._close is not None:
            self._close.setIcon(self._icons.icon("cross"))
