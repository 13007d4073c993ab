"""Holds the memory forecast against published figures: ``python tests/benchmarks/bench_memory_forecast.py``.

Prints one JSON document: each row that was used with what was assumed and by how much the forecast is off,
the demands and whether they are met, the worst ten with why, what was not used, and how long it takes.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "run_helpers"))

from memory_points import MEASURED, Point, Points, load_points

from gui.engine.hardware.memory.figures import load_figures

WITHIN = 0.12
GOALS: dict[str, float] = {"first": 0.035, "further": 0.07, "simpletuner": 0.07}
FIRST_WITHIN = 12
INSIDE = 0.9
GOAL_MS = 20.0
ROUNDS = 50


def row_of(point: Point) -> dict[str, Any]:
    """Return a row with what was made of it."""
    low, likely, high = point.reading()
    return {
        "line": point.line,
        "row": point.name,
        "stated": point.stated,
        "likely": round(likely, 2),
        "error_percent": round(100 * point.error, 1),
        "low": round(low, 2),
        "high": round(high, 2),
        "inside": point.inside,
        "assumed": point.assumed,
    }


def figures_of(group: str, points: list[Point]) -> dict[str, Any]:
    """Return how good the forecasts of one group are."""
    errors = [abs(point.error) for point in points]
    middle = statistics.median(errors)
    return {
        "rows": len(points),
        "median_percent": round(100 * middle, 2),
        "mean_percent": round(100 * statistics.mean(errors), 2),
        "within_12_percent": sum(error <= WITHIN for error in errors),
        "goal_percent": 100 * GOALS[group],
        "met": middle <= GOALS[group],
    }


def interval_of(points: list[Point]) -> dict[str, Any]:
    """Return how many rows lie inside, and by how much low and high could come nearer for the demand."""
    needed = sorted(
        abs(point.stated - likely) / (high - likely if point.stated > likely else likely - low)
        for point in points
        for low, likely, high in (point.reading(),)
    )
    enough = needed[max(0, -(-len(needed) * 9 // 10) - 1)]
    inside = sum(point.inside for point in points)
    return {
        "rows": len(points),
        "inside": inside,
        "share": round(inside / len(points), 3),
        "goal": INSIDE,
        "met": inside >= INSIDE * len(points),
        "width_needed_for_goal": round(enough, 2),
        "median_half_width_percent": round(
            100
            * statistics.median(
                (high - low) / 2 / likely for low, likely, high in map(Point.reading, points)
            ),
            1,
        ),
    }


def milliseconds(point: Point) -> float:
    """Return how long one forecast takes, tables loaded."""
    times = []
    for _round in range(ROUNDS):
        begin = time.perf_counter()
        point.forecast()
        times.append((time.perf_counter() - begin) * 1000)
    return round(statistics.median(times), 3)


def demands(points: Points) -> dict[str, Any]:
    """Return all demands with their figures."""
    measured = [point for name in MEASURED for point in points.group(name)]
    groups = {name: figures_of(name, points.group(name)) for name in MEASURED}
    first = groups["first"]
    first["met"] = first["met"] and first["within_12_percent"] >= FIRST_WITHIN
    impossible = [point.line for point in points.group("fits-in") if point.severity == "stop"]
    safe = [failure.what for failure in points.failures if failure.safe]
    return {
        **groups,
        "interval": interval_of(measured),
        "fits_in": {
            "rows": len(points.group("fits-in")),
            "unknown": [point.line for point in points.group("fits-in") if point.forecast().unknown],
            "called_impossible": impossible,
            "met": not impossible,
        },
        "failures": {"cases": len(points.failures), "called_safe": safe, "met": not safe},
        "worst_explained": all(point.line in points.explained for point in points.worst),
        "speed": {"goal_ms": GOAL_MS, "one_forecast_ms": milliseconds(points.used[0])},
    }


def main() -> None:
    """Hold the forecast against the figures and print."""
    points = load_points()
    answer = {
        "demands": demands(points),
        "interval": load_figures().interval.model_dump(),
        "rows": {name: [row_of(point) for point in points.group(name)] for name in MEASURED},
        "fits_in": [
            {
                "line": point.line,
                "row": point.name,
                "card_gb": point.stated,
                "called": point.forecast().unknown or point.severity or "fits",
                "assumed": point.assumed,
            }
            for point in points.group("fits-in")
        ],
        "worst": [
            {
                "line": point.line,
                "row": point.name,
                "error_percent": round(100 * point.error, 1),
                "why": points.explained.get(point.line, "not explained"),
            }
            for point in points.worst
        ],
        "not_used": dict(Counter(points.unused.values()).most_common()),
    }
    print(json.dumps(answer, indent=1))


if __name__ == "__main__":
    main()
