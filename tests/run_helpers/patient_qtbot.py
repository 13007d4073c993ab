"""A `QtBot` that waits as long as a slow and busy machine may need; what is there already costs no time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sight
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot


class PatientQtBot(QtBot):
    """Never gives up early: how long something takes is no fact about this program."""

    def waitUntil(self, callback: Callable[[], Any], *, timeout: int = 0) -> None:  # noqa: N802 - its name
        """Wait until something is true."""
        super().waitUntil(callback, timeout=max(timeout, sight.PATIENCE_MS))

    def waitSignal(  # noqa: N802 - its name
        self, signal: Any, *, timeout: int = 0, raising: bool | None = None, **more: Any
    ) -> Any:
        """Wait for a signal; one that need not come (`assertNotEmitted` asks so) is waited for as told."""
        patience = timeout if raising is False else max(timeout, sight.PATIENCE_MS)
        return super().waitSignal(signal, timeout=patience, raising=raising, **more)

    def waitExposed(self, widget: QWidget, *, timeout: int = 0) -> Any:  # noqa: N802 - its name
        """Wait until a window is shown."""
        return super().waitExposed(widget, timeout=max(timeout, sight.PATIENCE_MS))

    def mouseClick(  # noqa: N802 - its name
        self,
        widget: QWidget,
        button: Qt.MouseButton,
        modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
        pos: QPoint | None = None,
    ) -> None:
        """Click on a part as soon as it can be hit: seen, enabled, in its place, covered by nothing."""

        def can_be_hit() -> None:
            why = sight.obstacle(widget, pos)
            assert not why, why

        self.waitUntil(can_be_hit)
        QTest.mouseClick(widget, button, modifier, widget.rect().center() if pos is None else pos)
