"""What is said below a caption: its tokens, what it lacks, what it is written in."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gui.engine.dataset.caption_marks import CaptionMarks
from gui.engine.dataset.caption_settings import CaptionSettings
from gui.engine.texts import _, ngettext
from gui.window.pages.data.caption_desk import OpenCaption
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.chip import Chip, Tone
from gui.window.widgets.layouts import FlowLayout, clear


def token_words(marks: CaptionMarks, settings: CaptionSettings) -> tuple[str, Tone]:
    """Return how many tokens a caption is, and whether that is too many."""
    if settings.limit is None:
        return ngettext("{count} token", "{count} tokens", marks.tokens).format(count=marks.tokens), "neutral"
    if settings.exact:
        words = _("{count} of {limit} tokens")
    else:
        words = _("about {count} of {limit} tokens (estimated)")
    over = marks.tokens > settings.limit
    text = words.format(count=marks.tokens, limit=settings.limit)
    if over:
        text += " · " + _("the end is not read")
    return text, "bad" if over else "neutral"


class CaptionNotes(QWidget):
    """Chips below a caption, and what can be done about them."""

    convert_wanted = Signal()
    restore_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._flow = FlowLayout(spacing=Space.S)
        self.setLayout(self._flow)
        self._shown: list[tuple[str, Tone, str]] = []
        self.convert = Button(_("Convert to UTF-8"), "link", compact=True, name="caption-convert")
        self.convert.clicked.connect(self.convert_wanted)
        self.original = Button(_("Bring the original back…"), "link", compact=True, name="caption-original")
        self.original.clicked.connect(self.restore_wanted)
        self.convert.hide()
        self.original.hide()

    def show_caption(
        self, caption: OpenCaption, marks: CaptionMarks, text: str, trigger: str, *, dirty: bool
    ) -> None:
        """Say what there is to say.

        Args:
            caption: As it stands on the disk.
            marks: What there is to see in the text.
            text: As it was typed.
            trigger: The trigger word; empty for none.
            dirty: Whether it is not written yet.
        """
        notes = list(_notes(caption, marks, text, trigger, dirty=dirty))
        if notes != self._shown:
            self._shown = notes
            self._flow.removeWidget(self.convert)
            self._flow.removeWidget(self.original)
            clear(self._flow)
            for words, tone, name in notes:
                self._flow.addWidget(Chip(words, tone, name=name))
            self._flow.addWidget(self.convert)
            self._flow.addWidget(self.original)
        self.convert.setVisible(caption.edit.encoding != "utf-8")
        self.original.setVisible(caption.has_original)


def _notes(
    caption: OpenCaption, marks: CaptionMarks, text: str, trigger: str, *, dirty: bool
) -> Iterator[tuple[str, Tone, str]]:
    yield (*token_words(marks, caption.where.settings), "caption-tokens")
    if dirty:
        yield _("not written yet"), "accent", "caption-unwritten"
    if caption.edit.before is None and not text.strip():
        yield _("no caption"), "warn", "caption-missing"
    elif not text.strip():
        yield _("empty: the trainer stops at it"), "bad", "caption-empty"
    elif trigger and not marks.triggers:
        yield _("trigger word “{word}” is missing").format(word=trigger), "warn", "caption-no-trigger"
    if marks.unread:
        yield _("only the first line is read"), "neutral", "caption-unread"
    if caption.edit.encoding != "utf-8":
        words = _("in {encoding}, which the trainer does not read").format(encoding=caption.edit.encoding)
        yield words, "bad", "caption-encoding"
