"""The GPUs, seen through the real nvidia-ml-py and a scripted driver."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pynvml
import pytest
from fake_nvml import FakeNvml

from gui.engine.hardware.gpu import FIRST_RETRY_SECONDS, RETRY_SECONDS, GpuMonitor, GpuSample
from gui.engine.hardware.nvml import Nvml
from gui.engine.hardware.sampler import Sampler

GIB = 1 << 30
MIB = 1 << 20


@pytest.fixture
def driver(
    nvml_libraries: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], FakeNvml]:
    """Return a function that loads the ``new`` or the ``old`` driver into this process."""
    return lambda age: FakeNvml(nvml_libraries[age], tmp_path / "state").inside(monkeypatch)


@pytest.fixture
def gpus(driver: Callable[[str], FakeNvml]) -> FakeNvml:
    return driver("new")


class Clock:
    """Monotonic seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_that_two_gpus_are_told_apart_and_described(gpus: FakeNvml) -> None:
    gpus.set({"count": 2, "total.1": 12 * GIB, "capability.major.1": 12, "capability.minor.1": 0})
    monitor = GpuMonitor()
    one, other = monitor.devices()
    assert monitor.problem is None
    assert (one.index, one.name, one.total_bytes) == (0, "NVIDIA Fake RTX 0", 24 * GIB)
    assert one.uuid == "GPU-fa4e0000-0000-0000-0000-000000000000"
    assert (one.pci_bus_id, one.compute_capability) == ("00000000:01:00.0", "8.6")
    assert (one.power_limit_w, one.driver_model, one.instance) == (350.0, None, None)
    assert (other.index, other.total_bytes, other.compute_capability) == (1, 12 * GIB, "12.0")
    assert other.uuid != one.uuid
    assert (monitor.driver, monitor.cuda) == ("580.65.06", "13.0")


def test_that_a_sample_tells_memory_load_heat_power_and_throttling(gpus: FakeNvml) -> None:
    gpus.set(used=9 * GIB, reserved=400 * MIB, utilisation=97, temperature=83, power_mw=349_900)
    gpus.set(throttle=0x20 | 0x4 | 0x1, processes=f"4711:{8 * GIB} 5:{GIB}", graphics=f"5:{GIB} 6:1024")
    (sample,) = GpuMonitor().sample()
    assert (sample.used_bytes, sample.reserved_bytes) == (9 * GIB, 400 * MIB)
    assert sample.free_bytes == 24 * GIB - 9 * GIB - 400 * MIB
    assert (sample.utilisation_percent, sample.temperature_c) == (97, 83)
    assert (sample.power_w, sample.power_limit_w) == (349.9, 350.0)
    assert sample.throttle == ("power-cap", "heat")
    assert sample.processes == {4711: 8 * GIB, 5: GIB, 6: 1024}
    assert sample.process_bytes([4711, 5, 99]) == 9 * GIB
    assert sample.process_bytes([99]) is None
    assert not sample.lost
    assert sample.sentence() is None


def test_that_memory_is_followed_over_time(gpus: FakeNvml) -> None:
    monitor = GpuMonitor()
    seen = []
    for used in (2, 5, 9, 7):
        gpus.set(used=used * GIB)
        seen.append(monitor.sample()[0].used_bytes)
    assert seen == [2 * GIB, 5 * GIB, 9 * GIB, 7 * GIB]


def test_that_under_wddm_the_memory_of_processes_is_unknown_and_all_else_is_told(gpus: FakeNvml) -> None:
    gpus.set(driver_model=0, processes="4711:?", graphics="4711:?")
    monitor = GpuMonitor()
    assert monitor.devices()[0].driver_model == "WDDM"
    (sample,) = monitor.sample()
    assert sample.processes == {4711: None}
    assert sample.process_bytes([4711]) is None
    assert sample.used_bytes == GIB
    gpus.set(driver_model=1)
    assert GpuMonitor().devices()[0].driver_model == "TCC"


