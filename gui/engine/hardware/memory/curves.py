"""Draws a rising line through a few measured points."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

Point = tuple[float, float]


def rising(points: Iterable[Point]) -> list[Point]:
    """Return one point for each place, in order, none lower than the one before it.

    Points at the same place count with their mean. Where a later point is lower, both are moved to
    their mean (pool adjacent violators), so that a forecast never falls when a plan asks for more.
    """
    places: defaultdict[float, list[float]] = defaultdict(list)
    for place, value in points:
        places[place].append(value)
    pools: list[tuple[list[float], float]] = []
    for place in sorted(places):
        pools.append(([place], sum(places[place]) / len(places[place])))
        while len(pools) > 1 and pools[-2][1] > pools[-1][1]:
            (first, low), (second, high) = pools[-2:]
            mean = (low * len(first) + high * len(second)) / (len(first) + len(second))
            pools[-2:] = [(first + second, mean)]
    return [(place, value) for places_of, value in pools for place in places_of]


def between(points: Sequence[Point], place: float) -> float:
    """Return the value at a place between points; outside of them that of the nearest.

    Args:
        points: In order, at least one.
        place: Where.
    """
    if place <= points[0][0]:
        return points[0][1]
    for (left, low), (right, high) in pairwise(points):
        if place <= right:
            return low + (high - low) * (place - left) / (right - left)
    return points[-1][1]


def beyond(points: Sequence[Point], place: float) -> float:
    """Return the value at a place, also outside of the points.

    Below the first the value shrinks with the place; above the last the line goes on, not flatter than
    one that begins at nothing where only one point tells.

    Args:
        points: In order, at least one, all at places above 0.
        place: Where, above 0.
    """
    first, last = points[0], points[-1]
    if place < first[0]:
        return first[1] * place / first[0]
    if place <= last[0]:
        return between(points, place)
    if len(points) == 1:
        return last[1] * place / last[0]
    before = points[-2]
    slope = (last[1] - before[1]) / (last[0] - before[0])
    return last[1] + slope * (place - last[0])
