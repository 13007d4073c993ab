"""What the window says above its pages: once, until it is read or replaced."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from gui.engine.errors import PreflightError
from gui.window.main_window import MainWindow
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.banner import Banner
from gui.window.widgets.buttons import Button
from gui.window.widgets.chip import Tone
from gui.window.widgets.layouts import column, held


class Notes:
    """Shows banners above the page; one of a kind at a time.

    Args:
        window: Where.
        icons: Draws their pictures.
    """

    def __init__(self, window: MainWindow, icons: Icons) -> None:
        self._window = window
        self._icons = icons
        self._shown: dict[str, QWidget] = {}

    def tell(self, title: str, text: str, name: str, tone: Tone = "accent", *more: Button) -> None:
        """Show something worth knowing.

        Args:
            title: In a line.
            text: The rest.
            name: The kind; an older one of it goes.
            tone: What it means for the user.
            more: Buttons below the words.
        """
        self.take_away(name)
        banner = Banner(self._icons, tone, title, text, name=f"note-{name}")
        banner.make_closable(lambda: self.take_away(name), f"note-{name}-close")
        banner.set_buttons(*more)
        place = held(column(banner, margins=(Space.XXL, Space.M, Space.XXL, 0)))
        self._shown[name] = place
        self._window.say(place)

    def error(self, title: str, error: PreflightError, name: str = "error") -> None:
        """Show why something could not be done."""
        self.tell(title, str(error), name, "bad")

    def take_away(self, name: str) -> None:
        """Hide one."""
        place = self._shown.pop(name, None)
        if place is not None:
            place.hide()
            place.deleteLater()
