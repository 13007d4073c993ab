"""Inputs that a turning wheel cannot change by accident, and that tell what is wrong below themselves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import (
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QComboBox, QFileDialog, QHBoxLayout, QLineEdit, QWidget

from gui.engine.texts import _
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.dropping import Drops
from gui.window.widgets.styled import style


class Choice(QComboBox):
    """One of several values; the wheel scrolls the page, not the value.

    Args:
        options: Value and words of each.
        editable: Whether other values can be typed.
    """

    changed = Signal(object)
    """The user chose a value, or typed one."""

    def __init__(
        self,
        options: Sequence[tuple[object, str]] = (),
        *,
        editable: bool = False,
        name: str = "",
        words: str = "",
    ) -> None:
        super().__init__()
        if name:
            self.setObjectName(name)
        self.setAccessibleName(words)
        self.setEditable(editable)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(8)
        self.set_options(options)
        self.activated.connect(lambda _index: self.changed.emit(self.value()))
        line = self.lineEdit()
        if line is not None:
            self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
            line.setAccessibleName(words)  # it, not the box, is what a screen reader comes to
            line.editingFinished.connect(self._typed)

    def set_options(self, options: Sequence[tuple[object, str]]) -> None:
        """Offer other values."""
        self.blockSignals(True)
        self.clear()
        for value, words in options:
            self.addItem(words, value)
        self.blockSignals(False)

    def value(self) -> object:
        """Return the chosen value; what was typed where it is none of those offered."""
        if self.isEditable():
            text = self.currentText()
            index = self.findText(text)
            return self.itemData(index) if index >= 0 else text
        return self.currentData()

    def show_value(self, value: object) -> None:
        """Show a value without telling of a change; one that is not offered is added as it is."""
        self.blockSignals(True)
        index = next((i for i in range(self.count()) if self.itemData(i) == value), -1)
        if index < 0 and not self.isEditable() and value is not None:
            self.addItem(str(value), value)
            index = self.count() - 1
        self.setCurrentIndex(index)
        if index < 0 and self.isEditable():
            self.setEditText("" if value is None else str(value))
        self.blockSignals(False)
        self._shown = self.value()

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """Leave the wheel to the page."""
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the arrow, which a style sheet could only take from a file of one colour."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.palette().placeholderText().color(), 1.75))
        centre = QPointF(self.width() - 16, self.height() / 2 + 1)
        painter.drawPolyline([centre + QPointF(-4, -2), centre + QPointF(0, 2), centre + QPointF(4, -2)])

    def _typed(self) -> None:
        value = self.value()
        if value != getattr(self, "_shown", None):
            self._shown = value
            self.changed.emit(value)


class TextField(QLineEdit):
    """A line of text. `changed` comes when typing ends (Enter or leaving) or, with ``live``, at each key.

    Args:
        live: Tell each change at once.
        mono: In the font of code.
    """

    changed = Signal(str)

    def __init__(
        self,
        text: str = "",
        *,
        placeholder: str = "",
        live: bool = False,
        mono: bool = False,
        name: str = "",
        words: str = "",
    ) -> None:
        super().__init__(text)
        if name:
            self.setObjectName(name)
        self.setAccessibleName(words or placeholder)
        self.setPlaceholderText(placeholder)
        self._told = text
        if mono:
            style(self, mono=True)
        if live:
            self.textEdited.connect(self._tell)
        else:
            self.editingFinished.connect(lambda: self._tell(self.text()))

    def show_value(self, text: str) -> None:
        """Show a text without telling of a change; where the user types, the caret stays."""
        self._told = text
        if text != self.text():
            position = self.cursorPosition()
            self.setText(text)
            self.setCursorPosition(min(position, len(text)) if self.hasFocus() else 0)

    def show_trouble(self, trouble: str = "") -> None:
        """Mark the field as wrong, with the reason in its tooltip."""
        style(self, trouble=bool(trouble))
        self.setToolTip(trouble)
        self.setAccessibleDescription(trouble)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Escape brings back what was there before the typing."""
        if event.key() == Qt.Key.Key_Escape and self.text() != self._told:
            self.setText(self._told)
        else:
            super().keyPressEvent(event)

    def _tell(self, text: str) -> None:
        if text != self._told:
            self._told = text
            self.changed.emit(text)


