"""Draws the rows of a log that are in sight; nothing else of it costs anything.

`QListView` lays out every row again for each batch that is appended (1.1 s at a million rows), so the
rows, all of one height, are drawn here by the value of the scroll bar.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from gui.engine.texts import _
from gui.window.models.log_model import LogLine, LogModel
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme

_MARKS = {1: "!", 2: "×"}
_TOKENS = {1: "warn", 2: "bad"}


class LogArea(QAbstractScrollArea):
    """Rows of a log: number, mark, text; selection, and following the end.

    Args:
        theme: Colours and font.
    """

    followed = Signal()
    """It follows the end now, or does not any more."""

    moved = Signal()
    """Another row is the current one."""

    copy_wanted = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._model: LogModel | None = None
        self._needle = ""
        self._following = True
        self._moving = False
        self._rows_when_left = 0
        self._current = -1
        self._anchor = -1
        self._widest = 0.0
        self._drag = QTimer(self, interval=30)
        self._drag.timeout.connect(self._drag_on)
        self._drag_y = 0.0
        self.setObjectName("log-lines")
        self.setAccessibleName(_("Log"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setCornerWidget(QWidget())
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self.horizontalScrollBar().valueChanged.connect(self.viewport().update)
        theme.changed.connect(self._restyle)
        self._restyle()

    @property
    def following(self) -> bool:
        """Whether it follows the end."""
        return self._following

    @property
    def new_rows(self) -> int:
        """How many rows came since it follows no more."""
        return max(0, self._count() - self._rows_when_left) if not self._following else 0

    @property
    def current(self) -> int:
        """The current row; -1 for none."""
        return self._current

    @property
    def selection(self) -> tuple[int, int] | None:
        """First and last selected row."""
        if self._current < 0 or self._anchor < 0:
            return None
        return min(self._current, self._anchor), max(self._current, self._anchor)

    def set_model(self, model: LogModel | None) -> None:
        """Show another log."""
        self._model = model
        self._current = self._anchor = -1
        self._widest = 0.0
        self.follow()

    def set_needle(self, text: str) -> None:
        """Mark a text wherever it is seen."""
        self._needle = text.casefold()
        self.viewport().update()

    def refresh(self) -> None:
        """Show what the model has now."""
        rows = self._count()
        if self._current >= rows:
            self._current = self._anchor = -1
        self._rows_when_left = min(self._rows_when_left, rows)
        self._set_ranges()
        if self._following:
            self._move_to(self.verticalScrollBar().maximum())
        self.viewport().update()

    def follow(self) -> None:
        """Go to the end and stay there."""
        self._following = True
        self.refresh()
        self.followed.emit()

    def go_to(self, row: int) -> None:
        """Make a row the current one, in the middle of what is seen if it is out of sight."""
        self._current = self._anchor = row
        top, seen = self.verticalScrollBar().value(), self._seen()
        if not top <= row < top + seen - 1:
            self._leave()
            self.verticalScrollBar().setValue(max(0, row - seen // 2))
        self._tell_current()

    def top_row(self) -> int:
        """Return the first row in sight."""
        return self.verticalScrollBar().value()

    def lines_in_sight(self) -> list[LogLine]:
        """Return the rows that are seen."""
        return [line for _row, line in self._in_sight()]

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Room for some rows."""
        return QSize(240, round(self._height * 4))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the rows in sight."""
        del event
        painter = QPainter(self.viewport())
        painter.setFont(self._font)
        widest = self._widest
        for row, line in self._in_sight():
            place = QRectF(0, (row - self.top_row()) * self._height, self.viewport().width(), self._height)
            self._draw_row(painter, place, row, line)
            widest = max(widest, self._metrics.horizontalAdvance(line.text))
        painter.end()
        if widest > self._widest:
            self._widest = widest
            QTimer.singleShot(0, self, self._set_ranges)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """More or fewer rows are in sight."""
        super().resizeEvent(event)
        self.refresh()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Move, select and copy by keys."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_wanted.emit()
            return
        if event.matches(QKeySequence.StandardKey.SelectAll):
            self._anchor, self._current = 0, self._count() - 1
            self.viewport().update()
            return
        row = self._row_by_key(event)
        if row is not None and self._count():
            self._select(row, extend=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
            return
        bar = self.horizontalScrollBar()
        if event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            bar.setValue(bar.value() + (1 if event.key() == Qt.Key.Key_Right else -1) * bar.singleStep())
            return
        event.ignore()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Choose a row."""
        if event.button() == Qt.MouseButton.LeftButton and self._count():
            extend = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self._select(self._row_at(event.position().y()), extend=extend)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Select rows; beyond an edge it scrolls."""
        if event.buttons() & Qt.MouseButton.LeftButton and self._count():
            self._drag_y = event.position().y()
            if 0 <= self._drag_y < self.viewport().height():
                self._drag.stop()
                self._select(self._row_at(self._drag_y), extend=True)
            elif not self._drag.isActive():
                self._drag.start()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """The selection is made."""
        del event
        self._drag.stop()

    def _draw_row(self, painter: QPainter, place: QRectF, row: int, line: LogLine) -> None:
        theme, selection = self._theme, self.selection
        token = _TOKENS.get(line.level)
        if token is not None:
            painter.fillRect(place, theme.color(f"{token}_soft"))
        if selection is not None and selection[0] <= row <= selection[1]:
            painter.fillRect(place, theme.color("accent_soft"))
        numbers = self._numbers_width()
        base = place.y() + (self._height - self._metrics.height()) / 2 + self._metrics.ascent()
        text_left = numbers + theme.px(Space.XL)
        painter.save()
        painter.setClipRect(QRectF(text_left, place.y(), place.width() - text_left, place.height()))
        left = text_left - self.horizontalScrollBar().value()
        self._draw_hits(painter, QRectF(left, place.y(), 0, place.height()), line.text)
        painter.setPen(theme.color("text"))
        painter.drawText(QPointF(left, base), line.text)
        painter.restore()
        painter.setPen(theme.color("faint"))
        number = f"{line.number}"
        painter.drawText(QPointF(numbers - self._metrics.horizontalAdvance(number), base), number)
        if token is not None:
            painter.setPen(theme.color(token))
            painter.drawText(QPointF(numbers + theme.px(Space.S), base), _MARKS[line.level])
        if row == self._current and self.hasFocus():
            painter.setPen(QPen(theme.color("accent"), 1))
            painter.drawRect(place.adjusted(0.5, 0.5, -1, -1))

    def _draw_hits(self, painter: QPainter, place: QRectF, text: str) -> None:
        """Mark what was searched for: coloured and underlined."""
        folded = text.casefold()
        if not self._needle or len(folded) != len(text):
            return
        at = folded.find(self._needle)
        while at >= 0:
            end = at + len(self._needle)
            left = place.x() + self._metrics.horizontalAdvance(text[:at])
            width = self._metrics.horizontalAdvance(text[at:end])
            hit = QRectF(left, place.y() + 1, width, place.height() - 2)
            painter.fillRect(hit, self._theme.color("warn_soft"))
            painter.fillRect(QRectF(left, hit.bottom() - 1, width, 2), self._theme.color("warn"))
            at = folded.find(self._needle, end)

    def _in_sight(self) -> Iterator[tuple[int, LogLine]]:
        model = self._model
        if model is not None:
            top = self.top_row()
            for row in range(top, min(top + self._seen() + 1, model.rows)):
                yield row, model.line(row)

    def _row_by_key(self, event: QKeyEvent) -> int | None:
        current = self._current if self._current >= 0 else self.top_row()
        page = max(1, self._seen() - 1)
        return {
            Qt.Key.Key_Up: current - 1,
            Qt.Key.Key_Down: current + 1,
            Qt.Key.Key_PageUp: current - page,
            Qt.Key.Key_PageDown: current + page,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: self._count() - 1,
        }.get(Qt.Key(event.key()))

    def _select(self, row: int, *, extend: bool) -> None:
        last = self._count() - 1
        row = max(0, min(row, last))
        self._current = row
        if not extend or self._anchor < 0:
            self._anchor = row
        bar = self.verticalScrollBar()
        seen = max(1, self._seen())
        if row < bar.value():
            bar.setValue(row)
        elif row >= bar.value() + seen:
            bar.setValue(row - seen + 1)
        if row < last and self._following:
            self._leave()
        elif row == last and bar.value() == bar.maximum():
            self._rejoin()
        self._tell_current()

    def _tell_current(self) -> None:
        if self._model is not None and 0 <= self._current < self._count():
            line = self._model.line(self._current)
            self.setAccessibleDescription(
                _("Line {number}: {text}").format(number=line.number, text=line.text)
            )
        self.viewport().update()
        self.moved.emit()

    def _drag_on(self) -> None:
        step = -1 if self._drag_y < 0 else 1
        self._select(self._current + step, extend=True)

    def _scrolled(self, value: int) -> None:
        if not self._moving:
            if value >= self.verticalScrollBar().maximum():
                self._rejoin()
            else:
                self._leave()
        self.viewport().update()

    def _leave(self) -> None:
        if self._following:
            self._following = False
            self._rows_when_left = self._count()
            self.followed.emit()

    def _rejoin(self) -> None:
        if not self._following:
            self._following = True
            self.followed.emit()

    def _move_to(self, value: int) -> None:
        self._moving = True
        self.verticalScrollBar().setValue(value)
        self._moving = False

    def _set_ranges(self) -> None:
        self._moving = True
        bar, seen = self.verticalScrollBar(), self._seen()
        bar.setRange(0, max(0, self._count() - seen))
        bar.setPageStep(max(1, seen))
        side = self.horizontalScrollBar()
        room = self.viewport().width() - self._numbers_width() - self._theme.px(Space.XL + Space.S)
        side.setRange(0, max(0, round(self._widest - room)))
        side.setPageStep(max(1, round(room)))
        side.setSingleStep(round(self._metrics.averageCharWidth() * 4))
        self._moving = False
        if self._following:
            self._move_to(bar.maximum())

    def _restyle(self) -> None:
        self._font = self._theme.font("mono")
        self._metrics = QFontMetricsF(self._font)
        self._height = round(self._metrics.height()) + self._theme.px(Space.XS)
        self._widest = 0.0
        self.refresh()

    def _row_at(self, y: float) -> int:
        return self.top_row() + int(y // self._height)

    def _count(self) -> int:
        return self._model.rows if self._model is not None else 0

    def _seen(self) -> int:
        return int(self.viewport().height() // self._height)

    def _numbers_width(self) -> float:
        lines = self._model.state.lines if self._model is not None else 0
        digits = max(3, len(str(lines + 1)))
        return self._metrics.horizontalAdvance("0") * digits + self._theme.px(Space.S)
