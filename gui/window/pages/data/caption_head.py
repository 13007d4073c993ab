"""Above a caption: which image it is, the way to the next one, and undo."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QWidget

from gui.engine.texts import _
from gui.window.bridges.caption_work import CaptionWork
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.buttons import IconButton
from gui.window.widgets.labels import ElidedLabel, Label
from gui.window.widgets.layouts import row

ICON_PX = 18


class CaptionHead(QWidget):
    """Buttons and names above the editor.

    Args:
        icons: Draws the buttons.
        work: What can be taken back.
    """

    step_wanted = Signal(int)
    """1 for the next image, -1 for the one before."""

    def __init__(self, icons: Icons, work: CaptionWork) -> None:
        super().__init__()
        self._icons = icons
        self._work = work
        self._name = ""
        self.name = ElidedLabel("", "strong", middle=True)
        self.name.setObjectName("caption-name")
        self.number = Label("", "muted", wrap=False)
        self.number.setObjectName("caption-number")
        self.before = self._button("chevron-up", _("Previous image"), "Ctrl+PgUp", "caption-before")
        self.after = self._button("chevron-down", _("Next image"), "Ctrl+PgDown", "caption-after")
        self.undo = self._button("undo", _("Undo"), "Alt+Z", "caption-undo")
        self.redo = self._button("redo", _("Redo"), "Alt+Shift+Z", "caption-redo")
        line = row(spacing=Space.S)
        line.addWidget(self.name, 1)
        for part in (self.number, self.before, self.after, self.undo, self.redo):
            line.addWidget(part)
        self.setLayout(line)
        self.before.clicked.connect(lambda: self.step_wanted.emit(-1))
        self.after.clicked.connect(lambda: self.step_wanted.emit(1))
        self.undo.clicked.connect(work.undo)
        self.redo.clicked.connect(work.redo)
        work.changed.connect(self._show_steps)
        icons.theme.changed.connect(self._draw)
        self._draw()
        self._show_steps()

    def show_place(self, name: str, number: int, count: int) -> None:
        """Show which image it is, and of how many."""
        self._name = name
        self.name.setText(name)
        self.number.setText(_("{number} of {count}").format(number=f"{number + 1:,}", count=f"{count:,}"))
        self.number.setVisible(bool(name))
        self.before.setEnabled(number > 0)
        self.after.setEnabled(0 <= number < count - 1)

    def show_many(self, *, many: bool) -> None:
        """Show whether one caption is changed, or many are."""
        for part in (self.number, self.before, self.after):
            part.setVisible(not many)
        self.name.setText(_("Change many captions") if many else self._name)

    def _show_steps(self) -> None:
        for button, words, text in (
            (self.undo, _("Undo"), self._work.undo_text),
            (self.redo, _("Redo"), self._work.redo_text),
        ):
            button.setEnabled(bool(text))
            keys = button.shortcut().toString()
            button.setToolTip(f"{words}: {text} ({keys})" if text else f"{words} ({keys})")

    def _button(self, icon: str, words: str, keys: str, name: str) -> IconButton:
        return IconButton(self._icons.icon(icon), words, shortcut=keys, name=name)

    def _draw(self) -> None:
        side = self._icons.theme.px(ICON_PX)
        names = ("chevron-up", "chevron-down", "undo", "redo")
        for button, name in zip((self.before, self.after, self.undo, self.redo), names, strict=True):
            button.setIconSize(QSize(side, side))
            button.setIcon(self._icons.icon(name))
