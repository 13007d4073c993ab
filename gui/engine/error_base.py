"""The root of all errors of this program."""

from __future__ import annotations


class PreflightError(Exception):
    """The root of everything that this program raises on purpose.

    Sub-classes keep what happened as attributes and make their sentence in ``message``.
    """

    def message(self) -> str:
        """Return one plain sentence: what happened, and what to do."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.message()
