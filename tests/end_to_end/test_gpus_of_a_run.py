"""A supervised run on a machine with GPUs, told by a scripted driver through the real nvidia-ml-py."""

from __future__ import annotations

from pathlib import Path

import pynvml
import pytest
from fake_nvml import FakeNvml
from run_helper import GOES_ON, ended, make_run, wait_until

from gui.engine.runs.folder import RunFolder
from gui.engine.runs.metrics import GpuRow, HostRow, read_metrics
from gui.engine.runs.processes import read_exit, read_launched, tree_of
from gui.engine.runs.start import start_supervisor

GIB = 1 << 30


def gpu_rows(run: RunFolder) -> list[GpuRow]:
    return [row for row in read_metrics(run.metrics) if isinstance(row, GpuRow)]


@pytest.fixture
def run(tmp_path: Path, fake_gpus: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """Return a training that goes on, supervised in a process that sees two GPUs."""
    fake_gpus.set(count=2)
    for name, value in fake_gpus.environment().items():
        monkeypatch.setenv(name, value)
    run, order = make_run(tmp_path, GOES_ON)
    start_supervisor(run, order)
    wait_until(lambda: read_launched(run.path))
    return run


@pytest.mark.usefixtures("no_leftovers")
def test_that_a_run_notes_its_gpus_and_outlives_their_driver(run: RunFolder, fake_gpus: FakeNvml) -> None:
    launched = read_launched(run.path)
    assert launched is not None
    try:
        fake_gpus.set({"used.1": 7 * GIB, "processes.1": f"{launched.trainer.pid}:{6 * GIB}"})
        wait_until(lambda: any(row.process_bytes for row in gpu_rows(run)))
        row = next(row for row in gpu_rows(run) if row.process_bytes)
        assert (row.index, row.used_bytes, row.process_bytes) == (1, 7 * GIB, 6 * GIB)
        assert (row.utilisation_percent, row.temperature_c, row.power_w) == (90, 65, 250.5)
        assert {row.index for row in gpu_rows(run)} == {0, 1}

        fake_gpus.set({"ret.nvmlDeviceGetMemoryInfo_v2.1": pynvml.NVML_ERROR_GPU_IS_LOST})
        wait_until(lambda: "GPU 1" in run.events.read_text("utf-8"))
        broken = {
            f"ret.nvmlDeviceGetMemoryInfo{version}": pynvml.NVML_ERROR_UNKNOWN for version in ("", "_v2")
        }
        fake_gpus.set(broken)
        wait_until(lambda: "stopped answering" in run.events.read_text("utf-8"))
        hosts = [row for row in read_metrics(run.metrics) if isinstance(row, HostRow)]
        assert hosts[-1].tree_processes == 2
        assert launched.trainer.alive(), "a driver that fails is no reason to end a training"
    finally:
        tree_of(run.path).stop()
    wait_until(lambda: ended(run))
    exit_record = read_exit(run.path)
    assert exit_record is not None
    assert exit_record.status == -15
