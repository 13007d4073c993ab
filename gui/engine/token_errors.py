"""What can be wrong with a token and the keyring that keeps it; import these from ``gui.engine.errors``."""

from __future__ import annotations

from gui.engine.error_base import PreflightError
from gui.engine.texts import _


class KeyringRefused(PreflightError):
    """The system's keyring does not do what was asked of it.

    Attributes:
        name: The trainer's argument whose token it is about.
        reason: Why, in a few words.
    """

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(name, reason)
        self.name = name
        self.reason = reason

    def message(self) -> str:
        """Say what it is about, and the ways out."""
        return _(
            "The system's keyring cannot be used for the token of {name}: {reason}. Unlock it, set the token "
            "as a variable of the environment, or forget it (in the window, under Settings)."
        ).format(name=self.name, reason=self.reason)


class NotAToken(PreflightError):
    """What should be kept as a token cannot be one.

    Attributes:
        name: The trainer's argument that it is for. The text itself is kept nowhere.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def message(self) -> str:
        """Say what a token looks like."""
        return _(
            "This is no token for {name}: a token is one word of at least eight letters, digits and signs."
        ).format(name=self.name)
