"""Runs that print a gigabyte: memory stays flat, nothing is lost, and the guard stays quick."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

import psutil
import pytest
from run_helper import at_least_step, ended, make_run, of_kind, status, wait_until

from gui.engine.runs.events import Stopping
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.lock import is_held
from gui.engine.runs.start import start_supervisor
from gui.engine.trainer.events import Step

pytestmark = [pytest.mark.usefixtures("no_leftovers"), pytest.mark.timeout(900)]

MOST_MEMORY = 150 << 20

PRINTS_A_GIGABYTE = """
line = "2026-11-30 00:19:32 INFO     something that is said again and again %d   train_util.py:1\\n"
header(1000)
for n in range(1, 1001):
    sys.stdout.write("".join(line % (n * 12000 + i) for i in range(12000))); sys.stdout.flush()
    step(n, 1000, 0.5)
save(f"{out}/lora.safetensors"); saved()
"""


def most_memory_until_ended(run: RunFolder) -> int:
    """Return the most that any supervisor of the run held."""
    most = 0
    until = time.monotonic() + 800
    while not ended(run):
        assert time.monotonic() < until
        pid = status(run).supervisor_pid
        with contextlib.suppress(psutil.Error):
            most = max(most, psutil.Process(pid).memory_info().rss if pid else 0)
        time.sleep(0.1)
    return most


def test_that_a_gigabyte_of_output_costs_no_memory(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, PRINTS_A_GIGABYTE)
    start_supervisor(run, order)
    assert most_memory_until_ended(run) < MOST_MEMORY
    verdict = status(run).verdict
    assert verdict is not None and verdict.verdict == "finished"
    assert run.output_log.stat().st_size > 1 << 30
    assert [event.step for event in of_kind(run, Step)] == list(range(1, 1001))
    assert run.events.stat().st_size < 1 << 20


def test_that_a_supervisor_that_comes_late_reads_a_gigabyte(tmp_path: Path) -> None:
    run, order = make_run(tmp_path, PRINTS_A_GIGABYTE)
    start_supervisor(run, order)
    wait_until(lambda: at_least_step(run, 5), 120)
    pid = status(run).supervisor_pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_held(run.lock))
    wait_until(run.exit.exists, 600)
    start_supervisor(run)
    assert most_memory_until_ended(run) < MOST_MEMORY
    verdict = status(run).verdict
    assert verdict is not None and (verdict.verdict, verdict.step) == ("finished", 1000)
    assert [event.step for event in of_kind(run, Step)] == list(range(1, 1001))


def test_that_one_line_of_a_hundred_megabytes_and_bytes_that_are_no_text_do_no_harm(tmp_path: Path) -> None:
    source = """
    header(3)
    step(1, 3, 0.5)
    for _ in range(100): sys.stdout.write("y" * (1 << 20))
    sys.stdout.flush()
    sys.stdout.buffer.write(bytes(range(256)) * 4096); sys.stdout.flush()
    step(2, 3, 0.5); step(3, 3, float("nan"))
    sleep(60)
    """
    run, order = make_run(tmp_path, source)
    start_supervisor(run, order)
    assert most_memory_until_ended(run) < MOST_MEMORY
    verdict = status(run).verdict
    assert verdict is not None and (verdict.verdict, verdict.reason) == ("stopped", "guard")


def test_that_the_guard_is_quick_in_a_flood(tmp_path: Path) -> None:
    source = """
    import threading
    def flood():
        while True: sys.stdout.write("x" * 199 + "\\\\n")
    threading.Thread(target=flood, daemon=True).start()
    header(9)
    sleep(3)
    step(1, 9, float("nan"))
    sleep(60)
    """
    run, order = make_run(tmp_path, source)
    start_supervisor(run, order)
    most_memory_until_ended(run)
    asked = next(event for event in of_kind(run, Stopping) if event.stage == "asked")
    assert asked.latency_seconds < 1.0
