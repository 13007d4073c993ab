"""How far the look at the images is, with Pause and Cancel."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gui.engine.dataset.scan import ScanProgress, done_words, progress_words
from gui.engine.texts import _
from gui.window.bridges.dataset_scan import State
from gui.window.theme.space import Space
from gui.window.widgets.busy import Busy
from gui.window.widgets.buttons import Button
from gui.window.widgets.layouts import row


class ScanBar(QWidget):
    """Shown while something is looked at."""

    paused = Signal()
    resumed = Signal()
    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("data-scan")
        self._state: State = "idle"
        self._progress: ScanProgress | None = None
        self.busy = Busy(name="data-scan-progress")
        self.busy.cancel.setObjectName("data-scan-cancel")
        self.busy.cancelled.connect(self.cancelled)
        self.pause = Button(_("Pause"), compact=True, name="data-scan-pause")
        self.pause.clicked.connect(self._pause)
        layout = row(spacing=Space.M)
        layout.addWidget(self.busy, 1)
        layout.addWidget(self.pause)
        self.setLayout(layout)
        self.hide()

    def show_state(self, state: State) -> None:
        """Show what is being done."""
        if state == "opening":
            self._progress = None
        self._state = state
        self.setVisible(state in ("opening", "looking", "paused", "reading"))
        self.pause.setEnabled(state in ("looking", "paused"))
        self.pause.setText(_("Go on") if state == "paused" else _("Pause"))
        self._show()

    def show_progress(self, progress: ScanProgress) -> None:
        """Show how far it is."""
        self._progress = progress
        self._show()

    def _pause(self) -> None:
        (self.resumed if self._state == "paused" else self.paused).emit()

    def _show(self) -> None:
        progress = self._progress
        if self._state == "opening":
            self.busy.show_progress(_("Listing the folders …"))
        elif self._state == "reading":
            self.busy.show_progress(_("Reading captions and caches …"))
        elif progress is not None:
            words = progress_words(progress)
            if self._state == "paused":
                words = _("{words} · paused").format(words=done_words(progress.done, progress.total))
            self.busy.show_progress(words, progress.done, progress.total)
