"""A `QtBot` that waits as long as a slow and busy machine may need; what is there already costs no time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

PATIENCE_MS = 60_000


class PatientQtBot(QtBot):
    """Never gives up early: how long something takes is no fact about this program."""

    def waitUntil(self, callback: Callable[[], Any], *, timeout: int = 0) -> None:  # noqa: N802 - its name
        """Wait until something is true."""
        super().waitUntil(callback, timeout=max(timeout, PATIENCE_MS))

    def waitSignal(self, signal: Any, *, timeout: int = 0, **more: Any) -> Any:  # noqa: N802 - its name
        """Wait for a signal."""
        return super().waitSignal(signal, timeout=max(timeout, PATIENCE_MS), **more)

    def waitExposed(self, widget: QWidget, *, timeout: int = 0) -> Any:  # noqa: N802 - its name
        """Wait until a window is shown."""
        return super().waitExposed(widget, timeout=max(timeout, PATIENCE_MS))
