"""What the page has to say about watching itself: trouble for as long as it lasts, notes until closed."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.texts import _
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.banner import Banner
from gui.window.widgets.buttons import Button
from gui.window.widgets.chip import Tone


class RunNotes(QWidget):
    """Trouble and notes.

    Args:
        icons: Draws their pictures.
    """

    def __init__(self, icons: Icons) -> None:
        super().__init__()
        self.trouble = Banner(icons, "warn", name="run-trouble")
        self.note = Banner(icons, "accent", name="run-note")
        fine = Button(_("Fine"), compact=True, name="run-note-close")
        fine.clicked.connect(self._close_note)
        self.note.set_buttons(fine)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.M)
        layout.addWidget(self.trouble)
        layout.addWidget(self.note)
        self.clear()

    def show_trouble(self, sentence: str) -> None:
        """Say why the run cannot be followed; "" takes it away."""
        if sentence:
            self.trouble.show_words(sentence)
        self.trouble.setVisible(bool(sentence))
        self._show()

    def say(self, sentence: str, tone: Tone = "accent") -> None:
        """Say something until it is closed."""
        self.note.show_words(sentence, "", tone)
        self.note.show()
        self._show()

    def clear(self) -> None:
        """Say nothing."""
        self.trouble.hide()
        self.note.hide()
        self._show()

    def _close_note(self) -> None:
        self.note.hide()
        self._show()

    def _show(self) -> None:
        self.setVisible(not (self.trouble.isHidden() and self.note.isHidden()))
