"""The head of the Data page: other images, look again, and what can be made of these."""

from __future__ import annotations

from gui.engine.texts import _
from gui.window.bridges.dataset_source import DatasetSource
from gui.window.pages.data.choosing import SourceMenu
from gui.window.theme.icons import Icons
from gui.window.widgets.buttons import Button, IconButton
from gui.window.widgets.page import Page


class DataHead:
    """Fills the head of a page.

    Attributes:
        source: Chooses other images.
        again: Looks again.
        copy: Makes a clean copy.
        use: Makes the images the plan's.

    Args:
        page: The page.
        icons: With the theme.
        copies: Whether a clean copy can be made here.
    """

    def __init__(self, page: Page, icons: Icons, *, copies: bool) -> None:
        self.source = SourceMenu(icons)
        self.again = IconButton(icons.icon("refresh"), _("Look again"), shortcut="F5", name="data-look-again")
        icons.theme.changed.connect(lambda: self.again.setIcon(icons.icon("refresh")))
        self.copy = Button(_("Make a clean copy…"), name="data-clean-copy")
        self.copy.setVisible(copies)
        self.use = Button(_("Use in plan"), "primary", name="data-use-in-plan")
        for part in (self.source, self.again):
            page.beside_title.addWidget(part)
        if copies:
            page.buttons.addWidget(self.copy)
        page.buttons.addWidget(self.use)

    def show_source(self, source: DatasetSource | None, *, is_there: bool, plan_has: bool) -> None:
        """Show whose images these are.

        Args:
            source: Where they come from; None where there are none.
            is_there: Whether they are shown already.
            plan_has: Whether the open plan names images.
        """
        for part in (self.source, self.again):
            part.setVisible(source is not None)
        self.source.plan.setEnabled(plan_has)
        self.copy.setEnabled(is_there)
        is_plan = source is not None and source.is_plan
        self.use.setEnabled(is_there and not is_plan)
        self.use.set_tip(_("These are the plan’s images already.") if is_plan else "")
