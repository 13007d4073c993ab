"""What can be wrong with a file or folder; import these from ``gui.engine.errors``."""

from __future__ import annotations

from gui.engine.error_base import AboutPath
from gui.engine.texts import _


class CannotRead(AboutPath):
    """A file or folder could not be read, or is not what it should be."""

    def message(self) -> str:
        """Name the file and the reason."""
        return _("{path} cannot be read: {reason}").format(path=self.path, reason=self.reason)


class CannotWrite(AboutPath):
    """A file or folder could not be written."""

    def message(self) -> str:
        """Name the file and the reason."""
        return _("{path} cannot be written: {reason}").format(path=self.path, reason=self.reason)
