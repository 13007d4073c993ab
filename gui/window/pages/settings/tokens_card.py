"""Tokens for sites that models come from and figures go to: which are kept, and where."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.redaction import SECRET_ARGUMENTS
from gui.engine.texts import _
from gui.window.bridges.tokens import Tokens
from gui.window.theme.space import Space
from gui.window.widgets.card import Card
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import column, line
from gui.window.widgets.token_field import TokenField


class TokensCard(Card):
    """A row for each token; none of them is ever shown.

    Args:
        tokens: Keeps them.
    """

    def __init__(self, tokens: Tokens) -> None:
        super().__init__(_("Tokens"), name="settings-tokens")
        self._tokens = tokens
        self._place = Label("", "small")
        self._place.setObjectName("tokens-place")
        self.body.addWidget(Label(_token_words(), "small"))
        self.body.addWidget(self._place)
        for name in SECRET_ARGUMENTS:
            self.body.addWidget(line())
            self.body.addWidget(self._row(name))
        tokens.changed.connect(self._show)
        self._show()

    def _row(self, name: str) -> QWidget:
        title, text = _titles()[name]
        row = QWidget()
        layout = QVBoxLayout(row)
        layout.setContentsMargins(0, Space.XS, 0, Space.XS)
        layout.setSpacing(Space.S)
        layout.addLayout(column(Label(title), Label(text, "small"), Label(name, "mono"), spacing=2))
        layout.addWidget(TokenField(name, self._tokens, words=title))
        return row

    def _show(self) -> None:
        words = self._tokens.place_words()
        self._place.setText(words)
        self._place.setVisible(bool(words))


def _token_words() -> str:
    return _("Runs get them by their environment: no plan, no command line and no log holds them.")


def _titles() -> dict[str, tuple[str, str]]:
    return {
        "huggingface_token": (
            _("Hugging Face"),
            _("For models that ask for an account, and for uploads."),
        ),
        "wandb_api_key": (_("Weights & Biases"), _("For runs that log there.")),
    }
