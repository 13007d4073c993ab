"""The root of all errors of this program, and what those are made of that just give a reason."""

from __future__ import annotations

from pathlib import Path


class PreflightError(Exception):
    """The root of everything that this program raises on purpose.

    Sub-classes keep what happened as attributes and make their sentence in ``message``.
    """

    def message(self) -> str:
        """Return one plain sentence: what happened, and what to do."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.message()


class BecauseOf(PreflightError):
    """Something could not be done, for a reason that says it all.

    Attributes:
        reason: Why, in plain words and already translated.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def message(self) -> str:
        """Give the reason."""
        return self.reason


class AboutPath(PreflightError):
    """Something could not be done with a file or folder.

    Attributes:
        path: The file or folder.
        reason: Why, in plain words and already translated.
    """

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = Path(path)
        self.reason = reason
