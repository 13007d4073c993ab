"""Thins curves to what a screen can show, and finds the range that is worth showing. Imports numpy."""

from __future__ import annotations

from array import array
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_SAMPLE = 4000


class Curve(NamedTuple):
    """Points to draw; NaN is a gap."""

    x: Floats
    y: Floats


def peaks(x: array[float], y: array[float], left: float, right: float, buckets: int) -> Curve:
    """Return the least and greatest value of each bucket between two edges: no peak is lost.

    Args:
        x: Rising.
        y: As many.
        left: Edge; one point beyond it is kept, so that the line goes on to the edge.
        right: Edge.
        buckets: At most so many; a curve of fewer points than twice that is returned as it is.
    """
    if not len(x):
        return Curve(np.empty(0), np.empty(0))
    xs, ys = np.frombuffer(x), np.frombuffer(y)
    first = max(0, int(np.searchsorted(xs, left)) - 1)
    last = min(len(xs), int(np.searchsorted(xs, right, "right")) + 1)
    xs, ys = xs[first:last], ys[first:last]
    each = -(-len(xs) // max(1, buckets))
    if each <= 2:
        return Curve(xs.copy(), ys.copy())
    whole = len(xs) // each * each
    places = np.column_stack((xs[:whole:each], xs[each // 2 : whole : each])).ravel()
    pairs = _extremes(ys[:whole].reshape(-1, each))
    if whole < len(xs):
        rest = _extremes(ys[whole:].reshape(1, -1))
        return Curve(np.concatenate((places, xs[[whole, -1]])), np.concatenate((pairs, rest)))
    return Curve(np.concatenate((places, xs[-1:])), np.concatenate((pairs, ys[-1:])))


def _extremes(grid: Floats) -> Floats:
    """Return the least and the greatest value of each row, in the order in which the row runs."""
    low, high = np.fmin.reduce(grid, axis=1), np.fmax.reduce(grid, axis=1)
    rising = grid[:, -1] >= grid[:, 0]
    pairs = np.column_stack((np.where(rising, low, high), np.where(rising, high, low)))
    return pairs.astype(np.float64).ravel()


_MOST_TIMES = 12.0
"""A curve begins at several times its usual value, but not at a dozen times."""


def worth_showing(
    step: Curve, smooth: Curve, marks: Curve, *, logarithmic: bool = False
) -> tuple[float, float] | None:
    """Return a range of values in which single spikes do not flatten the curve.

    Args:
        step: Of single steps.
        smooth: The smoothed curve.
        marks: Single values that must be seen.
        logarithmic: Whether values are logarithms, on which nothing flattens anything.

    Returns:
        None where nothing is finite.
    """
    parts = [_quantiles(step.y, 0.02, 0.98), _quantiles(smooth.y, 0.005, 0.995), _quantiles(marks.y, 0, 1)]
    known = [part for part in parts if part is not None]
    if not known:
        return None
    low, high = min(part[0] for part in known), max(part[1] for part in known)
    usual = _quantiles(step.y, 0.0, 0.75)
    if not logarithmic and usual is not None and usual[1] > 0:
        # A loss that explodes leaves the picture at its top; what it came from stays to be seen.
        high = max(min(high, _MOST_TIMES * usual[1]), low)
    room = (high - low) * 0.08 or abs(high) * 0.1 or 0.1
    return low - room, high + room


_BEYOND = 10.0
"""So many heights of the picture a point may lie outside of it."""


def drawable(curve: Curve, low: float, high: float) -> Curve:
    """Return a curve that leaves the picture as it would, but not far: Qt drops lines to points too far away.

    Args:
        curve: To be drawn.
        low: What is at the bottom of the picture.
        high: What is at its top.
    """
    room = _BEYOND * (high - low)
    with np.errstate(invalid="ignore"):
        near = np.clip(curve.y, low - room, high + room)
    return Curve(curve.x, np.where(np.isfinite(curve.y), near, np.nan))


def _quantiles(values: Floats, low: float, high: float) -> tuple[float, float] | None:
    finite = values[np.isfinite(values)]
    if not finite.size:
        return None
    finite = finite[:: -(-finite.size // _SAMPLE)]
    least, most = np.quantile(finite, (low, high))
    return float(least), float(most)


def logarithms(curve: Curve) -> Curve:
    """Return a curve on a logarithmic scale; what is not positive is a gap."""
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log10(curve.y)
    y[~np.isfinite(y)] = np.nan
    return Curve(curve.x, y)
