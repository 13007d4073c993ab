"""Several cards of which one is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.card import ChoiceCard
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import clear


@dataclass
class Option:
    """One card.

    Attributes:
        value: What it stands for.
        title: Translated.
        text: Below the title, translated.
        picture: Above it.
        reason: Why it cannot be chosen, translated; empty when it can.
        details: Below the text.
    """

    value: str
    title: str
    text: str = ""
    picture: QWidget | None = None
    reason: str = ""
    details: Sequence[QWidget] = field(default_factory=tuple)


class Choices(QWidget):
    """Cards in as many columns as there is room for, all of a row equally high.

    Args:
        theme: Gives sizes.
        name: Begins the cards' names.
        width: The least of a card, pixels at a text size of 100 %.
        margins: Inside a card, in pixels.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme, name: str, width: int = 200, margins: int = Space.M) -> None:
        super().__init__()
        self._theme = theme
        self._name = name
        self._least = width
        self._margins = margins
        self._cards: dict[str, ChoiceCard] = {}
        self._columns = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(Space.M)
        theme.changed.connect(self._arrange_again)

    def set_options(self, options: Sequence[Option]) -> None:
        """Show other cards; the keyboard stays on the one of the same value."""
        focused = next((value for value, card in self._cards.items() if card.hasFocus()), None)
        clear(self._grid)
        self._cards = {option.value: self._card(option) for option in options}
        self._arrange_again()
        if focused is not None and focused in self._cards:
            self._cards[focused].setFocus(Qt.FocusReason.OtherFocusReason)

    def show_value(self, value: str | None) -> None:
        """Show which one is chosen."""
        for name, card in self._cards.items():
            card.set_chosen(name == value)

    def card(self, value: str) -> ChoiceCard | None:
        """Return the card of a value."""
        return self._cards.get(value)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Use as many columns as there is room for."""
        super().resizeEvent(event)
        if self._wanted() != self._columns:
            self._arrange_again()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Go from card to card with the arrow keys."""
        steps = {
            Qt.Key.Key_Right: 1,
            Qt.Key.Key_Left: -1,
            Qt.Key.Key_Down: self._columns,
            Qt.Key.Key_Up: -self._columns,
        }
        cards = list(self._cards.values())
        here = next((place for place, card in enumerate(cards) if card.hasFocus()), None)
        step = steps.get(Qt.Key(event.key()))
        if here is None or step is None or not 0 <= here + step < len(cards):
            super().keyPressEvent(event)
        else:
            cards[here + step].setFocus(Qt.FocusReason.TabFocusReason)

    def _card(self, option: Option) -> ChoiceCard:
        words = f"{option.title}. {option.reason or option.text}"
        card = ChoiceCard(words, name=f"{self._name}-{option.value}", margins=self._margins)
        if option.picture is not None:
            card.body.addWidget(option.picture)
            card.body.addSpacing(Space.XS)
        card.body.addWidget(Label(option.title, "strong"))
        for text in (option.text, option.reason):
            if text:
                card.body.addWidget(Label(text, "small"))
        if option.details:
            card.body.addSpacing(Space.S)
        for detail in option.details:
            card.body.addWidget(detail)
        card.body.addStretch(1)
        card.setEnabled(not option.reason)
        if option.reason:
            card.setToolTip(option.reason)
        card.chosen.connect(lambda: self.chosen.emit(option.value))
        return card

    def _wanted(self) -> int:
        words = max((card.minimumSizeHint().width() for card in self._cards.values()), default=0)
        least = max(self._theme.px(self._least), words) + self._grid.spacing()
        return max(1, min(len(self._cards), (self.width() + self._grid.spacing()) // least))

    def _arrange_again(self) -> None:
        for column in range(self._columns):
            self._grid.setColumnStretch(column, 0)
        self._columns = self._wanted()
        for place, card in enumerate(self._cards.values()):
            self._grid.addWidget(card, place // self._columns, place % self._columns)
            card.show()
        for column in range(self._columns):
            self._grid.setColumnStretch(column, 1)
