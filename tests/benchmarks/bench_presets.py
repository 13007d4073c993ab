"""How long composing and filling in of presets take.

Run: ``python tests/benchmarks/bench_presets.py``. Prints one JSON document, times in milliseconds.
"""

from __future__ import annotations

import itertools
import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from gui.engine.plan.families import families
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.plan.presets import compose, effective_plan

LIMIT_MS = 5.0


def milliseconds(work: Callable[[], object], times: int = 1) -> float:
    """Return how long one call takes, the shortest of several: other programs only ever add."""
    taken = []
    for _time in range(times):
        started = time.perf_counter()
        work()
        taken.append((time.perf_counter() - started) * 1e3)
    return min(taken)


def figures(times: list[float]) -> dict[str, float]:
    """Return median, 99th percentile and maximum."""
    ordered = sorted(times)
    return {
        "median_ms": round(statistics.median(ordered), 3),
        "p99_ms": round(ordered[int(len(ordered) * 0.99)], 3),
        "max_ms": round(ordered[-1], 3),
    }


def main() -> None:
    """Measure and print."""
    first = milliseconds(PresetLibrary)
    library = PresetLibrary()
    composing, plans = [], []
    for family, kin in families().items():
        for kind, purpose, caution, vram in itertools.product(
            kin.kinds, library.on("purpose"), library.on("caution"), (6.0, 8.0, 12.0, 16.0, 24.0, 48.0, 80.0)
        ):
            work = partial(compose, family, kind, purpose, caution, vram, images=20, library=library)
            composing.append(milliseconds(work, 3))
            composition = work()
            if not composition.impossible:
                plans.append(composition.plan())
    filling = [milliseconds(partial(effective_plan, plan, library), 3) for plan in plans]
    result = {
        "reading_all_presets_once_ms": round(first, 1),
        "reading_again_ms": round(milliseconds(PresetLibrary), 3),
        "compositions": len(composing),
        "compose": figures(composing),
        "effective_plan": figures(filling),
        "limit_ms": LIMIT_MS,
        "within_limit": figures(composing)["max_ms"] < LIMIT_MS,
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
