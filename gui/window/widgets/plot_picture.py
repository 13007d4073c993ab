"""Writes what a plot shows as a picture."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QWidget

from gui.engine.documents import write_atomically
from gui.window.theme.theme import Theme


def write_picture(plot: QWidget, theme: Theme, path: Path) -> None:
    """Write it as PNG, twice as fine as on the screen.

    Raises:
        CannotWrite: It cannot be written there.
    """
    picture = QPixmap(plot.size() * 2)
    picture.setDevicePixelRatio(2)
    picture.fill(theme.color("surface"))
    QWidget.render(plot, picture)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture.save(buffer, "PNG")
    write_atomically(path, bytes(buffer.data().data()))
