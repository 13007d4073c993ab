"""Which images are looked at: the plan's, or those of a folder."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QMenu, QToolButton, QVBoxLayout

from gui.engine.texts import _
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button, IconButton
from gui.window.widgets.dropping import Drops
from gui.window.widgets.layouts import FlowLayout, held
from gui.window.widgets.page import Empty, Picture
from gui.window.widgets.styled import style


class ChoosingFolder(QFrame):
    """What the page says as long as there is nothing to look at; folders can be dropped on it.

    Args:
        icons: Draws its picture.
    """

    dropped = Signal(list)
    """Paths, as text."""
    folder_wanted = Signal()
    plan_wanted = Signal()

    def __init__(self, icons: Icons) -> None:
        super().__init__()
        self.setObjectName("data-drop")
        style(self, role="drop", dropping=False)
        Drops(self, self.dropped.emit)
        self.plan = Button(_("Use the plan’s folders"), "primary", name="data-use-plan-folders")
        self.plan.clicked.connect(self.plan_wanted)
        self.choose = Button(_("Choose folder…"), name="data-choose-folder")
        self.choose.clicked.connect(self.folder_wanted)
        self._empty = Empty(
            _("Drop a folder of images here"),
            _(
                "It is looked at as it is: each image as the trainer will see it, what stops a run, "
                "captions, buckets. Nothing in it is changed."
            ),
            picture=Picture(icons, "data", "accent"),
            button=held(FlowLayout(self.plan, self.choose)),
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(Space.XL, Space.XL, Space.XL, Space.XL)
        layout.addWidget(self._empty)

    def show_plan(self, has_folders: bool) -> None:
        """Offer the plan's folders, where it names any."""
        self.plan.setVisible(has_folders)


class SourceMenu(IconButton):
    """Chooses other images, from a menu.

    Args:
        icons: Draws its picture.
    """

    folder_wanted = Signal()
    plan_wanted = Signal()

    def __init__(self, icons: Icons) -> None:
        super().__init__(icons.icon("folder"), _("Look at other images"), name="data-source")
        menu = QMenu(self)
        self.plan = QAction(_("The plan’s folders"), menu)
        self.plan.setObjectName("data-source-plan")
        self.plan.triggered.connect(self.plan_wanted)
        folder = QAction(_("Choose folder…"), menu)
        folder.setObjectName("data-source-folder")
        folder.triggered.connect(self.folder_wanted)
        menu.addAction(self.plan)
        menu.addAction(folder)
        self.setMenu(menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        icons.theme.changed.connect(lambda: self.setIcon(icons.icon("folder")))
