"""What the program could not do, as data; the words are made here and say what to do.

Problems with a user's values are findings, never exceptions. An exception here means
that an input could not be read or an action could not be done at all. The command line
prints ``str(error)`` as its one line and leaves with status 2.
"""

from __future__ import annotations

from pathlib import Path

from gui.engine.texts import _


class PreflightError(Exception):
    """The root of everything that this program raises on purpose.

    Sub-classes keep what happened as attributes and make their sentence in ``message``.
    """

    def message(self) -> str:
        """Return one plain sentence: what happened, and what to do."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.message()


class CannotRead(PreflightError):
    """A file or folder could not be read, or is not what it should be.

    Attributes:
        path: The file or folder.
        reason: Why, in plain words and already translated.
    """

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = Path(path)
        self.reason = reason

    def message(self) -> str:
        """Name the file and the reason."""
        return _("{path} cannot be read: {reason}").format(path=self.path, reason=self.reason)


class CannotWrite(PreflightError):
    """A file or folder could not be written.

    Attributes:
        path: The file or folder.
        reason: Why, in plain words and already translated.
    """

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = Path(path)
        self.reason = reason

    def message(self) -> str:
        """Name the file and the reason."""
        return _("{path} cannot be written: {reason}").format(path=self.path, reason=self.reason)


class NewerDocument(PreflightError):
    """A document was written by a newer version of this program.

    Attributes:
        path: The document.
        schema: The version that it has.
        known: The newest version that this program knows.
    """

    def __init__(self, path: Path | str, schema: int, known: int) -> None:
        super().__init__(path, schema, known)
        self.path = Path(path)
        self.schema = schema
        self.known = known

    def message(self) -> str:
        """Say which version is needed."""
        return _(
            "{path} was written by a newer version of Kohya Preflight (format {schema}, this one knows "
            "{known}). Update the program to change or run it."
        ).format(path=self.path, schema=self.schema, known=self.known)


class WrongUsage(PreflightError):
    """The command line was used wrongly.

    Attributes:
        reason: What is wrong, in plain words and already translated.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def message(self) -> str:
        """Give the reason."""
        return self.reason
