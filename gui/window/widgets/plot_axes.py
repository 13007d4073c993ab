"""How plots over steps look and behave alike. Imports pyqtgraph: only plots themselves import this."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyqtgraph as pg

from gui.window.theme.theme import Theme

Levels = list[tuple[float, list[float]]]
"""Of ticks: how far they are apart, and where they are."""


def prepare(plot: Any) -> Any:
    """Take away what pyqtgraph offers of itself, and show whole steps only; return the view box."""
    plot.setMenuEnabled(False)
    plot.hideButtons()
    box = plot.getViewBox()
    box.setMouseEnabled(False, False)
    box.disableAutoRange()
    box.setDefaultPadding(0)
    left, steps = plot.getAxis("left"), plot.getAxis("bottom")
    left.setGrid(255)
    left.enableAutoSIPrefix(False)
    steps.enableAutoSIPrefix(False)
    steps.tickValues = _whole(steps.tickValues)
    return box


def style_axes(plot: Any, theme: Theme, colours: Mapping[str, str]) -> None:
    """Take the theme's colours and fonts.

    Args:
        plot: Whose axes.
        theme: The theme.
        colours: Side to the token of its figures.
    """
    for side, colour in colours.items():
        axis = plot.getAxis(side)
        axis.setZValue(-1000)  # the grid lies behind the curves
        axis.setStyle(tickFont=theme.font("small"), tickLength=0, maxTickLevel=0)
        axis.setTextPen(theme.color(colour))
        axis.setPen(pg.mkPen(None))
        axis.setTickPen(pg.mkPen(theme.color("line"), width=1))


def _whole(ticks: Callable[[float, float, float], Levels]) -> Callable[[float, float, float], Levels]:
    """Return what chooses an axis' ticks without those between two steps: there is no step 1.5."""

    def whole(least: float, most: float, size: float) -> Levels:
        levels = ticks(least, most, size)
        return [(spacing, [value for value in values if value == round(value)]) for spacing, values in levels]

    return whole
