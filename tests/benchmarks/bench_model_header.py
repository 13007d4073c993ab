"""Measures how long it takes to tell what a large model file is, beside reading its header alone.

Run it as ``python tests/benchmarks/bench_model_header.py``; it prints one JSON document, times in
milliseconds, medians of several turns taken in turn. The files have the tensors of real models and
holes for their numbers, so that 24 GB take no room. ``again`` is what a check at a keystroke costs,
when the file has not changed.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "run_helpers")]

from model_headers import shapes_of, write_model  # noqa: E402 -- run from anywhere

from gui.engine.plan.model import TrainingPlan  # noqa: E402
from gui.engine.preflight.model_facts import ModelLooker  # noqa: E402
from gui.engine.trainer.model_look import model_kind  # noqa: E402
from gui.engine.trainer.model_signatures import model_signatures  # noqa: E402
from gui.engine.trainer.safetensors_file import read_header  # noqa: E402

TURNS = 15
MODELS = {"flux-dev": "BF16", "sdxl-checkpoint": "F16", "lora-sdxl": "BF16", "t5xxl": "F8_E4M3"}


def milliseconds(work: Callable[[], object]) -> float:
    """Return how long one turn takes."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def measured(path: Path) -> dict[str, float]:
    """Return the medians for one file."""
    plan = TrainingPlan(arguments={"pretrained_model_name_or_path": str(path)})
    looker = ModelLooker()
    works: dict[str, Callable[[], object]] = {
        "header": lambda: read_header(path),
        "kind": lambda: model_kind(path),
        "again": lambda: looker.facts(plan),
    }
    looker.facts(plan)
    turns = [{name: milliseconds(work) for name, work in works.items()} for _turn in range(TURNS)]
    return {name: round(statistics.median(turn[name] for turn in turns), 3) for name in works}


def main() -> None:
    """Print the document."""
    table = milliseconds(model_signatures)
    result: dict[str, object] = {"table_loaded_ms": round(table, 1), "turns": TURNS}
    with tempfile.TemporaryDirectory() as folder:
        for name, dtype in MODELS.items():
            path = write_model(Path(folder) / f"{name}.safetensors", shapes_of(name), dtype=dtype)
            result[name] = {"gb": round(path.stat().st_size / 1e9, 2), **measured(path)}
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
