"""Measures a full preflight of one plan, all facts at hand: ``python tests/benchmarks/bench_rules.py``.

Prints one JSON document. The goal is below 10 ms for a plan of ten folders: what the parser would say, all
rules, steps and forecasts. All rules alone stand beside it, the same with a hundred folders and thousands of
images, the slowest rules, and an empty rule run as often as there are rules, which is the least that could
be done.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.check import Checker
from gui.engine.preflight.disk import forecast_disk
from gui.engine.preflight.facts import Facts
from gui.engine.preflight.rule import Rule, run_rules
from gui.engine.preflight.rules import ALL_RULES
from gui.engine.preflight.steps import forecast_steps
from gui.engine.preflight.view import View
from gui.engine.trainer.catalogue import Catalogue

GOAL_MS = 10.0
ROUNDS = 100
ROUNDS_OF_ONE = 10
"""Of a single rule, and of the large plan."""
SCRIPT = "sdxl_train_network.py"
ARGUMENTS: dict[str, Any] = {
    "pretrained_model_name_or_path": "/models/sdxl.safetensors",
    "output_dir": "/out",
    "output_name": "bench",
    "network_module": "networks.lora",
    "network_dim": 32,
    "network_alpha": 16,
    "network_args": ["conv_dim=8", "conv_alpha=4"],
    "unet_lr": 1e-4,
    "text_encoder_lr": [1e-5],
    "optimizer_type": "AdamW8bit",
    "optimizer_args": ["weight_decay=0.01"],
    "lr_scheduler": "cosine",
    "lr_warmup_steps": 200,
    "max_train_epochs": 10,
    "save_every_n_epochs": 1,
    "mixed_precision": "bf16",
    "gradient_checkpointing": True,
    "cache_latents_to_disk": True,
    "sdpa": True,
}


def make_view(folders: int, sizes: int) -> View:
    """Return a fresh view of a plan: nothing that a rule asked before is remembered."""
    subsets = [{"image_dir": f"/images/{n}", "num_repeats": 10} for n in range(folders)]
    subsets.append({"image_dir": "/reg", "is_reg": True})
    measured = {f"{1000 + n}x{900 + n}": 3 for n in range(sizes)}
    known = [
        {
            "image_dir": str(own["image_dir"]),
            "exists": True,
            "images": 3 * sizes,
            "captions": 3 * sizes,
            "sizes": measured,
            "same_stem": ["a"],
            "caption_faults": [{"name": "a.txt", "kind": "mark"}],
            "caches": {"looked": 3 * sizes, "latents": 3 * sizes, "stale_latents": 1},
        }
        for own in subsets
    ]
    plan = TrainingPlan.model_validate(
        {
            "family": "sdxl",
            "arguments": ARGUMENTS,
            "dataset": {"resolution": [1024, 1024], "enable_bucket": True, "subsets": subsets},
        }
    )
    facts = Facts.model_validate(
        {
            "os": "linux",
            "ram_gib": 64.0,
            "disk_free_gib": 100.0,
            "gpu": [{"name": "RTX 3060", "vram_gib": 12.0, "free_gib": 11.4, "compute_capability": "8.6"}],
            "trainer": {"packages": {"bitsandbytes": "0.45"}, "torch": "2.6.0"},
            "model": [{"argument": "pretrained_model_name_or_path", "family": "sdxl", "complete": True}],
            "dataset": {"images": 3 * sizes * folders, "repeats": 10, "subsets": known},
        }
    )
    return View(plan, facts, SCRIPT, Catalogue.bundled().script(SCRIPT))


def milliseconds(view: View, work: Callable[[View], object], rounds: int = ROUNDS) -> dict[str, float]:
    """Time a piece of work on fresh views: the middle and the slowest twentieth of many rounds.

    The processor's own time stands beside, which other programs on the machine do not change.
    """
    times, own = [], []
    for _round in range(rounds):
        fresh = View(view.plan, view.facts, view.script, view.arguments)
        begin, own_begin = time.perf_counter(), time.process_time()
        work(fresh)
        times.append((time.perf_counter() - begin) * 1000)
        own.append((time.process_time() - own_begin) * 1000)
    times.sort()
    return {
        "median_ms": round(statistics.median(times), 3),
        "median_cpu_ms": round(statistics.median(own), 3),
        "p95_ms": round(times[int(rounds * 0.95)], 3),
    }


def slowest(view: View) -> dict[str, float]:
    """Return the five rules that take longest, in milliseconds."""
    each = {
        rule.id: milliseconds(view, lambda fresh, one=rule: run_rules([one], fresh), ROUNDS_OF_ONE)
        for rule in ALL_RULES
    }
    ranked = sorted(each.items(), key=lambda pair: -pair[1]["median_ms"])
    return {identity: figures["median_ms"] for identity, figures in ranked[:5]}


def main() -> None:
    """Measure and print."""
    plain, large = make_view(10, 20), make_view(100, 300)
    run_rules(ALL_RULES, plain)
    nothing = [Rule("nothing", lambda _view: (), (), str)] * len(ALL_RULES)
    checker = Checker(Path("/plans"), Catalogue.bundled(), plain.facts, files_known=False)
    whole = milliseconds(plain, lambda view: checker.report(view.plan))
    print(
        json.dumps(
            {
                "goal_ms": GOAL_MS,
                "met": whole["median_ms"] < GOAL_MS,
                "rules": len(ALL_RULES),
                "findings": len(run_rules(ALL_RULES, plain)),
                "full_preflight": whole,
                "all_rules": milliseconds(plain, lambda view: run_rules(ALL_RULES, view)),
                "all_rules_100_folders_90000_images": milliseconds(
                    large, lambda view: run_rules(ALL_RULES, view), ROUNDS_OF_ONE
                ),
                "empty_rules_only": milliseconds(plain, lambda view: run_rules(nothing, view)),
                "steps": milliseconds(plain, forecast_steps),
                "disk": milliseconds(plain, forecast_disk),
                "slowest": slowest(plain),
                "python": sys.version.split()[0],
                "cores": os.cpu_count(),
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
