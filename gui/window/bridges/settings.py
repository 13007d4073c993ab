"""The user's choices, kept at once when they change."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Signal

from gui.engine.paths import Home
from gui.engine.preferences import Preferences, change_preferences, load_preferences


class Settings(QObject):
    """Reads and writes the preferences.

    Args:
        home: Where they are kept.
    """

    changed = Signal(str)
    """One of them is other than before, by its name in ``Preferences``."""

    def __init__(self, home: Home) -> None:
        super().__init__()
        self._path = home.preferences
        self._values = load_preferences(self._path)

    @property
    def values(self) -> Preferences:
        """All of them as they are now."""
        return self._values

    def change(self, **changes: Any) -> None:
        """Keep new values.

        Args:
            changes: Name in ``Preferences`` to value; None forgets it.

        Raises:
            CannotWrite: The file cannot be written; the values stay as they were.
        """
        before = self._values
        self._values = change_preferences(self._path, **changes)
        self._tell(before)

    def read_again(self) -> None:
        """Take what another program wrote."""
        before, self._values = self._values, load_preferences(self._path)
        self._tell(before)

    def _tell(self, before: Preferences) -> None:
        for name in Preferences.model_fields:
            if getattr(before, name) != getattr(self._values, name):
                self.changed.emit(name)