def test_that_an_old_driver_tells_what_it_can(driver: Callable[[str], FakeNvml]) -> None:
    old = driver("old")
    old.set(processes=f"7:{GIB}", driver="450.80.02")
    monitor = GpuMonitor()
    (sample,) = monitor.sample()
    assert sample.used_bytes == GIB + 300 * MIB, "version 1 counts what the driver keeps as used"
    assert sample.reserved_bytes is None
    assert sample.processes == {7: GIB}
    assert sample.throttle == ()
    assert (monitor.driver, monitor.cuda) == ("450.80.02", None)
    assert monitor.devices()[0].instance is None


ASKED = (
    "nvmlDeviceGetUtilizationRates",
    "nvmlDeviceGetTemperature",
    "nvmlDeviceGetPowerUsage",
    "nvmlDeviceGetEnforcedPowerLimit",
    "nvmlDeviceGetName",
    "nvmlDeviceGetUUID",
    "nvmlDeviceGetPciInfo_v3",
    "nvmlDeviceGetMemoryInfo",
    "nvmlDeviceGetMemoryInfo_v2",
    "nvmlDeviceGetCudaComputeCapability",
    "nvmlDeviceGetCurrentClocksEventReasons",
    "nvmlDeviceGetCurrentClocksThrottleReasons",
    "nvmlDeviceGetComputeRunningProcesses_v3",
    "nvmlDeviceGetGraphicsRunningProcesses_v3",
    "nvmlSystemGetDriverVersion",
    "nvmlSystemGetCudaDriverVersion_v2",
)


@pytest.mark.parametrize("code", [pynvml.NVML_ERROR_NOT_SUPPORTED, pynvml.NVML_ERROR_NO_PERMISSION, 12345])
def test_that_what_cannot_be_told_is_none_and_nothing_else(gpus: FakeNvml, code: int) -> None:
    gpus.set({f"ret.{name}": code for name in ASKED})
    monitor = GpuMonitor()
    (device,) = monitor.devices()
    assert device.model_dump() == {**dict.fromkeys(type(device).model_fields), **_nameless(device.index)}
    (sample,) = monitor.sample()
    refused = code == pynvml.NVML_ERROR_NO_PERMISSION
    empty = dict.fromkeys(GpuSample.model_fields) | {"lost": False, "refused": refused}
    empty |= _nameless(0)
    assert sample.model_dump() == empty
    assert sample.process_bytes([1]) is None
    assert (monitor.driver, monitor.cuda, monitor.problem) == (None, None, None)


def _nameless(index: int) -> dict[str, object]:
    return {"index": index, "uuid": f"GPU-{index}", "name": ""}


@pytest.mark.parametrize("function", ASKED[:8])
def test_that_one_missing_answer_leaves_the_others(gpus: FakeNvml, function: str) -> None:
    gpus.set({f"ret.{function}": pynvml.NVML_ERROR_NOT_SUPPORTED})
    (sample,) = GpuMonitor().sample()
    told = [sample.used_bytes, sample.utilisation_percent, sample.temperature_c, sample.power_w]
    assert sum(value is not None for value in told) >= 3


def test_that_a_lost_gpu_is_a_fact_and_the_other_goes_on(gpus: FakeNvml) -> None:
    gpus.set(count=2)
    monitor = GpuMonitor()
    assert not any(sample.lost for sample in monitor.sample())
    gpus.set({"ret.nvmlDeviceGetMemoryInfo_v2.1": pynvml.NVML_ERROR_GPU_IS_LOST})
    one, other = monitor.sample()
    assert (one.lost, one.used_bytes) == (False, GIB)
    assert (other.lost, other.used_bytes, other.total_bytes) == (True, None, 24 * GIB)
    assert "GPU 1 (NVIDIA Fake RTX 1)" in (other.sentence() or "")
    gpus.set({"ret.nvmlDeviceGetMemoryInfo_v2.1": None})
    assert monitor.sample()[1].lost, "it is not asked again before a new connection"
    gpus.set({"ret.nvmlSystemGetDriverVersion": pynvml.NVML_ERROR_GPU_IS_LOST})
    assert monitor.driver is None


