"""How the curves of several runs are told apart: by colour and by dashes, never by colour alone."""

from __future__ import annotations

from typing import NamedTuple


class Look(NamedTuple):
    """How a curve is drawn.

    Attributes:
        colour: The theme's token.
        dashes: Lengths of dash and gap; none for a whole line.
    """

    colour: str
    dashes: tuple[float, ...] = ()


_COLOURS = ("chart_1", "chart_2", "good", "bad", "warn", "muted")
_DASHES: tuple[tuple[float, ...], ...] = ((), (5.0, 2.0), (1.5, 2.0), (6.0, 2.0, 1.5, 2.0))


def look_of(number: int) -> Look:
    """Return how the curve of a run is drawn."""
    return Look(_COLOURS[number % len(_COLOURS)], _DASHES[number % len(_DASHES)])
