"""The shades in which the parts of a memory forecast are drawn, everywhere alike."""

from __future__ import annotations

from PySide6.QtGui import QColor

from gui.engine.hardware.memory.forecasts import MemoryParts
from gui.window.theme.theme import Theme

STRENGTHS = (1.0, 0.76, 0.62, 0.5, 0.39, 0.28, 0.18)
"""How much of the accent each part has, in the parts' order; the rest is the window's ground."""


def shade(theme: Theme, part: str) -> QColor:
    """Return the colour of a part.

    Args:
        theme: The colours.
        part: Its name in ``MemoryParts``.
    """
    strength = STRENGTHS[list(MemoryParts.model_fields).index(part)]
    accent, ground = theme.color("accent"), theme.color("bg")

    def mixed(over: int, under: int) -> int:
        return round(strength * over + (1 - strength) * under)

    return QColor(
        mixed(accent.red(), ground.red()),
        mixed(accent.green(), ground.green()),
        mixed(accent.blue(), ground.blue()),
    )
