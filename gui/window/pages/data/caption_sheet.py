"""One image and its caption: the picture large, the text to change, and what is to be said about it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from gui.engine.dataset.caption_check import CaptionFolder
from gui.engine.dataset.caption_marks import CaptionMarks, caption_marks
from gui.engine.errors import PreflightError
from gui.engine.texts import _
from gui.window.bridges.dataset_pictures import DatasetPictures
from gui.window.bridges.tasks import Tasks
from gui.window.pages.data.caption_desk import CaptionDesk
from gui.window.pages.data.caption_editor import CaptionEditor
from gui.window.pages.data.caption_notes import CaptionNotes
from gui.window.pages.data.caption_picture import CaptionPicture
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.ask import Ask
from gui.window.widgets.banner import Banner
from gui.window.widgets.buttons import Button

_MARKS = "caption-marks"
LINES = (2, 5)
"""So many lines of a caption are seen at least and at most."""


class CaptionSheet(QWidget):
    """Shows the caption that lies on the desk.

    Args:
        desk: Holds it.
        tasks: Where tokens are counted.
        icons: With the theme.
        pictures: Makes large pictures.
    """

    changed = Signal()
    """What is typed differs from the file, or no more."""

    def __init__(self, desk: CaptionDesk, tasks: Tasks, icons: Icons, pictures: DatasetPictures) -> None:
        super().__init__()
        self._desk = desk
        self._tasks = tasks
        self._theme = icons.theme
        self._trigger = ""
        self._marks = CaptionMarks()
        self.picture = CaptionPicture(icons, pictures)
        self.editor = CaptionEditor(icons.theme)
        self.editor.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.notes = CaptionNotes()
        self.trouble = Banner(icons, "warn", name="caption-trouble")
        self.trouble.make_closable(self.trouble.hide, "caption-trouble-close")
        self.trouble.hide()
        self._mine = Button(_("Keep what I typed"), compact=True, name="caption-keep-mine")
        self._theirs = Button(_("Take what is in the file"), compact=True, name="caption-take-theirs")
        self.trouble.set_buttons(self._mine, self._theirs)
        self._ask = Ask(
            _("Bring the original caption back?"),
            _("What is in the caption now is gone then."),
            _("Bring it back"),
            _("Keep it as it is"),
            name="ask-original",
        )
        self._ask.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.S)
        layout.addWidget(self.picture, 1)
        layout.addWidget(self.trouble)
        layout.addWidget(self._ask)
        layout.addWidget(self.editor, 1)
        layout.addWidget(self.notes)
        self._connect()
        self._restyle()
        self.show_nothing()

    def _connect(self) -> None:
        self.editor.typed.connect(self._typed)
        self.notes.convert_wanted.connect(self._desk.convert)
        self.notes.restore_wanted.connect(self._ask_for_original)
        self._ask.yes.connect(self._desk.restore)
        self._mine.clicked.connect(self._desk.keep_mine)
        self._theirs.clicked.connect(self._desk.take_theirs)
        self._desk.opened.connect(self._opened)
        self._desk.unreadable.connect(self._unreadable)
        self._desk.trouble.connect(self._say)
        self._theme.changed.connect(self._restyle)

    def open(self, where: CaptionFolder, image: str, trigger: str) -> None:
        """Show an image and its caption; what was typed before is written."""
        self.editor.finish_composing()
        self._trigger = "" if where.is_reg else trigger
        self._ask.hide()
        self.picture.show_path(where.folder / image)
        self.editor.setReadOnly(True)
        self._desk.open(where, image)

    def show_nothing(self) -> None:
        """Show that there is nothing to write."""
        self.picture.show_path(None)
        self.editor.show_text("")
        self.editor.setReadOnly(True)
        self.notes.hide()

    def leave(self) -> None:
        """Write what was typed."""
        self.editor.finish_composing()
        self._desk.leave()

    def write_now(self) -> None:
        """Write what was typed at once: the window closes."""
        self.editor.finish_composing()
        self._desk.write_now()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """Whoever goes elsewhere has not lost what was typed."""
        super().hideEvent(event)
        self.leave()

    def place(self) -> tuple[Path, str] | None:
        """Return folder and image of what is shown."""
        return self._desk.caption.place if self._desk.caption else None

    def _opened(self) -> None:
        if self._desk.text != self.editor.text():
            self.editor.show_text(self._desk.text)
        self.editor.setReadOnly(False)
        self.notes.show()
        if self._desk.conflict:
            title = _("This caption was changed elsewhere since you typed.")
            self._say(title, _("In the file is: {text}").format(text=self._on_disk() or _("nothing")))
        elif self._mine.isVisibleTo(self.trouble):
            self.trouble.hide()
        self._look()
        self.changed.emit()

    def _ask_for_original(self) -> None:
        self._ask.ask()

    def _on_disk(self) -> str:
        return self._desk.caption.text.strip() if self._desk.caption else ""

    def _typed(self) -> None:
        was_dirty = self._desk.dirty
        self._desk.typed(self.editor.text())
        self._look()
        if was_dirty != self._desk.dirty:
            self.changed.emit()

    def _look(self) -> None:
        """Find the marks of the text, in a thread: a long one takes a while."""
        caption, text, trigger = self._desk.caption, self.editor.text(), self._trigger
        if caption is None:
            return
        settings = caption.where.settings
        self._tasks.run(
            lambda _handle: caption_marks(text, settings, trigger),
            lambda marks: self._show_marks(marks, text),
            key=_MARKS,
        )

    def _show_marks(self, marks: CaptionMarks, text: str) -> None:
        caption = self._desk.caption
        if caption is not None and text == self.editor.text():
            self.editor.show_marks(marks, text)
            self.notes.show_caption(caption, marks, text, self._trigger, dirty=self._desk.dirty)

    def _unreadable(self, error: PreflightError) -> None:
        self.editor.show_text("")
        self.notes.hide()
        self._say(_("This caption cannot be read."), str(error))

    def _say(self, title: str, text: str) -> None:
        for button in (self._mine, self._theirs):
            button.setVisible(self._desk.conflict)
        self.trouble.show_words(title, text)
        self.trouble.show()

    def _restyle(self) -> None:
        low, high = (lines * self._theme.px(19) + 2 * Space.M for lines in LINES)
        self.editor.setMinimumHeight(low)
        self.editor.setMaximumHeight(high)
