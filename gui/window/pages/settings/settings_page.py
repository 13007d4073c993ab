"""What the user chooses once and for all; everything is kept at once, there is no button to save."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from gui.engine.errors import PreflightError
from gui.engine.paths import Home
from gui.engine.texts import _
from gui.window.bridges.hardware import Hardware
from gui.window.bridges.settings import Settings
from gui.window.bridges.tasks import Tasks
from gui.window.bridges.tokens import Tokens
from gui.window.bridges.trainers import Trainers
from gui.window.pages.settings.choices_card import RunsCard
from gui.window.pages.settings.folders_card import FoldersCard
from gui.window.pages.settings.learned_card import LearnedCard
from gui.window.pages.settings.looks_card import LooksCard
from gui.window.pages.settings.tokens_card import TokensCard
from gui.window.pages.settings.trainers_card import TrainersCard
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.banner import Banner
from gui.window.widgets.buttons import Button
from gui.window.widgets.card import Card
from gui.window.widgets.page import Page, Scroll

_WIDEST = 1000
"""Of a column, pixels at a text size of 100 %: in longer ones editors are far from their names."""
_TWO = 1400
"""From this width on there are two columns."""


class _Columns(QWidget):
    """Cards in one column, or in two where there is room; none wider than is good to read.

    Args:
        first: Cards of the first column.
        second: Cards of the second, or below the first.
        theme: Gives sizes.
    """

    def __init__(self, first: Sequence[Card], second: Sequence[Card], theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._box = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        self._box.setSpacing(Space.L)
        for cards in (first, second):
            column = QVBoxLayout()
            column.setSpacing(Space.L)
            for card in cards:
                column.addWidget(card)
            column.addStretch(1)
            self._box.addLayout(column, 1)
        theme.changed.connect(self._arrange)
        self._arrange()

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Any height will do: the scroll area asks for the height that the words need at its width."""
        return QSize(super().minimumSizeHint().width(), 0)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Use the room."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        two = self.width() >= self._theme.px(_TWO)
        direction = QBoxLayout.Direction.LeftToRight if two else QBoxLayout.Direction.TopToBottom
        self._box.setDirection(direction)
        self._box.setStretch(0, 1 if two else 0)
        widest = self._theme.px(_WIDEST) * (2 if two else 1)
        # A margin, for a widget's greatest width is not heard when its height for a width is asked.
        self._box.setContentsMargins(0, 0, max(Space.XS, self.width() - widest), Space.XL)


class SettingsPage(Page):
    """The page.

    Args:
        settings: Holds and keeps the choices.
        trainers: The trainers of this machine.
        hardware: Its GPUs.
        tokens: Keeps tokens.
        tasks: Where blocking work is done.
        theme: Changes at once with what is chosen.
        icons: Draw pictures.
        home: Whose folders.
    """

    def __init__(
        self,
        *,
        settings: Settings,
        trainers: Trainers,
        hardware: Hardware,
        tokens: Tokens,
        tasks: Tasks,
        theme: Theme,
        icons: Icons,
        home: Home,
    ) -> None:
        title, subtitle = _("Settings"), _("Everything is kept at once.")
        super().__init__(title, subtitle, scrolls=False, name="settings-page")
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._settings = settings
        self._theme = theme
        self._trouble = self._make_trouble(icons)
        self._trainers = TrainersCard(
            trainers=trainers, settings=settings, tasks=tasks, icons=icons, home=home
        )
        self._runs = RunsCard(settings, hardware, theme, self._keep)
        self._looks = LooksCard(settings, theme, self._keep)
        self._tokens = tokens
        self._folders = FoldersCard(home, tasks, self._show_trouble)
        self._learned = LearnedCard(home, tasks, self._show_trouble)
        self.content.addWidget(self._trouble)
        self.content.addWidget(Scroll(self._make_columns(), name="settings-scroll"), 1)
        settings.changed.connect(self._use)
        trainers.refused.connect(self._show_refusal)
        layout = self.layout()
        if layout is not None:
            margins = layout.contentsMargins()
            margins.setBottom(0)  # what scrolls is cut by the window's own edge
            layout.setContentsMargins(margins)

    def _make_trouble(self, icons: Icons) -> Banner:
        """Return what says that something was not kept; it stays in sight however the page is scrolled."""
        trouble = Banner(icons, "bad", name="settings-trouble")
        close = Button(_("Close"), compact=True, name="settings-trouble-close")
        close.clicked.connect(trouble.hide)
        trouble.set_buttons(close)
        trouble.hide()
        return trouble

    def _make_columns(self) -> _Columns:
        """Arrange the cards: what is long at the left, the rest at the right or below."""
        rest: tuple[Card, ...] = (
            self._runs,
            self._learned,
            TokensCard(self._tokens),
            self._looks,
            self._folders,
        )
        return _Columns((self._trainers,), rest, self._theme)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Look at what may have changed since."""
        super().showEvent(event)
        self.setFocus(Qt.FocusReason.OtherFocusReason)  # from here Tab leads to the first control
        self._trainers.look_again()
        self._folders.count()
        self._learned.look()
        self._tokens.look()

    def _keep(self, **changes: Any) -> bool:
        """Keep a choice; where that cannot be done, say so and show what holds."""
        try:
            self._settings.change(**changes)
        except PreflightError as error:
            self._show_trouble(error)
            self._show_values()
            return False
        self._show_values()
        return True

    def _show_values(self) -> None:
        self._runs.show_values()
        self._looks.show_values()

    def _show_trouble(self, error: PreflightError) -> None:
        self._trouble.show_words(_("This was not done."), str(error))
        self._trouble.show()

    def _show_refusal(self, error: PreflightError) -> None:
        """Say why a wish about trainers was not done, unless the trainer's own entry says it."""
        if not self._trainers.tells(error):
            self._show_trouble(error)

    def _use(self, name: str) -> None:
        """Let a choice be seen at once, wherever it was made; that it was kept ends an older trouble."""
        self._trouble.hide()
        values = self._settings.values
        if name == "appearance":
            self._theme.set_appearance(values.appearance)
        elif name == "text_percent":
            self._theme.set_text_percent(values.text_percent)
        self._show_values()
