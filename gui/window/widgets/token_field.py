"""Takes a token without showing it, and says whether one is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from gui.engine.errors import PreflightError
from gui.engine.redaction import Secret
from gui.engine.texts import _
from gui.engine.token_store import Place
from gui.window.theme.space import Space
from gui.window.widgets.buttons import Button
from gui.window.widgets.chip import Chip, Tone
from gui.window.widgets.inputs import TextField
from gui.window.widgets.labels import Label
from gui.window.widgets.layouts import FlowLayout, held, row

if TYPE_CHECKING:
    from gui.window.bridges.tokens import Tokens


class TokenField(QWidget):
    """A line of dots, a button that keeps what was put in, one that forgets it.

    Args:
        argument: The trainer's argument whose token it is.
        tokens: Keeps it.
        words: What it is for, translated.
    """

    def __init__(self, argument: str, tokens: Tokens, *, words: str) -> None:
        super().__init__()
        name = f"token-{argument}"
        self.setObjectName(name)
        self._argument = argument
        self._tokens = tokens
        self.field = TextField(live=True, mono=True, name=f"{name}-field", words=words)
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self._keep = Button(_("Keep it"), compact=True, name=f"{name}-keep")
        self._forget = Button(_("Forget it"), compact=True, name=f"{name}-forget")
        self._state = Chip(name=f"{name}-state")
        self._trouble = Label("", "small")
        self._trouble.setObjectName(f"{name}-trouble")
        line = row(spacing=Space.S)
        line.addWidget(self.field, 1)
        line.addWidget(self._keep)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.XS)
        layout.addLayout(line)
        layout.addWidget(self._trouble)
        layout.addWidget(held(FlowLayout(self._state, self._forget, spacing=Space.S)))
        self.field.changed.connect(self._typed)
        self.field.returnPressed.connect(self._keep_it)
        self._keep.clicked.connect(self._keep_it)
        self._forget.clicked.connect(self._forget_it)
        tokens.changed.connect(self._show)
        self._say("")
        self._show()

    def _show(self) -> None:
        place, busy = self._tokens.known.get(self._argument), self._tokens.busy(self._argument)
        self._state.show_state(*self._state_words(place, busy=busy))
        self._forget.setVisible(place is not None)
        self._forget.setEnabled(not busy)
        self.field.setPlaceholderText(_("Put another one in here") if place else _("Put a token in here"))
        self._offer()

    def _state_words(self, place: Place | None, *, busy: bool) -> tuple[str, Tone]:
        variable = self._tokens.in_environment(self._argument)
        if busy:
            return _("asking the keyring …"), "neutral"
        if variable:
            return _("{variable} is set, and wins").format(variable=variable), "accent"
        if place == "keyring":
            return _("in the keyring"), "good"
        if place == "memory":
            return _("until this window is closed"), "warn"
        return _("none is kept"), "neutral"

    def _offer(self) -> None:
        self._keep.setEnabled(bool(self.field.text().strip()) and not self._tokens.busy(self._argument))

    def _typed(self, _text: str) -> None:
        self._say("")
        self._offer()

    def _keep_it(self) -> None:
        if self._keep.isEnabled():
            secret = Secret(self.field.text().strip())
            self._tokens.keep({self._argument: secret}, self._empty, self._refused)

    def _forget_it(self) -> None:
        self._tokens.forget(self._argument, self._refused)
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)  # the button is gone when it is done

    def _empty(self) -> None:
        """Show nothing of what was put in, now that it is kept."""
        self.field.show_value("")
        self._say("")
        self._offer()

    def _refused(self, error: PreflightError) -> None:
        self._say(str(error))

    def _say(self, trouble: str) -> None:
        self.field.show_trouble(trouble)
        self._trouble.setText(trouble)
        self._trouble.setVisible(bool(trouble))