@pytest.mark.parametrize("function", ["nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetPowerUsage"])
def test_that_a_gpu_lost_before_the_first_look_is_listed_as_lost(gpus: FakeNvml, function: str) -> None:
    gpus.set({"count": 2, f"ret.{function}.0": pynvml.NVML_ERROR_RESET_REQUIRED})
    samples = GpuMonitor().sample()
    assert [(sample.index, sample.lost) for sample in samples] == [(0, True), (1, False)]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (pynvml.NVML_ERROR_DRIVER_NOT_LOADED, "not loaded"),
        (pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH, "restart it"),
        (pynvml.NVML_ERROR_NO_PERMISSION, "may not ask"),
        (pynvml.NVML_ERROR_OPERATING_SYSTEM, "blocked the request"),
    ],
)
def test_that_a_driver_that_does_not_work_is_one_sentence(gpus: FakeNvml, code: int, words: str) -> None:
    gpus.set({"ret.nvmlInitWithFlags": code})
    monitor = GpuMonitor()
    assert monitor.sample() == monitor.devices() == ()
    assert (monitor.problem or "").startswith("no NVIDIA GPU seen: ")
    assert words in (monitor.problem or "")
    assert (monitor.driver, monitor.cuda) == (None, None)
    monitor.close()


def test_that_a_driver_that_works_later_is_found_later(gpus: FakeNvml) -> None:
    clock = Clock()
    monitor = GpuMonitor(clock=clock)
    gpus.set({"ret.nvmlInitWithFlags": pynvml.NVML_ERROR_DRIVER_NOT_LOADED})
    assert monitor.sample() == ()
    gpus.set({"ret.nvmlInitWithFlags": None})
    assert monitor.sample() == (), "it is left alone for a while"
    clock.now += RETRY_SECONDS
    assert len(monitor.sample()) == 1
    assert monitor.problem is None


@pytest.mark.parametrize(
    "code",
    [
        pynvml.NVML_ERROR_UNINITIALIZED,
        pynvml.NVML_ERROR_UNKNOWN,
        pynvml.NVML_ERROR_TIMEOUT,
        pynvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH,
        pynvml.NVML_ERROR_GPU_NOT_FOUND,
    ],
)
def test_that_a_driver_that_stops_answering_is_connected_anew(gpus: FakeNvml, code: int) -> None:
    clock = Clock()
    monitor = GpuMonitor(clock=clock)
    monitor.sample()
    broken = {f"ret.nvmlDeviceGetMemoryInfo{version}": code for version in ("", "_v2")}
    gpus.set({**broken, "ret.nvmlShutdown": code})
    assert monitor.sample()[0].used_bytes is None
    assert monitor.sample() == ()
    assert "stopped answering" in (monitor.problem or "")
    clock.now += FIRST_RETRY_SECONDS
    assert monitor.sample()[0].used_bytes is None, "it is tried anew once, soon"
    clock.now += FIRST_RETRY_SECONDS
    assert monitor.sample() == (), "and then left alone for longer"
    gpus.set(dict.fromkeys(broken))
    clock.now += RETRY_SECONDS
    assert monitor.sample()[0].used_bytes == GIB
    assert monitor.problem is None


def test_that_a_field_that_always_fails_does_not_end_the_connection(gpus: FakeNvml) -> None:
    gpus.set({"ret.nvmlDeviceGetPowerUsage": pynvml.NVML_ERROR_UNKNOWN})
    monitor = GpuMonitor()
    for _ in range(3):
        (sample,) = monitor.sample()
        assert (sample.used_bytes, sample.power_w) == (GIB, None)


