"""What the cards of the page are made of: rows, and values that exclude each other."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QWidget

from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import FlowLayout, column


class SettingRow(QWidget):
    """A setting's name and what it does, with its editor at the right.

    Args:
        title: Translated.
        text: What it does, translated.
        editor: Changes it.
    """

    def __init__(self, title: str, text: str, editor: QWidget) -> None:
        super().__init__()
        self.text = Label(text, "small")
        if not text:
            self.text.hide()
        words = column(Label(title), self.text, spacing=2)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, Space.XS, 0, Space.XS)
        layout.setSpacing(Space.XL)
        layout.addLayout(words, 1)
        layout.addWidget(editor, 0, Qt.AlignmentFlag.AlignVCenter)


class Segments(QWidget):
    """A few values beside each other, of which one is chosen; arrow keys go from one to the next.

    Args:
        options: Value and words of each.
        name: Begins the object names.
        words: The accessible name.
    """

    changed = Signal(object)
    """The user chose a value."""

    def __init__(self, options: Sequence[tuple[object, str]], *, name: str, words: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName(words)
        self._group = QButtonGroup(self)
        self._buttons: dict[object, Button] = {}
        for value, text in options:
            button = Button(text, "segment", name=f"{name}-{value}")
            button.setAccessibleName(f"{words}: {text}")
            button.clicked.connect(lambda _on=False, value=value: self.changed.emit(value))
            self._group.addButton(button)
            self._buttons[value] = button
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(Space.S)
        for button in self._buttons.values():
            row.addWidget(button)

    def show_value(self, value: object) -> None:
        """Show which one is chosen, without telling of a change."""
        if value in self._buttons:
            self._buttons[value].setChecked(True)


def flow(*widgets: QWidget) -> QWidget:
    """Return widgets that begin a new line where there is no room."""
    held = QWidget()
    held.setLayout(FlowLayout(*widgets))
    return held
