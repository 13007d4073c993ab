"""Messages and questions between the header and the step; one of each at a time."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.texts import _
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.ask import Ask
from gui.window.widgets.banner import Banner
from gui.window.widgets.buttons import Button
from gui.window.widgets.chip import Tone


class Notices(QWidget):
    """Says what happened, and asks.

    Args:
        icons: Draws the pictures.
    """

    def __init__(self, icons: Icons) -> None:
        super().__init__()
        self._icons = icons
        self._banners: dict[str, Banner] = {}
        self._question: Ask | None = None
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(Space.S)
        self.hide()

    def tell(
        self, key: str, title: str, text: str = "", tone: Tone = "bad", buttons: tuple[Button, ...] = ()
    ) -> None:
        """Say something; it replaces what was said under the same key.

        Args:
            key: What it is about.
            title: In one line.
            text: More of it.
            tone: What it means.
            buttons: Ways on; each also closes the message.
        """
        self.drop(key)
        banner = Banner(self._icons, tone, title, text, name=f"notice-{key}")
        close = Button(_("Close"), compact=True, name=f"close-{key}")
        for button in (*buttons, close):
            button.clicked.connect(lambda: self.drop(key))
        banner.set_buttons(*buttons, close)
        self._banners[key] = banner
        self._layout.addWidget(banner)
        self.show()

    def ask(
        self, question: str, detail: str, yes: tuple[str, Callable[[], object]], no: str, tone: Tone = "warn"
    ) -> None:
        """Ask something; Escape is no.

        Args:
            question: In one line.
            detail: What is lost or won.
            yes: The words of the button that does it, and what it does.
            no: The words of the other one.
            tone: ``bad`` where something is lost.
        """
        self.end_question()
        ask = Ask(question, detail, yes[0], no, tone=tone, name="plan-ask")
        ask.yes.connect(self.end_question)
        ask.yes.connect(yes[1])
        ask.no.connect(self.end_question)
        self._question = ask
        self._layout.addWidget(ask)
        self.show()
        ask.ask()

    def drop(self, key: str) -> None:
        """Say it no longer."""
        banner = self._banners.pop(key, None)
        if banner is not None:
            self._remove(banner)

    def clear(self) -> None:
        """Say nothing any more."""
        for key in list(self._banners):
            self.drop(key)
        self.end_question()

    def end_question(self) -> None:
        """Ask no longer."""
        if self._question is not None:
            self._remove(self._question)
            self._question = None

    def _remove(self, widget: QWidget) -> None:
        self._layout.removeWidget(widget)
        widget.hide()
        widget.deleteLater()
        self.setVisible(bool(self._banners) or self._question is not None)
