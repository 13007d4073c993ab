"""The text of one caption: where it is taken apart and cut off, and where the trigger word stands."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtGui import (
    QFont,
    QGuiApplication,
    QInputMethodEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QPlainTextEdit

from gui.engine.dataset.caption_marks import CaptionMarks, Span
from gui.engine.texts import _
from gui.window.theme.theme import Theme

_LINE_END = "\u2029"
"""How Qt writes the end of a line in a raw text."""


class CaptionEditor(QPlainTextEdit):
    """A caption that can be changed; its marks are found elsewhere, since that takes a while.

    Args:
        theme: Gives the colours.
    """

    typed = Signal()
    """The user changed the text."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("caption-text")
        self.setAccessibleName(_("Caption"))
        self.setTabChangesFocus(True)
        self._theme = theme
        self._marks = CaptionMarks()
        self._colours = _Colours(self.document(), theme)
        theme.changed.connect(self._colours.rehighlight)
        self.textChanged.connect(self._changed)
        self._known = ""

    def show_text(self, text: str) -> None:
        """Show another caption; what was typed before is undone no more."""
        self.show_marks(CaptionMarks(), "")
        self.blockSignals(True)
        self.setPlainText(text)
        self.moveCursor(QTextCursor.MoveOperation.End)
        self.blockSignals(False)
        self._known = self.text()

    def show_marks(self, marks: CaptionMarks, text: str) -> None:
        """Mark what is cut off, and the rest of it.

        Args:
            marks: What there is to see.
            text: Where it was found; places are counted in letters, Qt counts halves of some.
        """
        self._marks = _as_qt_counts(marks, text)
        self._colours.show_marks(self._marks)
        self.viewport().update()

    def text(self) -> str:
        """Return the text; lines end in a line feed, whatever the file has."""
        raw = self.document().toRawText().replace(_LINE_END, "\n")
        return raw.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def finish_composing(self) -> None:
        """Take what an input method has not finished as it stands, such as a last Hangul syllable."""
        QGuiApplication.inputMethod().commit()
        composed = self.textCursor().block().layout().preeditAreaText()
        if composed:
            event = QInputMethodEvent("", [])
            event.setCommitString(composed)
            QCoreApplication.sendEvent(self, event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw lines where a text encoder reads on anew."""
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        last = self.document().characterCount() - 1
        cut = {start for start, _end in self._marks.cut}
        for place, _tokens in self._marks.chunks:
            cursor = QTextCursor(self.document())
            cursor.setPosition(min(place, last))  # letters may have gone since the marks were found
            where = self.cursorRect(cursor)
            painter.setPen(QPen(self._theme.color("bad" if place in cut else "accent"), 2))
            painter.drawLine(where.topLeft(), where.bottomLeft())
        painter.end()

    def _changed(self) -> None:
        """Highlighting is a change to Qt as well; only another text is one to the user."""
        text = self.text()
        if text != self._known:
            self._known = text
            self.typed.emit()


def _as_qt_counts(marks: CaptionMarks, text: str) -> CaptionMarks:
    """Return marks counted in halves of surrogate pairs, as Qt counts."""
    if all(letter <= "\uffff" for letter in text):
        return marks

    def at(place: int) -> int:
        return place + sum(letter > "\uffff" for letter in text[:place])

    def spans(given: tuple[Span, ...]) -> tuple[Span, ...]:
        return tuple((at(start), at(end)) for start, end in given)

    return replace(
        marks,
        chunks=tuple((at(place), tokens) for place, tokens in marks.chunks),
        cut=spans(marks.cut),
        unread=spans((marks.unread,))[0] if marks.unread else None,
        triggers=spans(marks.triggers),
    )


class _Colours(QSyntaxHighlighter):
    """Gives the parts of a caption their colours; keeps away from what an input method is composing."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._theme = theme
        self._marks = CaptionMarks()

    def show_marks(self, marks: CaptionMarks) -> None:
        if marks != self._marks:
            self._marks = marks
            self.rehighlight()

    def highlightBlock(self, text: str) -> None:  # noqa: N802 - Qt's name
        """Colour one line."""
        del text  # Python counts its letters otherwise than Qt
        begin = self.currentBlock().position()
        spans = [(*span, self._trigger()) for span in self._marks.triggers]
        spans += [(*span, self._cut()) for span in self._marks.cut]
        if self._marks.unread:
            spans.append((*self._marks.unread, self._unread()))
        for start, end, look in spans:
            first = max(0, start - begin)
            last = min(self.currentBlock().length(), end - begin)
            if first < last:
                self.setFormat(first, last - first, look)

    def _trigger(self) -> QTextCharFormat:
        look = QTextCharFormat()
        look.setForeground(self._theme.color("accent"))
        look.setBackground(self._theme.color("accent_soft"))
        look.setFontWeight(QFont.Weight.DemiBold)
        return look

    def _cut(self) -> QTextCharFormat:
        look = QTextCharFormat()
        look.setForeground(self._theme.color("bad"))
        look.setBackground(self._theme.color("bad_soft"))
        look.setFontStrikeOut(True)
        return look

    def _unread(self) -> QTextCharFormat:
        look = QTextCharFormat()
        look.setForeground(self._theme.color("faint"))
        look.setFontItalic(True)
        return look
