"""Repairs, none of them in place: a clean copy, images set aside, captions and caches."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gui.window.bridges.caption_work import CaptionWork
from gui.window.bridges.tasks import Tasks
from gui.window.pages.data.caches_card import CachesCard
from gui.window.pages.data.dataset_view import DatasetView
from gui.window.pages.data.repairs_aside import AsideCard
from gui.window.pages.data.repairs_captions import CaptionsCard
from gui.window.pages.data.repairs_copy import CopyCard
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.layouts import column, held
from gui.window.widgets.page import Scroll


class RepairsPanel(QWidget):
    """A card for each kind of repair.

    Args:
        tasks: Where files are copied and moved.
        icons: With the theme.
        work: Steps that were done to captions, which are void when originals come back.
    """

    files_changed = Signal()
    """Files of the dataset are other ones by now."""
    plan_wished = Signal(object, str)
    """Changes of the plan, and what they do in words."""

    def __init__(self, *, tasks: Tasks, icons: Icons, work: CaptionWork) -> None:
        super().__init__()
        self.setObjectName("repairs-panel")
        self.copy = CopyCard(tasks, icons)
        self.aside = AsideCard(tasks, icons)
        self.captions = CaptionsCard(tasks, icons, work)
        self.caches = CachesCard(tasks, icons)
        cards = (self.copy, self.aside, self.captions, self.caches)
        content = held(column(*cards, None, spacing=Space.L))
        self.setLayout(column(Scroll(content, name="repairs-scroll")))
        self.copy.plan_wished.connect(self.plan_wished)
        for card in (self.aside, self.captions, self.caches):
            card.files_changed.connect(self.files_changed)

    def show_view(self, view: DatasetView) -> None:
        """Show what can be mended of a dataset."""
        for card in (self.copy, self.aside, self.captions, self.caches):
            card.show_view(view)
