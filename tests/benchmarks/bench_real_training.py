"""The real trainer bare and supervised in turn, and how quickly a NaN is answered.

Prints one JSON document. Needs the variables of the real-trainer lane (see README). The same
command runs A B A B: bare into a file, and under supervision. What counts is the median time
between two steps by the tracker's own clock, so that loading does not hide anything.
"""

from __future__ import annotations

import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gui.engine.documents import iterate_json_lines
from gui.engine.paths import Home
from gui.engine.plan.plan_file import load_plan
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.prepare import Preparation, Prepared
from gui.engine.runs.start import read_status, start_supervisor
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.installs import install_at
from gui.engine.trainer.probe import probe
from gui.engine.trainer.tracker import TrackerReader

ROUNDS = 2
STEPS = 24
WARM_UP_STEPS = 4

PLAN = """
schema = 1
name = "bench"
family = "sd15"
[arguments]
pretrained_model_name_or_path = '{inputs}/sd15-random.safetensors'
tokenizer_cache_dir = '{inputs}/tokenizers'
network_dim = 4
network_alpha = 1
network_train_unet_only = true
learning_rate = {rate}
seed = 42
mixed_precision = "no"
cache_latents = true
max_data_loader_n_workers = 0
max_train_steps = {steps}
output_dir = '{output}'
output_name = "demo"
[dataset]
resolution = [64, 64]
caption_extension = ".txt"
[[dataset.subsets]]
image_dir = '{inputs}/images/1_sks thing'
[launch.env]
HF_HUB_OFFLINE = "1"
"""


class Bench:
    """Prepares runs of the real trainer below one temporary folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        root = os.environ["KOHYA_PREFLIGHT_SD_SCRIPTS"]
        install = install_at(root, os.environ["KOHYA_PREFLIGHT_TRAINER_PYTHON"])
        facts = probe(install, folder / "cache")
        self._preparation = Preparation(Home(folder / "home"), install, facts, Catalogue.from_facts(facts))
        self._inputs = os.environ["KOHYA_PREFLIGHT_TRAINER_INPUTS"]

    def prepare(self, rate: float, steps: int) -> Prepared:
        """Return a run that waits to be launched."""
        plan = self._folder / f"plan-{time.monotonic_ns()}.toml"
        output = plan.with_suffix("")
        plan.write_text(PLAN.format(inputs=self._inputs, rate=rate, steps=steps, output=output), "utf-8")
        return self._preparation.prepare(load_plan(plan))


def seconds_per_step(run: RunFolder) -> float:
    """Return the median time between two steps by the tracker's own clock."""
    points = [point for point in TrackerReader(run.path / "tracker").read() if point.tag == "loss/current"]
    times = [point.wall_time for point in points][WARM_UP_STEPS:]
    return statistics.median(after - before for before, after in itertools.pairwise(times))


def bare(bench: Bench) -> float:
    """Run the command itself, its output into a file."""
    prepared = bench.prepare(1e-4, STEPS)
    order = prepared.order
    with (prepared.run.path / "bare.log").open("wb") as log:
        subprocess.run(
            order.argv,
            cwd=order.cwd,
            env=order.environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            check=True,
        )
    return seconds_per_step(prepared.run)


def supervised(bench: Bench) -> float:
    """Run the same under supervision."""
    prepared = bench.prepare(1e-4, STEPS)
    start_supervisor(prepared.run, prepared.order)
    wait_for_end(prepared.run)
    return seconds_per_step(prepared.run)


def wait_for_end(run: RunFolder) -> None:
    """Wait until the run is judged."""
    while (status := read_status(run)) is None or status.state != "ended":
        time.sleep(0.5)


def answer_to_nan(bench: Bench) -> dict[str, float | str | None]:
    """Let a mad learning rate blow up, and return how quickly it was stopped."""
    prepared = bench.prepare(1e3, 500)
    start_supervisor(prepared.run, prepared.order)
    wait_for_end(prepared.run)
    events = list(iterate_json_lines(prepared.run.events))
    stages = {event["stage"]: event for event in events if event["event"] == "stopping"}
    nan = next(event for event in events if event["event"] == "loss-nonfinite")
    status = read_status(prepared.run)
    return {
        "verdict": status.verdict.verdict if status and status.verdict else None,
        "nan_line_read_to_signal_seconds": stages["asked"]["latency_seconds"],
        "nan_line_to_last_process_gone_seconds": round(stages["gone"]["t"] - nan["t"], 3),
    }


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name))
        pairs = [(bare(bench), supervised(bench)) for _round in range(ROUNDS)]
        result = {
            "bench": "real_training",
            "steps": STEPS,
            "bare_seconds_per_step": [round(pair[0], 3) for pair in pairs],
            "supervised_seconds_per_step": [round(pair[1], 3) for pair in pairs],
            "supervised_over_bare": round(statistics.median(pair[1] / pair[0] for pair in pairs), 3),
            "nan": answer_to_nan(bench),
        }
    json.dump(result, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
