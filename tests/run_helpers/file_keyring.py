"""A keyring of the lowest kind, for tests: entries lie in a file that a variable names.

Child processes use it by ``PYTHON_KEYRING_BACKEND=file_keyring.FileKeyring``.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError

PLACE = "TEST_KEYRING_FILE"
MOOD = "TEST_KEYRING_MOOD"
"""``locked`` refuses everything, ``asleep`` never answers, ``forgetful`` keeps nothing."""


class FileKeyring(KeyringBackend):
    """Keeps entries in a file."""

    priority = 9  # type: ignore[assignment]

    def get_password(self, service: str, username: str) -> str | None:
        return self._entries().get(f"{service}/{username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._write({**self._entries(), f"{service}/{username}": password})

    def delete_password(self, service: str, username: str) -> None:
        entries = self._entries()
        if entries.pop(f"{service}/{username}", None) is None:
            raise PasswordDeleteError("there is no such entry")
        self._write(entries)

    def _entries(self) -> dict[str, str]:
        mood = os.environ.get(MOOD)
        if mood == "locked":
            raise KeyringLocked("the collection is locked")
        while mood == "asleep":
            time.sleep(0.05)
            mood = os.environ.get(MOOD)
        place = Path(os.environ[PLACE])
        return json.loads(place.read_text("utf-8")) if place.exists() else {}

    def _write(self, entries: dict[str, str]) -> None:
        if os.environ.get(MOOD) != "forgetful":
            Path(os.environ[PLACE]).write_text(json.dumps(entries), "utf-8")
