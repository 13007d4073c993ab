"""What the Data page has to say above its images: that files changed, that a look was ended, or failed."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.texts import _, ngettext
from gui.window.theme.icons import Icons
from gui.window.widgets.banner import Banner
from gui.window.widgets.buttons import Button
from gui.window.widgets.chip import Tone


class PageNotes(QWidget):
    """One banner with one way on: look again.

    Args:
        icons: For its picture.
    """

    again_wanted = Signal()

    def __init__(self, icons: Icons) -> None:
        super().__init__()
        self._banner = Banner(icons, "warn", name="data-note")
        self._again = Button("", compact=True, name="data-note-again")
        self._again.clicked.connect(self.again_wanted)
        self._banner.set_buttons(self._again)
        self._banner.make_closable(self.hide, "data-note-close")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._banner)
        self.hide()

    def changed(self) -> None:
        """Files are other ones than those that were looked at."""
        self._say(_("The files have changed since they were looked at."), "", _("Look again"), "warn")

    def stopped(self, done: int, total: int) -> None:
        """The look was ended by the user."""
        words = ngettext("Looked at {done} of {total} image.", "Looked at {done} of {total} images.", total)
        title = words.format(done=f"{done:,}", total=f"{total:,}")
        self._say(title, _("What was found is remembered."), _("Go on"), "accent")

    def failed(self, reason: str) -> None:
        """Nothing can be looked at."""
        self._say(_("The images cannot be looked at."), reason, _("Try again"), "bad")

    def said(self, text: str, tone: Tone = "warn") -> None:
        """Say something else, to which there is nothing to do."""
        self._say(text, "", "", tone)

    def _say(self, title: str, text: str, way: str, tone: Tone) -> None:
        self._banner.show_words(title, text, tone)
        self._again.setText(way)
        self._again.setVisible(bool(way))
        self.show()
