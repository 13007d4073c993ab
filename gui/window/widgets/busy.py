"""Long work: what is being done, how far it is, and a way to end it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QProgressBar, QWidget

from gui.engine.texts import _
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.labels import ElidedLabel
from gui.window.widgets.layouts import column, row


class Busy(QWidget):
    """A bar, words, and Cancel.

    Args:
        text: What is being done.
        cancellable: Whether there is a button to end it.
    """

    cancelled = Signal()

    def __init__(self, text: str = "", *, cancellable: bool = True, name: str = "") -> None:
        super().__init__()
        if name:
            self.setObjectName(name)
        self.words = ElidedLabel(text, "muted")
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(text)
        self.cancel = Button(_("Cancel"), compact=True)
        if not cancellable:
            self.cancel.hide()
        self.cancel.clicked.connect(self.cancelled)
        words = column(self.words, self.bar, spacing=Space.XS)
        layout = row(spacing=Space.M)
        layout.addLayout(words, 1)
        layout.addWidget(self.cancel)
        self.setLayout(layout)

    def show_progress(self, text: str, done: int = 0, total: int = 0) -> None:
        """Show how far it is; a total of 0 where nobody knows."""
        self.words.setText(text)
        self.bar.setAccessibleName(text)
        self.bar.setRange(0, max(0, total))
        self.bar.setValue(done)
