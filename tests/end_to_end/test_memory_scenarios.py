"""What a supervised run notes and tells of its GPUs, each scenario played by a scripted driver."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pynvml
import pytest
from fake_nvml import FakeNvml
from run_helper import GOES_ON, make_run, status, wait_until

from gui.engine.hardware import gpu
from gui.engine.hardware.memory.figures import load_figures
from gui.engine.hardware.memory.forecast import forecast
from gui.engine.hardware.memory.learning import learned
from gui.engine.hardware.memory.observations import MemoryExpectation
from gui.engine.hardware.memory.question import MemoryQuestion, NetworkQuestion
from gui.engine.hardware.memory.tables import load_tables
from gui.engine.hardware.process_counters import ProcessUse
from gui.engine.paths import Home
from gui.engine.quantities import GIB, MIB
from gui.engine.runs import gpu_watch
from gui.engine.runs.alarm import Alarm
from gui.engine.runs.alarms import alarms
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.memory_hook import read_memory
from gui.engine.runs.metrics import GpuRow, read_metrics
from gui.engine.runs.processes import boottime, read_launched, tree_of
from gui.engine.runs.session import look_after

pytestmark = pytest.mark.usefixtures("no_leftovers")

USED = {f"ret.nvmlDeviceGetMemoryInfo{version}": pynvml.NVML_ERROR_GPU_IS_LOST for version in ("", "_v2")}

FAKE_TORCH = Path(__file__).parents[1] / "fake_torch"

ON_TORCH = """
import torch
torch.cuda.init(); torch.cuda.take(12 << 30, 14 << 30); torch.cuda.take(1 << 30, 2 << 30)
sleep(1)
header(400)
for n in range(1, 401):
    step(n, 400, 0.5); torch.cuda.take(8 << 30, 9 << 30); torch.cuda.take(6 << 30, 9 << 30)
    sleep(0.05)
