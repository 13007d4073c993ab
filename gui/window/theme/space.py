"""The one scale of distances, in pixels at a text size of 100 %."""

from __future__ import annotations


class Space:
    """Distances between things; nothing else is used."""

    XS = 4
    S = 8
    M = 12
    L = 16
    XL = 24
    XXL = 32


CARD_RADIUS = 10
CONTROL_RADIUS = 8
SMALL_RADIUS = 6
CONTROL_HEIGHT = 36
CARD_CONTROL_HEIGHT = 30
SIDE_BAR_WIDTH = 88
