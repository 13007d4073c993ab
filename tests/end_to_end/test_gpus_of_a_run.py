"""A supervised run on a machine with GPUs, told by a scripted driver through the real nvidia-ml-py."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pynvml
import pytest
from fake_nvml import FakeNvml

from gui.engine.documents import iterate_json_lines
from gui.engine.paths import Home
from gui.engine.runs.folder import RunFolder, reserve_run_folder
from gui.engine.runs.metrics import GpuRow, HostRow, read_metrics
from gui.engine.runs.processes import read_exit, read_launched, tree_of
from gui.engine.runs.records import Manifest
from gui.engine.runs.start import create_run, read_status, start_supervisor
from gui.engine.trainer.command import TrainerCommand

GIB = 1 << 30


def wait_for(fact: Callable[[], object], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < deadline, "what was waited for did not happen"
        time.sleep(0.05)


def gpu_rows(run: RunFolder) -> list[GpuRow]:
    return [row for row in read_metrics(run.metrics) if isinstance(row, GpuRow)]


@pytest.fixture
def run(home: Home, tmp_path: Path, fake_gpus: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """Return a run whose trainer sleeps, supervised in a process that sees two GPUs."""
    fake_gpus.set(count=2)
    for name, value in fake_gpus.environment().items():
        monkeypatch.setenv(name, value)
    run = reserve_run_folder(home, "gpu")
    command = TrainerCommand(
        argv=(sys.executable, "-c", "import time; time.sleep(600)"),
        cwd=tmp_path,
        python=Path(sys.executable),
        script="sleep.py",
        output_dir=tmp_path / "out",
        output_name="x",
    )
    order = create_run(run, "", command, Manifest(program="test", plan_name="gpu"), os.environ)
    start_supervisor(run, order)
    wait_for(lambda: read_launched(run.path))
    return run


@pytest.mark.usefixtures("no_leftovers")
def test_that_a_run_notes_its_gpus_and_outlives_their_driver(run: RunFolder, fake_gpus: FakeNvml) -> None:
    launched = read_launched(run.path)
    assert launched is not None
    try:
        fake_gpus.set({"used.1": 7 * GIB, "processes.1": f"{launched.trainer.pid}:{6 * GIB}"})
        wait_for(lambda: any(row.process_bytes for row in gpu_rows(run)))
        row = next(row for row in gpu_rows(run) if row.process_bytes)
        assert (row.index, row.used_bytes, row.process_bytes) == (1, 7 * GIB, 6 * GIB)
        assert (row.utilisation_percent, row.temperature_c, row.power_w) == (90, 65, 250.5)
        assert {row.index for row in gpu_rows(run)} == {0, 1}

        fake_gpus.set({"ret.nvmlDeviceGetMemoryInfo_v2.1": pynvml.NVML_ERROR_GPU_IS_LOST})
        wait_for(lambda: "GPU 1" in run.events.read_text("utf-8"))
        broken = {
            f"ret.nvmlDeviceGetMemoryInfo{version}": pynvml.NVML_ERROR_UNKNOWN for version in ("", "_v2")
        }
        fake_gpus.set(broken)
        wait_for(lambda: "stopped answering" in run.events.read_text("utf-8"))
        hosts = [row for row in read_metrics(run.metrics) if isinstance(row, HostRow)]
        assert hosts[-1].tree_processes == 2
        assert launched.trainer.alive(), "a driver that fails is no reason to end a training"
    finally:
        tree_of(run.path).stop()
    wait_for(lambda: (status := read_status(run)) is not None and status.state == "ended")
    ended = read_exit(run.path)
    assert ended is not None
    assert ended.status == -15
    assert any(event.get("event") == "verdict" for event in iterate_json_lines(run.events))