class Number(TextField):
    """A number, kept as it is written: ``1e-4`` stays ``1e-4``. Up and Down step through it.

    Args:
        whole: Only whole numbers.
        low: The least sensible value; None for none.
        high: The greatest.
        step: What Up and Down add; None halves and doubles, as suits learning rates.
        optional: Whether it may be left empty.
    """

    value_changed = Signal(object)
    """An int or a float, None when it was emptied, the text itself where it is no number."""

    def __init__(
        self,
        *,
        whole: bool = False,
        low: float | None = None,
        high: float | None = None,
        step: float | None = 1,
        optional: bool = True,
        placeholder: str = "",
        name: str = "",
        words: str = "",
    ) -> None:
        super().__init__(placeholder=placeholder, name=name, words=words)
        self._whole = whole
        self._low, self._high, self._step = low, high, step
        self._optional = optional
        self.changed.connect(lambda text: self.value_changed.emit(self._read(text)))

    def value(self) -> object:
        """Return the number, None where there is nothing, the text where it is no number."""
        return self._read(self.text())

    def show_number(self, value: object) -> None:
        """Show a value as it is best written."""
        self.show_value(number_text(value))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Step with Up and Down."""
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._nudge(1 if event.key() == Qt.Key.Key_Up else -1)
        else:
            super().keyPressEvent(event)

    def _nudge(self, direction: int) -> None:
        value = self.value()
        if not isinstance(value, int | float):
            return
        if self._step is None:
            new = value * 2 if direction > 0 else value / 2
        else:
            new = value + direction * self._step
        new = max(self._low, new) if self._low is not None else new
        new = min(self._high, new) if self._high is not None else new
        text = number_text(round(new) if self._whole else float(f"{new:.6g}"))
        self.setText(text)
        self._tell(text)

    def _read(self, text: str) -> object:
        text = text.strip().replace("\u2212", "-")
        if not text:
            return None
        plain = text.replace(",", "") if self._whole else text.replace(",", ".")
        try:
            return int(plain) if self._whole else _float(plain)
        except ValueError:
            return text


def _float(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def number_text(value: object) -> str:
    """Return a value as people write it: 0.0001 is ``1e-4``, 1.0 is ``1``."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, float):
        return str(value)
    if not math.isfinite(value):
        return str(value)
    if value and abs(value) < 1e-2:
        mantissa, exponent = f"{value:e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    return f"{value:.12g}"


class PathField(QWidget):
    """A path: typed, dropped, or chosen in the system's dialog.

    Args:
        kind: What is wanted; ``save`` may be new.
        pattern: Of the dialog, such as ``Models (*.safetensors)``.
        words: The accessible name.
    """

    changed = Signal(str)

    def __init__(
        self,
        kind: Literal["file", "folder", "save", "any"] = "file",
        *,
        pattern: str = "",
        placeholder: str = "",
        name: str = "",
        words: str = "",
    ) -> None:
        super().__init__()
        self._kind = kind
        self._pattern = pattern
        self.field = TextField(placeholder=placeholder, name=name, words=words)
        self.browse = Button(_("Choose…"), compact=True, name=f"{name}-choose" if name else "")
        self.browse.setAccessibleName(f"{words}: {_('Choose…')}" if words else _("Choose…"))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.S)
        layout.addWidget(self.field, 1)
        layout.addWidget(self.browse)
        self.field.setAcceptDrops(False)
        Drops(
            self,
            lambda paths: self._use(paths[0]),
            wants=lambda paths: len(paths) == 1,
            shows=self.field,
        )
        self.setFocusProxy(self.field)
        self.field.changed.connect(self.changed)
        self.browse.clicked.connect(self._choose)

    def path(self) -> str:
        """Return what is written, without quotes around it."""
        return self.field.text().strip().strip('"')

    def show_value(self, text: object) -> None:
        """Show a path without telling of a change."""
        self.field.show_value("" if text is None else str(text))
        self.field.setToolTip(self.field.text())

    def show_trouble(self, trouble: str = "") -> None:
        """Mark the field as wrong."""
        self.field.show_trouble(trouble)

    def _choose(self) -> None:
        start = self.path()
        if self._kind == "folder":
            path = QFileDialog.getExistingDirectory(self, self.field.accessibleName(), start)
        elif self._kind == "save":
            path = QFileDialog.getSaveFileName(self, self.field.accessibleName(), start, self._pattern)[0]
        else:
            path = QFileDialog.getOpenFileName(self, self.field.accessibleName(), start, self._pattern)[0]
        if path:
            self._use(str(Path(path)))

    def _use(self, path: str) -> None:
        self.show_value(path)
        self.changed.emit(path)
