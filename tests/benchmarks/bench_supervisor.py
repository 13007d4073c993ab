"""What supervision costs and how quick it is, measured on real processes; prints one JSON document.

CPU share and memory of a supervisor at two steps a second, the time from the first ``nan`` in the
log to the signal and to the last process gone, and the memory over a log of many megabytes.

    python tests/benchmarks/bench_supervisor.py [--seconds 30] [--log-mib 64]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).parents[1] / "run_helpers"))

from run_helper import ended, make_run, of_kind, status, wait_until

from gui.engine.runs.events import Stopping
from gui.engine.runs.processes import boottime, read_launched, tree_of
from gui.engine.runs.requests import ask
from gui.engine.runs.start import start_supervisor

TWO_STEPS_A_SECOND = """
tracker = Tracker(log)
workers = [worker(), worker()]
header(100000)
for n in range(1, 100000):
    step(n, 100000, 0.5, 0.5); tracker.loss(n, 0.5)
    sleep(0.5)
"""

TURNS_NAN = """
workers = [worker(), worker()]
header(1000)
for n in range(1, 10): step(n, 1000, 0.5); sleep(0.05)
step(10, 1000, float("nan"))
clock = getattr(time, "CLOCK_BOOTTIME", None)
open(f"{out}/nan-at", "w").write(str(time.monotonic() if clock is None else time.clock_gettime(clock)))
sleep(60)
"""

FLOODS = """
line = "x" * 199
header(10)
for block in range(int(sys.argv[1]) * 16):
    say((line + "\\n") * 327)
step(10, 10, 0.5)
"""


def supervisor_of(run: Any) -> psutil.Process:
    wait_until(lambda: status(run).supervisor_pid is not None and status(run).trainer_pid is not None)
    return psutil.Process(status(run).supervisor_pid)


def measure_cost(folder: Path, seconds: float) -> dict[str, float]:
    """CPU share of one processor and memory of a supervisor while it does its everyday work."""
    run, order = make_run(folder, TWO_STEPS_A_SECOND, tracker=True, logging_dir=folder / "tracker")
    start_supervisor(run, order)
    process = supervisor_of(run)
    wait_until(lambda: (status(run).step or 0) >= 4)
    before, began = process.cpu_times(), time.monotonic()
    time.sleep(seconds)
    after, took = process.cpu_times(), time.monotonic() - began
    memory = process.memory_info().rss
    ask(run, "stop", "bench")
    wait_until(lambda: ended(run))
    used = after.user + after.system - before.user - before.system
    return {
        "seconds": round(took, 1),
        "cpu_share_percent": round(100 * used / took, 2),
        "rss_mib": round(memory / 2**20, 1),
        "processes_on_machine": len(psutil.pids()),
    }


def measure_stop(folder: Path) -> dict[str, float]:
    """Seconds from the write of the first nan to the signal and to the last process gone."""
    run, order = make_run(folder, TURNS_NAN)
    start_supervisor(run, order)
    wait_until((folder / "out" / "nan-at").exists)
    wait_until(lambda: any(event.stage == "gone" for event in of_kind(run, Stopping)))
    nan_at = float((folder / "out" / "nan-at").read_text())
    launched = read_launched(run.path)
    assert launched is not None and not tree_of(run.path).alive()
    at = {event.stage: event.t + launched.started_boottime - nan_at for event in of_kind(run, Stopping)}
    wait_until(lambda: ended(run))
    return {"to_signal_seconds": round(at["asked"], 3), "to_gone_seconds": round(at["gone"], 3)}


def measure_flood(folder: Path, mib: int) -> dict[str, float]:
    """Memory of a supervisor while a trainer prints a lot, and how fast it reads."""
    run, order = make_run(folder, FLOODS, words=(str(mib),))
    start_supervisor(run, order)
    process, began, most = supervisor_of(run), boottime(), 0
    while not ended(run):
        try:
            most = max(most, process.memory_info().rss)
        except psutil.Error:
            break
        time.sleep(0.05)
    wait_until(lambda: ended(run))
    took = boottime() - began
    size = run.output_log.stat().st_size
    return {
        "log_mib": round(size / 2**20),
        "most_rss_mib": round(most / 2**20, 1),
        "seconds": round(took, 1),
        "mib_per_second": round(size / 2**20 / took, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--log-mib", type=int, default=64)
    parser.add_argument("--stops", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stops = [measure_stop(folder / f"stop{n}") for n in range(options.stops)]
        figures = {
            "load_average": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
            "two_steps_a_second": measure_cost(folder / "cost", options.seconds),
            "nan_to_signal_seconds": _spread([stop["to_signal_seconds"] for stop in stops]),
            "nan_to_gone_seconds": _spread([stop["to_gone_seconds"] for stop in stops]),
            "flood": [measure_flood(folder / f"flood{mib}", mib) for mib in (1, options.log_mib)],
        }
    print(json.dumps(figures, indent=2))


def _spread(values: list[float]) -> dict[str, float]:
    return {"least": min(values), "median": statistics.median(values), "most": max(values)}


if __name__ == "__main__":
    main()
