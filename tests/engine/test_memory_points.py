"""The memory forecast against what was published: the demands that are met stay met.

``tests/benchmarks/bench_memory_forecast.py`` shows every row, what is assumed of it, and every error.
"""

from __future__ import annotations

import statistics

import pytest
from memory_points import MEASURED, load_points

POINTS = load_points()


@pytest.mark.parametrize(
    ("group", "rows", "goal"), [("first", 15, 0.035), ("further", 10, 0.07), ("simpletuner", 28, 0.07)]
)
def test_that_half_of_the_rows_are_as_near_as_is_asked(group, rows, goal):
    errors = [abs(point.error) for point in POINTS.group(group)]
    assert len(errors) == rows
    assert statistics.median(errors) <= goal


def test_that_twelve_of_the_first_fifteen_are_within_twelve_percent():
    assert sum(abs(point.error) <= 0.12 for point in POINTS.group("first")) >= 12


def test_that_nine_of_ten_rows_lie_between_low_and_high_and_the_interval_is_not_wider():
    inside = [point.inside for name in MEASURED for point in POINTS.group(name)]
    widths = [
        (high - low) / 2 / likely
        for name in MEASURED
        for low, likely, high in map(type(POINTS.used[0]).reading, POINTS.group(name))
    ]
    assert 0.9 <= sum(inside) / len(inside) <= 0.96
    assert statistics.median(widths) < 0.12


def test_that_nothing_that_fits_a_card_is_called_impossible():
    rows = POINTS.group("fits-in")
    assert len(rows) >= 18
    assert [point.name for point in rows if point.severity == "stop"] == []


@pytest.mark.parametrize("failure", POINTS.failures, ids=lambda failure: failure.what)
def test_that_no_documented_failure_is_called_safe(failure):
    assert not failure.safe


def test_that_the_ten_worst_rows_are_explained():
    assert [point.name for point in POINTS.worst if point.line not in POINTS.explained] == []


def test_that_each_row_is_used_or_it_is_said_why_not():
    lines = {point.line for point in POINTS.used} | set(POINTS.unused)
    assert lines == set(range(2, 360))
    assert all(reason for reason in POINTS.unused.values())
    assert all(point.assumed for point in POINTS.used)
