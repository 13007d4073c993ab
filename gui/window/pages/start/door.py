"""A door: a card with a chip, a title, a text, and what can be done."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.busy import Busy
from gui.window.widgets.card import Card
from gui.window.widgets.chip import Chip
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import FlowLayout
from gui.window.widgets.styled import style

NARROWEST = 250
"""Of a door, pixels at a text size of 100 %."""


class Door(Card):
    """One way to begin.

    Attributes:
        chip: What it is about, or how it stands.
        text: In a sentence or two.
        trouble: What is wrong; hidden where nothing is.
        more: For what only this door has.
        busy: Shown while something is prepared.
        buttons: What can be done.

    Args:
        name: The object name.
        title: Translated.
    """

    def __init__(self, name: str, title: str) -> None:
        super().__init__(margins=Space.XL - Space.XS, name=name)
        self.chip = Chip(name=f"{name}-chip")
        self.heading = Label(title, "card")
        self.text = Label("", "muted")
        self.text.setObjectName(f"{name}-text")
        self.trouble = Label("")
        self.trouble.setObjectName(f"{name}-trouble")
        style(self.trouble, tone="bad")
        self.trouble.hide()
        self.more = QVBoxLayout()
        self.more.setSpacing(Space.S)
        self.busy = Busy(name=f"{name}-busy")
        self.busy.cancel.setObjectName(f"{name}-cancel")
        self.busy.hide()
        self.buttons = FlowLayout()
        self.body.addWidget(self.chip, 0, Qt.AlignmentFlag.AlignLeft)
        for part in (self.heading, self.text, self.trouble):
            self.body.addWidget(part)
        self.body.addLayout(self.more)
        self.body.addStretch(1)
        self.body.addWidget(self.busy)
        self.body.addSpacing(Space.S)
        self.body.addLayout(self.buttons)
        self.setAccessibleName(title)

    def show_trouble(self, text: str) -> None:
        """Say what is wrong; an empty text says that nothing is."""
        self.trouble.setText(text)
        self.trouble.setVisible(bool(text))


class Doors(QWidget):
    """Doors beside each other, below each other where there is no room.

    Args:
        theme: Gives sizes.
        doors: In their order.
    """

    def __init__(self, theme: Theme, *doors: QWidget) -> None:
        super().__init__()
        self._theme = theme
        self._doors = doors
        self._columns = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(Space.L)
        theme.changed.connect(self._arrange)
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Use the room."""
        super().resizeEvent(event)
        self._arrange()

    def event(self, event: QEvent) -> bool:
        """Arrange anew when a door says something else."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._arrange()
        return super().event(event)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Any width that holds one door will do; below each other they always can be."""
        widest = max(door.minimumSizeHint().width() for door in self._doors)
        return QSize(widest, super().minimumSizeHint().height())

    def _arrange(self) -> None:
        widest = max(door.minimumSizeHint().width() for door in self._doors)
        fit = (self.width() + Space.L) // (max(self._theme.px(NARROWEST), widest) + Space.L)
        columns = len(self._doors) if fit >= len(self._doors) else 1
        if columns == self._columns:
            return
        self._columns = columns
        for index, door in enumerate(self._doors):
            self._grid.addWidget(door, index // columns, index % columns)
        for column in range(len(self._doors)):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)