def test_that_no_gpu_is_a_fact(gpus: FakeNvml) -> None:
    gpus.set(count=0)
    monitor = GpuMonitor()
    assert monitor.sample() == ()
    assert "no NVIDIA GPU seen" in (monitor.problem or "")


def test_that_a_gpu_without_a_handle_is_passed_over(gpus: FakeNvml) -> None:
    gpus.set({"count": 2, "ret.nvmlDeviceGetHandleByIndex_v2.0": pynvml.NVML_ERROR_NO_PERMISSION})
    assert [device.index for device in GpuMonitor().devices()] == [1]


def test_that_a_divided_gpu_shows_its_instances(gpus: FakeNvml) -> None:
    gpus.set({"count": 2, "mig.0": 1, "mig.1": 0, "mig.count": 3, "temperature": 50})
    monitor = GpuMonitor()
    devices = monitor.devices()
    assert [(device.index, device.instance) for device in devices] == [(0, 0), (0, 1), (0, 2), (1, None)]
    assert devices[0].uuid.startswith("MIG-")
    assert devices[0].total_bytes == 8 * GIB
    assert len({device.uuid for device in devices}) == 4
    samples = monitor.sample()
    assert samples[0].total_bytes == 8 * GIB
    assert samples[0].temperature_c == 50, "heat belongs to the whole GPU"


def test_that_a_divided_gpu_without_instances_is_shown_whole(gpus: FakeNvml) -> None:
    gpus.set({"mig": 1, "mig.count": 0})
    assert [device.instance for device in GpuMonitor().devices()] == [None]


def test_that_more_processes_than_the_first_answer_fit(gpus: FakeNvml) -> None:
    gpus.set(processes=" ".join(f"{pid}:{pid * MIB}" for pid in range(1, 30)))
    (sample,) = GpuMonitor().sample()
    assert sample.process_bytes(range(1, 30)) == sum(range(1, 30)) * MIB


def test_that_a_missing_package_is_one_sentence() -> None:
    def load() -> object:
        raise ImportError("No module named 'pynvml'")

    monitor = GpuMonitor(Nvml(load))  # type: ignore[arg-type]
    assert "nvidia-ml-py" in (monitor.problem or "")
    assert monitor.sample() == ()


def test_that_the_real_loader_finds_the_library_or_its_absence(fake_gpus: FakeNvml, tmp_path: Path) -> None:
    """The way of a supervisor: a process of its own, found by the dynamic linker."""
    code = (
        "import json\nfrom gui.engine.hardware.gpu import GpuMonitor\nm = GpuMonitor()\n"
        "print(json.dumps([m.problem, [s.used_bytes for s in m.sample()], m.driver]))"
    )
    fake_gpus.set(count=2, used=3 * GIB)

    def look(environment: dict[str, str]) -> list[object]:
        words = [sys.executable, "-c", code]
        done = subprocess.run(words, env={**os.environ, **environment}, stdout=subprocess.PIPE, check=True)
        told: list[object] = json.loads(done.stdout)
        return told

    assert look(fake_gpus.environment()) == [None, [3 * GIB, 3 * GIB], "580.65.06"]
    (tmp_path / "libnvidia-ml.so.1").write_text("no library")
    problem, samples, _ = look({"LD_LIBRARY_PATH": str(tmp_path)})
    assert problem == "no NVIDIA GPU seen: there is no NVIDIA driver on this machine"
    assert samples == []


def test_that_a_look_that_hangs_or_fails_harms_nobody() -> None:
    release, taken, answers = threading.Event(), threading.Event(), iter([1])

    def look() -> int:
        try:
            return next(answers)
        except StopIteration:
            taken.set()
            release.wait()
            raise ValueError("a driver gone mad") from None

    sampler = Sampler(look, 0.001)
    assert sampler.newest() is None
    assert sampler.age_seconds() is None
    sampler.start()
    assert taken.wait(20)
    assert sampler.newest() == 1
    assert (sampler.age_seconds() or -1) >= 0
    sampler.stop()
    release.set()
    assert sampler.newest() == 1