"""
"""A training that loads with a higher peak than it trains with."""


class Counters:
    """Stands in for the performance counters of Windows."""

    def __init__(self) -> None:
        self.told: list[ProcessUse] = []

    def read(self) -> list[ProcessUse]:
        return self.told


class Play:
    """A training that goes on, supervised in a thread of this process, on GPUs that the test moves."""

    def __init__(self, tmp_path: Path, gpus: FakeNvml, counters: Counters, **options: Any) -> None:
        self.gpus, self.counters = gpus, counters
        source, hook = options.pop("source", GOES_ON), options.pop("hook", False)
        self.run, order = make_run(tmp_path, source, **options)
        environment = {**order.environment, "PYTHONPATH": str(FAKE_TORCH)}
        order = order.model_copy(update={"environment": environment, "measure_memory": hook})
        began = boottime()
        options = {"clock": lambda: began + 20 * (boottime() - began)}
        self.thread = threading.Thread(target=look_after, args=(self.run, order), kwargs=options, daemon=True)
        self.thread.start()
        wait_until(lambda: read_launched(self.run.path))
        launched = read_launched(self.run.path)
        assert launched is not None
        self.pid = launched.trainer.pid

    def set(self, values: dict[str, object] | None = None, **more: object) -> None:
        self.gpus.set(values, **more)

    def rows(self) -> list[GpuRow]:
        return [row for row in read_metrics(self.run.metrics) if isinstance(row, GpuRow)]

    def until_row(self, fits: Callable[[GpuRow], object]) -> GpuRow:
        wait_until(lambda: any(fits(row) for row in self.rows()), 60)
        return next(row for row in self.rows() if fits(row))

    def alarms(self) -> dict[str, Alarm]:
        return {alarm.id: alarm for alarm in alarms(self.run, status(self.run))}

    def until_alarm(self, identity: str) -> Alarm:
        wait_until(lambda: identity in self.alarms(), 60)
        return self.alarms()[identity]

    def end(self) -> None:
        tree_of(self.run.path).stop()
        self.thread.join(60)


@pytest.fixture
def counters(monkeypatch: pytest.MonkeyPatch) -> Counters:
    counters = Counters()
    monkeypatch.setattr(gpu, "system_counters", lambda: counters)
    return counters


@pytest.fixture
def play(
    tmp_path: Path, fake_gpus: FakeNvml, monkeypatch: pytest.MonkeyPatch, counters: Counters
) -> Iterator[Callable[..., Play]]:
    monkeypatch.setattr(gpu_watch, "QUICK_SECONDS", 0.02)
    monkeypatch.setattr(gpu_watch, "CALM_SECONDS", 0.1)
    plays: list[Play] = []

    def begin(options: dict[str, Any] | None = None, **state: Any) -> Play:
        fake_gpus.inside(monkeypatch).set(state)
        plays.append(Play(tmp_path, fake_gpus, counters, **(options or {})))
        return plays[-1]

    yield begin
    for one in plays:
        one.end()


def test_that_a_healthy_run_has_rows_and_no_alarm(play: Callable[..., Play]) -> None:
    one = play(used=2 * GIB)
    one.set(used=10 * GIB, processes=f"{one.pid}:{9 * GIB}")
    row = one.until_row(lambda row: row.process_bytes == 9 * GIB)
    assert (row.used_bytes, row.total_bytes, row.others_bytes) == (10 * GIB, 24 * GIB, GIB)
    wait_until(lambda: (status(one.run).step or 0) > 20)
    assert one.alarms() == {}
    assert status(one.run).gpu_problem is None


def test_that_memory_that_rises_to_full_is_told_with_figures(play: Callable[..., Play]) -> None:
    one = play(used=2 * GIB)
    for used in (8, 16, 23.6):
        one.set(used=int(used * GIB), processes=f"{one.pid}:{int(used * GIB) - GIB}")
        one.until_row(lambda row, used=used: row.used_bytes == int(used * GIB))
    alarm = one.until_alarm("memory-full")
    assert "23.6 GiB of 24.0 GiB" in alarm.text and "GPU 0" in alarm.text
    assert alarm.tone == "warn" and alarm.causes and len(alarm.next_steps) == 3
    one.set(used=12 * GIB)
    wait_until(lambda: "memory-full" not in one.alarms(), 60)


def test_that_a_spill_under_wddm_is_told_though_nvml_is_blind(
    play: Callable[..., Play], counters: Counters
) -> None:
    one = play(driver_model=0, used=20 * GIB)
    counters.told = [ProcessUse(one.pid, "01:00", 19 * GIB, 90 * MIB), ProcessUse(4, "01:00", GIB, 0)]
    one.set(processes=f"{one.pid}:? 4:?")
    one.until_row(lambda row: row.process_bytes == 19 * GIB and row.shared_bytes == 90 * MIB)
    assert one.alarms() == {}
    counters.told = [ProcessUse(one.pid, "01:00", 22 * GIB, 3 * GIB), ProcessUse(4, "01:00", GIB, 0)]
    one.set(used=23 * GIB + 400 * MIB)
    alarm = one.until_alarm("memory-spill")
    assert "2.9 GiB have spilled over" in alarm.text
    assert any("Prefer No Sysmem" in step for step in alarm.next_steps)
    counters.told = []
    row = one.until_row(lambda row: row.process_bytes is None and row.used_bytes == 23 * GIB + 400 * MIB)
    assert row.shared_bytes == 0, "nulls are nulls, and the run goes on"


def test_that_another_program_that_starts_is_named(play: Callable[..., Play]) -> None:
    one = play(used=6 * GIB)
    one.set(processes=f"{one.pid}:{5 * GIB}")
    one.until_row(lambda row: row.process_bytes == 5 * GIB)
    one.set(used=9 * GIB, processes=f"{one.pid}:{5 * GIB} 99999998:{3 * GIB}")
    alarm = one.until_alarm("gpu-others")
    assert "3.0 GiB" in alarm.text and "process 99999998" in alarm.text
    assert any("2 GiB" in step for step in alarm.next_steps)
    one.set(used=6 * GIB, processes=f"{one.pid}:{6 * GIB - 100 * MIB}")
    wait_until(lambda: "gpu-others" not in one.alarms(), 60)


def test_that_a_gpu_that_is_lost_is_told_and_asked_no_more(play: Callable[..., Play]) -> None:
    one = play(count=2, name="RTX")
    one.until_row(lambda row: row.index == 1)
    one.set({f"{key}.0": code for key, code in USED.items()})
    alarm = one.until_alarm("gpu-lost")
    assert alarm.tone == "bad" and "GPU 0 (RTX)" in alarm.text
    one.set(dict.fromkeys(f"{key}.0" for key in USED))
    last = one.rows()[-1].t or 0.0
    one.until_row(lambda row: row.index == 1 and (row.t or 0) > last + 20)
    later = [row.used_bytes for row in one.rows() if row.index == 0 and (row.t or 0) > last]
    assert later and set(later) == {None}


def test_that_a_driver_that_was_updated_asks_for_a_restart(play: Callable[..., Play]) -> None:
    one = play(**{"ret.nvmlInitWithFlags": pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH})
    wait_until(lambda: status(one.run).gpu_problem)
    assert "restart it, training would fail as well" in (status(one.run).gpu_problem or "")
    assert one.rows() == []
    assert status(one.run).verdict is None, "the training itself decides"


def test_that_of_two_gpus_each_has_its_rows_and_only_the_runs_own_is_judged(
    play: Callable[..., Play],
) -> None:
    one = play(count=2, **{"used.0": 23 * GIB + 700 * MIB, "used.1": 4 * GIB})
    one.set({"processes.0": f"99999997:{23 * GIB}", "processes.1": f"{one.pid}:{3 * GIB}"})
    row = one.until_row(lambda row: row.index == 1 and row.process_bytes == 3 * GIB)
    assert row.uuid.endswith("1")
    wait_until(lambda: (status(one.run).step or 0) > 25)
    assert one.alarms() == {}, "GPU 0 is full, but not the run's"
    one.set({"used.1": 23 * GIB + 600 * MIB, "processes.1": f"{one.pid}:{23 * GIB}"})
    alarm = one.until_alarm("memory-full")
    assert "GPU 1" in alarm.text
    peaks = {gpu.index: gpu.peak_process_bytes for gpu in status(one.run).gpus}
    assert peaks == {0: None, 1: 23 * GIB}


def test_that_of_a_divided_gpu_the_instance_is_the_measure(play: Callable[..., Play]) -> None:
    one = play(mig=1, used=2 * GIB, **{"mig.count": 2})
    one.set(used=11 * GIB + 800 * MIB, reserved=0, processes=f"{one.pid}:{11 * GIB}")
    row = one.until_row(lambda row: row.process_bytes == 11 * GIB)
    assert row.uuid.startswith("MIG-") and row.total_bytes == 12 * GIB
    assert "11.8 GiB of 12.0 GiB" in one.until_alarm("memory-full").text
    assert len({row.uuid for row in one.rows()}) == 2


def test_that_without_any_gpu_that_is_said(play: Callable[..., Play]) -> None:
    one = play(**{"ret.nvmlInitWithFlags": pynvml.NVML_ERROR_LIBRARY_NOT_FOUND})
    wait_until(lambda: status(one.run).gpu_problem)
    assert status(one.run).gpu_problem == "no NVIDIA GPU seen: there is no NVIDIA driver on this machine"
    assert isinstance(one.run, RunFolder) and one.alarms() == {}


@pytest.fixture
def expected() -> MemoryExpectation:
    question = MemoryQuestion(
        family="sdxl", width_px=1024, height_px=1024, checkpointing=True, network=NetworkQuestion(rank=16)
    )
    prior = load_figures().prior("linux")
    return MemoryExpectation(question=question, forecast=forecast(question, load_tables(), prior))


def test_that_the_machine_learns_from_a_run_that_is_over(
    play: Callable[..., Play], tmp_path: Path, expected: MemoryExpectation
) -> None:
    one = play({"memory": expected, "torch": "2.6.0", "driver": "580"}, used=16 * GIB)
    one.set(processes=f"{one.pid}:{15 * GIB}")
    wait_until(lambda: (status(one.run).step or 0) > 10)
    last = one.rows()[-1].t or 0.0
    one.until_row(lambda row: row.process_bytes == 15 * GIB and (row.t or 0.0) > last + 5)
    one.end()
    known = learned(Home(tmp_path / "home"), "GPU-fa4e0000-0000-0000-0000-000000000000")
    (seen,) = known.observations
    assert (seen.run, seen.measured.process, known.name) == (one.run.name, 15.0, "NVIDIA Fake RTX 0")
    prior = load_figures().prior("linux")
    assert known.correction(expected.question, prior).activation != prior.activation


def test_that_the_hook_tells_the_steps_apart_from_what_came_before(
    play: Callable[..., Play], tmp_path: Path, expected: MemoryExpectation
) -> None:
    one = play({"memory": expected, "hook": True, "source": ON_TORCH}, used=10 * GIB)
    one.set(processes=f"{one.pid}:{9 * GIB + 500 * MIB}")
    row = one.until_row(lambda row: row.torch_reserved_bytes == 9 * GIB)
    assert row.torch_allocated_bytes in (6 * GIB, 8 * GIB)
    wait_until(lambda: any(row.allocated_peak == 8 * GIB for row in read_memory(one.run.memory)))
    last = one.rows()[-1].t or 0.0
    one.until_row(lambda row: row.process_bytes is not None and (row.t or 0.0) > last + 5)
    one.end()
    phases = {row.phase: row.allocated_peak for row in read_memory(one.run.memory)}
    assert phases == {"loading": 12 * GIB, "training": 8 * GIB}
    (seen,) = learned(Home(tmp_path / "home"), "GPU-fa4e0000-0000-0000-0000-000000000000").observations
    assert (seen.measured.allocated, seen.measured.reserved) == (8.0, 9.0)
    assert seen.measured.process == pytest.approx(9.488, abs=0.01)
    assert not seen.measured.censored
