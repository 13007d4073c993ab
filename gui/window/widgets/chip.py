"""Chips: a mark and a word or two; never colour alone."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from gui.window.widgets.styled import style

Tone = Literal["neutral", "good", "warn", "bad", "accent"]

MARKS: dict[Tone, str] = {"neutral": "", "good": "✓", "warn": "!", "bad": "×", "accent": ""}


class Chip(QLabel):
    """A short state.

    Args:
        text: Translated.
        tone: What it means for the user.
        mark: In front of the text; None takes the tone's own.
    """

    def __init__(
        self,
        text: str = "",
        tone: Tone = "neutral",
        *,
        mark: str | None = None,
        name: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        if name:
            self.setObjectName(name)
        self.show_state(text, tone, mark)

    def show_state(self, text: str, tone: Tone = "neutral", mark: str | None = None) -> None:
        """Show another state."""
        mark = MARKS[tone] if mark is None else mark
        shown = f"{mark} {text}" if mark else text
        if shown != self.text():
            self.setText(shown)
            self.setAccessibleName(text)
        style(self, role="chip", tone=tone)
