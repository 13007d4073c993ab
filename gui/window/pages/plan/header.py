"""The top of the wizard: the plan's name, its state, and what can be done with it as a whole."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QSizePolicy, QWidget

from gui.engine.texts import _
from gui.window.pages.plan.parts import Parts
from gui.window.pages.plan.plan_files import PlanFiles
from gui.window.pages.plan.words import about_plan
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button, IconButton
from gui.window.widgets.chip import Chip
from gui.window.widgets.inputs import TextField
from gui.window.widgets.labels import ElidedLabel
from gui.window.widgets.layouts import column, row
from gui.window.widgets.styled import style

MOST_RECENT = 10
TEXT_INDENT = 5
"""By so many pixels the text of a field stands in; the name shall stand where titles stand."""


class NameField(TextField):
    """The plan's name, as wide as it is long."""

    def __init__(self) -> None:
        super().__init__(name="plan-name", words=_("Name of the plan"))
        style(self, role="title")
        self.setTextMargins(-TEXT_INDENT, 0, 0, 0)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.textChanged.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Room for the name and a letter more."""
        words = self.fontMetrics().horizontalAdvance(self.text() + "m")
        return QSize(max(words, 80), self.fontMetrics().height() + 6)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """A few letters at least."""
        return QSize(80, self.fontMetrics().height() + 6)


class PlanHeader(QWidget):
    """Name, state, undo and redo, open and save, the way to the review.

    Args:
        parts: The plan and what is known about it.
        files: Opens and saves.
    """

    review_wanted = Signal()

    def __init__(self, parts: Parts, files: PlanFiles) -> None:
        super().__init__()
        self._parts = parts
        self._files = files
        self._launch: QWidget | None = None
        self.name = NameField()
        self.name.changed.connect(self._rename)
        self.about = ElidedLabel("", "muted")
        self.about.setObjectName("plan-about")
        self.chip = Chip(name="plan-state")
        self._make_buttons()
        top = QHBoxLayout()
        top.setSpacing(Space.S)
        top.addWidget(self.name)
        top.addWidget(self.chip)
        top.addStretch(1)
        self._row = row(spacing=Space.S)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.addLayout(column(top, self.about, spacing=2), 1)
        for button in (self._undo, self._redo, self._open, self._more, self._save, self.review):
            self._row.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        self.setLayout(self._row)
        document = parts.document
        for signal in (document.state_changed, document.changed, document.opened):
            signal.connect(self.refresh)
        parts.theme.changed.connect(self._draw)
        self._draw()
        self.refresh()

    def take_launch(self, buttons: QWidget) -> None:
        """Take the buttons that launch; they stand where the way to the review is, once it is reached."""
        self._launch = buttons
        self._row.addWidget(buttons, 0, Qt.AlignmentFlag.AlignVCenter)
        for before, after in pairwise([self.review, *buttons.findChildren(QPushButton)]):
            QWidget.setTabOrder(before, after)
        self.show_launch(False)

    def show_launch(self, reached: bool) -> None:
        """Show the launch, or the way to the review."""
        if self._launch is not None:
            self._launch.setVisible(reached)
            self.review.setVisible(not reached)

    def refresh(self) -> None:
        """Show what the plan is now."""
        document, family = self._parts.document, self._parts.family
        self.name.show_value(document.name)
        self.name.setReadOnly(document.read_only)
        title = _(family.title) if family else document.plan.family
        self.about.setText(about_plan(document.plan, document.library, title) or _("Nothing is chosen yet"))
        self._show_state()
        stack, undo, redo = document.undo_stack, QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo
        words = stack.undoText() or _("nothing"), stack.redoText() or _("nothing")
        self._show_step(self._undo, stack.canUndo(), _("Undo: {what}").format(what=words[0]), undo)
        self._show_step(self._redo, stack.canRedo(), _("Do again: {what}").format(what=words[1]), redo)
        self._save.setEnabled(not document.read_only)

    def _make_buttons(self) -> None:
        icons, stack = self._parts.icons, self._parts.document.undo_stack
        undo, redo = (
            QKeySequence(key).toString()
            for key in (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo)
        )
        self._undo = IconButton(icons.icon("undo"), _("Undo"), shortcut=undo, name="undo")
        self._undo.clicked.connect(stack.undo)
        self._redo = IconButton(icons.icon("redo"), _("Do again"), shortcut=redo, name="redo")
        self._redo.clicked.connect(stack.redo)
        self._open = IconButton(
            icons.icon("folder"), _("Open a plan or a setup"), shortcut="Ctrl+O", name="open-plan"
        )
        self._open.clicked.connect(self._files.choose)
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill_menu)
        self._more = IconButton(icons.icon("more"), _("New, save as, recent plans"), name="plan-menu")
        self._more.clicked.connect(self._show_menu)
        self._save = Button(_("Save"), shortcut="Ctrl+S", name="save-plan")
        self._save.clicked.connect(self._files.save)
        self.review = Button(_("Review"), "primary", name="review")
        self.review.clicked.connect(self.review_wanted)

    def _show_state(self) -> None:
        document = self._parts.document
        if document.read_only:
            self.chip.show_state(_("to look at only"), "warn")
            tip = _("A newer version of Kohya Preflight wrote this plan.")
        elif document.draft_problem:
            self.chip.show_state(_("not saved"), "bad")
            tip = document.draft_problem
        elif not document.dirty and document.path is not None:
            self.chip.show_state(_("saved"), "good")
            tip = str(document.path)
        elif not document.dirty:
            self.chip.show_state(_("new"), "neutral")
            tip = _("There is nothing to save yet.")
        else:
            self.chip.show_state(_("draft kept"), "accent")
            tip = _("Not saved to a file yet. What you change is kept, also when the program ends.")
        self.chip.setToolTip(tip)

    def _rename(self, text: str) -> None:
        name = text.strip()
        if not name:
            self.name.show_value(self._parts.document.name)
            return
        refusal = self._parts.document.change({"plan.name": name}, _("Rename to {name}").format(name=name))
        self.name.show_trouble(refusal)

    def _show_menu(self) -> None:
        self._menu.popup(self._more.mapToGlobal(self._more.rect().bottomLeft()))

    def _fill_menu(self) -> None:
        self._menu.clear()
        self._menu.addAction(_("New plan"), self._files.new)
        self._menu.addAction(_("Save as…"), self._files.save_as)
        self._menu.addSeparator()
        recent = self._parts.document.recents.entries()[:MOST_RECENT]
        if not recent:
            self._menu.addAction(_("No recent plans")).setEnabled(False)
        for entry in recent:
            action = self._menu.addAction(entry.name.replace("&", "&&"))
            action.setToolTip(entry.path)
            action.triggered.connect(self._opening(entry.path))
        self._menu.setToolTipsVisible(True)

    def _opening(self, path: str) -> Callable[[], None]:
        return lambda: self._files.open(Path(path))

    @staticmethod
    def _show_step(button: IconButton, possible: bool, words: str, keys: QKeySequence.StandardKey) -> None:
        button.setEnabled(possible)
        button.setToolTip(f"{words} ({QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)})")

    def _draw(self) -> None:
        icons = self._parts.icons
        for button, name in (
            (self._undo, "undo"),
            (self._redo, "redo"),
            (self._open, "folder"),
            (self._more, "more"),
        ):
            icon = icons.icon(name)
            # Qt's own way to grey an icon makes it brighter on dark grounds.
            icon.addPixmap(icons.pixmap(name, 20, "line"), QIcon.Mode.Disabled)
            button.setIcon(icon)
            button.setIconSize(QSize(1, 1) * icons.theme.px(18))
