"""What a person has written down about the selected run: a star, tags, a note, each kept as it is typed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit

from gui.engine.errors import PreflightError
from gui.engine.runs.run_notes import RunNotes, tidy_tags
from gui.engine.texts import _
from gui.window.bridges.run_notes import NoteParts, NotesWriter
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.inputs import TextField
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import held, row

if TYPE_CHECKING:
    from gui.engine.runs.run_entry import RunEntry

FIELD_PX = 34
MORE_LINES = 4
"""So much higher is the note while it is written in."""


class NoteField(QPlainTextEdit):
    """A text of any length, a line high until the keyboard is in it.

    Args:
        theme: Gives its sizes.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("runs-note")
        self.setAccessibleName(_("Note"))
        self.setPlaceholderText(_("A note, kept as you type"))
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(2)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._theme = theme
        theme.changed.connect(self._measure)
        self._measure()

    def show_text(self, text: str) -> None:
        """Show a text without telling of a change."""
        if text != self.toPlainText():
            self.blockSignals(True)
            self.setPlainText(text)
            self.blockSignals(False)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Make room for writing."""
        super().focusInEvent(event)
        self._measure()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Give the room back, and show where the note begins."""
        super().focusOutEvent(event)
        self.verticalScrollBar().setValue(0)
        self._measure()

    def _measure(self) -> None:
        line = self.fontMetrics().lineSpacing()
        lines = MORE_LINES if self.hasFocus() else 1
        wrap, policy = QPlainTextEdit.LineWrapMode, Qt.ScrollBarPolicy
        self.setLineWrapMode(wrap.WidgetWidth if self.hasFocus() else wrap.NoWrap)
        self.setVerticalScrollBarPolicy(
            policy.ScrollBarAsNeeded if self.hasFocus() else policy.ScrollBarAlwaysOff
        )
        self.setFixedHeight(lines * line + self._theme.px(FIELD_PX) - line)


class NotesCard(Card):
    """The card.

    Args:
        writer: Keeps what is typed.
        theme: Gives the height of a line.
    """

    def __init__(self, writer: NotesWriter, theme: Theme) -> None:
        super().__init__(margins=Space.M, name="runs-notes")
        self._writer = writer
        self._theme = theme
        self._entry: RunEntry | None = None
        self._known_tags: tuple[str, ...] = ()
        self._star = Button("☆", "segment", name="runs-star", shortcut="Ctrl+D", tip=_("Favourite"))
        self._tags = TextField(
            placeholder=_("Tags, with commas between them"), live=True, name="runs-tags", words=_("Tags")
        )
        self._note = NoteField(theme)
        self._trouble = Label("", "small")
        self._trouble.setObjectName("runs-notes-trouble")
        self._trouble.hide()
        line = QHBoxLayout()
        line.setSpacing(Space.M)
        self._star_place = held(row(self._star))
        for part, share in ((self._star_place, 0), (self._tags, 2), (self._note, 3)):
            line.addWidget(part, share, Qt.AlignmentFlag.AlignTop)
        self.body.addLayout(line)
        self.body.addWidget(self._trouble)
        self._star.clicked.connect(self._change_star)
        self._tags.textEdited.connect(self._change_tags)
        self._tags.editingFinished.connect(lambda: self.show_entry(self._entry))
        self._note.textChanged.connect(self._change_note)
        writer.failed.connect(self._tell)
        writer.written.connect(self._show_written)
        theme.changed.connect(self._measure)
        self._measure()

    def show_entry(self, entry: RunEntry | None) -> None:
        """Show what is written down about a run; what is being typed stays as it is."""
        other = entry is None or self._entry is None or entry.folder != self._entry.folder
        self._entry = entry
        if other:
            self._trouble.hide()
            trouble = self._writer.trouble(entry.folder) if entry is not None else None
            if entry is not None and trouble is not None:
                self._tell(entry.folder, trouble)
        pending = self._writer.pending(entry.folder) if entry is not None else {}
        note = pending.get("note", entry.note if entry is not None else "")
        tags = pending.get("tags", entry.tags if entry is not None else ())
        starred = pending.get("favourite", entry is not None and entry.favourite)
        self._show_star(starred)
        if other or not self._tags.hasFocus():
            self._tags.show_value(", ".join(tags))
            self._known_tags = tags
        if other or not self._note.hasFocus():
            self._note.show_text(note)
        self.setEnabled(entry is not None and entry.condition != "foreign")

    def _show_star(self, starred: bool) -> None:
        self._star.setChecked(starred)
        self._star.setAccessibleDescription("✓" if starred else "")
        self._star.setText("★" if starred else "☆")
        self._star.setAccessibleName(_("Favourite"))

    def _change_star(self, starred: bool) -> None:
        self._show_star(starred)
        self._change({"favourite": starred})

    def _change_tags(self, text: str) -> None:
        """Say also from what they were made: another window may have changed them since."""
        tags = tidy_tags([text])
        self._change({"tags": tags, "known": self._known_tags})
        self._known_tags = tags

    def _change_note(self) -> None:
        self._change({"note": self._note.toPlainText()})

    def _change(self, parts: NoteParts) -> None:
        if self._entry is not None:
            self._writer.change(self._entry.folder, parts)

    def _tell(self, folder: Path, error: PreflightError) -> None:
        if self._entry is not None and self._entry.folder == folder:
            self._trouble.setText(_("This was not written down: {reason}").format(reason=error.message()))
            self._trouble.show()

    def _show_written(self, folder: Path, notes: RunNotes) -> None:
        """Show what is there now; another window may have added to it, unseen by the list so far."""
        if self._entry is not None and self._entry.folder == folder:
            self._trouble.hide()
            now = {"tags": notes.tags, "note": notes.note, "favourite": notes.favourite}
            self.show_entry(self._entry.model_copy(update=now))

    def _measure(self) -> None:
        self._star_place.setFixedHeight(self._theme.px(FIELD_PX))
