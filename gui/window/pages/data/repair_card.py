"""What the cards share that mend files of a dataset and say what came of it."""

from __future__ import annotations

from PySide6.QtCore import Signal

from gui.window.bridges.tasks import Tasks
from gui.window.pages.data.dataset_view import DatasetView
from gui.window.theme.icons import Icons
from gui.window.widgets.banner import Banner
from gui.window.widgets.card import Card
from gui.window.widgets.chip import Tone


class RepairCard(Card):
    """A card with a banner above what sub-classes put into it.

    Args:
        title: What is mended.
        tasks: Where files are looked at and changed.
        icons: With the theme.
        kind: Tells its parts from those of other cards.
    """

    files_changed = Signal()

    def __init__(self, title: str, tasks: Tasks, icons: Icons, *, kind: str) -> None:
        super().__init__(title, name=f"repairs-{kind}")
        self._tasks = tasks
        self._view: DatasetView | None = None
        self.result = Banner(icons, "good", name=f"{kind}-result")
        self.result.make_closable(self.result.hide)
        self.result.hide()
        self.body.addWidget(self.result)

    def show_view(self, view: DatasetView) -> None:
        """Show a dataset; sub-classes look what there is to mend in it."""
        self._view = view

    def say(self, title: str, text: str, tone: Tone = "good") -> None:
        """Say what came of it."""
        self.result.show_words(title, text, tone)
        self.result.show()

    def say_changed(self, title: str, text: str, tone: Tone = "good") -> None:
        """Say what came of it, and show what is there now."""
        self.say(title, text, tone)
        if self._view is not None:
            self.show_view(self._view)
        self.files_changed.emit()
