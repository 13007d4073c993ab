"""What Windows counts for each process, read through libraries that a test stands in for."""

# ruff: noqa: N802 - functions of Windows bear its names

from __future__ import annotations

import ast
import ctypes
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_nvml import FakeNvml

from gui.engine.hardware import gpu as gpu_module
from gui.engine.hardware import system_counters as counters_of_system
from gui.engine.hardware.gpu import GpuDevice, GpuMonitor, machine_gpus
from gui.engine.hardware.process_counters import ProcessUse, same_place, uses
from gui.engine.hardware.system_counters import system_counters
from gui.engine.hardware.visible import lasting_names, training_gpus, visible_devices
from gui.engine.hardware.windows_counters import (
    WindowsCounters,
    _Adapters,
    _Address,
    _Item,
    _Question,
)
from gui.engine.plan.model import LaunchSettings
from gui.engine.preflight.collect import Collector

GUI = Path(gpu_module.__file__).parents[2]
GIB, MIB = 1 << 30, 1 << 20
MORE_DATA = ctypes.c_int32(0x800007D2).value
ONE, OTHER = "luid_0x00000000_0x0000D1B2_phys_0", "luid_0x00000001_0x0000D1B2_phys_0"


class Pdh:
    """``pdh.dll`` as far as it is asked; its counters are set by the test."""

    def __init__(self) -> None:
        self.values: dict[str, dict[str, tuple[int, int]]] = {"Dedicated": {}, "Shared": {}}
        self.paths: list[str] = []
        self.status: dict[str, int] = {}
        self.grows = 0

    def PdhOpenQueryW(self, source: object, user: object, query: Any) -> int:
        query._obj.value = 7
        return self.status.get("open", 0)

    def PdhAddEnglishCounterW(self, query: object, path: Any, user: object, counter: Any) -> int:
        self.paths.append(path.value)
        counter._obj.value = len(self.paths)
        return self.status.get("add", 0)

    def PdhCollectQueryData(self, query: object) -> int:
        return self.status.get("collect", 0)

    def PdhGetFormattedCounterArrayW(self, counter: Any, how: int, size: Any, count: Any, room: Any) -> int:
        assert how == 0x400
        name = self.paths[counter.value - 1].rpartition("\\")[2].split()[0]
        rows = list(self.values[name].items())
        need = ctypes.sizeof(_Item) * len(rows)
        if self.grows:
            self.grows -= 1
            need *= 2
        if room is None or size._obj.value < need:
            size._obj.value, count._obj.value = need, len(rows)
            return MORE_DATA if need else 0
        items = ctypes.cast(room, ctypes.POINTER(_Item))
        for at, (instance, (status, large)) in enumerate(rows):
            items[at].name, items[at].value.status, items[at].value.large = instance, status, large
        count._obj.value = len(rows)
        return 0


class Gdi:
    """``gdi32.dll``: two adapters, the second of which tells no address."""

    def __init__(self) -> None:
        self.closed: list[int] = []

    def D3DKMTEnumAdapters2(self, listing: Any) -> int:
        found: _Adapters = listing._obj
        assert found.count == 64
        for at, high in enumerate((0, 1)):
            found.adapters[at].handle = 10 + at
            found.adapters[at].luid.low, found.adapters[at].luid.high = 0xD1B2, high
        found.count = 2
        return 0

    def D3DKMTQueryAdapterInfo(self, question: Any) -> int:
        asked: _Question = question._obj
        assert (asked.type, asked.size) == (6, 12)
        if asked.handle != 10:
            return -1
        ctypes.cast(asked.data, ctypes.POINTER(_Address))[0] = _Address(1, 0, 0)
        return 0

    def D3DKMTCloseAdapter(self, handle: Any) -> int:
        self.closed.append(handle._obj.value)
        return 0


@pytest.fixture
def pdh() -> Pdh:
    fake = Pdh()
    fake.values = {
        "Dedicated": {
            f"pid_42_{ONE}": (0, 5 * GIB),
            f"pid_7_{OTHER}": (1, GIB),
            f"pid_9_{ONE}": (0xC0000BC6, 3),
        },
        "Shared": {f"pid_42_{ONE}": (0, 70 * MIB), "_Total": (0, 1)},
    }
    return fake


def test_that_each_process_is_told_with_its_adapter(pdh: Pdh) -> None:
    pdh.grows = 1
    gdi = Gdi()
    counters = WindowsCounters(pdh, gdi)
    told = [ProcessUse(42, "01:00", 5 * GIB, 70 * MIB), ProcessUse(7, None, GIB, 0)]
    assert list(counters.read()) == told == list(counters.read())
    assert pdh.paths == [rf"\GPU Process Memory(*)\{kind} Usage" for kind in ("Dedicated", "Shared")]
    assert gdi.closed == [10, 11]


def test_that_no_process_is_no_trouble(pdh: Pdh) -> None:
    pdh.values = {"Dedicated": {}, "Shared": {}}
    assert list(WindowsCounters(pdh, Gdi()).read()) == []


@pytest.mark.parametrize("step", ["open", "add"])
def test_that_a_windows_without_the_counter_is_asked_once(pdh: Pdh, step: str) -> None:
    pdh.status[step] = -1
    counters = WindowsCounters(pdh, Gdi())
    assert list(counters.read()) == []
    pdh.status.clear()
    assert list(counters.read()) == []


def test_that_a_look_that_fails_is_followed_by_others(pdh: Pdh) -> None:
    counters = WindowsCounters(pdh, SimpleNamespace())
    assert counters.read()[0].pci_bus_id is None, "adapters that tell no address are no reason to be silent"
    pdh.status["collect"] = -2147481643
    assert list(counters.read()) == []
    pdh.status.clear()
    assert len(counters.read()) == 2


def test_that_another_system_has_no_such_counters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters_of_system, "operating_system", lambda: "linux")
    assert system_counters() is None
    monkeypatch.setattr(counters_of_system, "operating_system", lambda: "windows")
    counters = system_counters()
    assert isinstance(counters, WindowsCounters)


@pytest.mark.skipif(hasattr(ctypes, "WinDLL"), reason="there are such libraries")
def test_that_missing_libraries_tell_nothing() -> None:
    assert list(WindowsCounters().read()) == []


def test_that_places_are_the_same_however_they_are_spelled() -> None:
    assert same_place("00000000:01:00.0", "01:00") and same_place("0A:00", "00000000:0a:00.0")
    assert not same_place("00000000:01:00.0", "02:00")
    assert not same_place("", "01:00")


def test_that_names_that_are_none_are_passed_over() -> None:
    assert list(uses({"pid_x": 1, "pid_1": 2}, {}, {})) == []


class Counters:
    def __init__(self, *told: ProcessUse) -> None:
        self.told = told

    def read(self) -> tuple[ProcessUse, ...]:
        return self.told


@pytest.fixture
def gpus(fake_gpus: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> FakeNvml:
    return fake_gpus.inside(monkeypatch)


def test_that_windows_fills_in_what_nvml_does_not_tell(gpus: FakeNvml) -> None:
    gpus.set({"count": 2, "driver_model": 0, "processes.0": "42:? 43:?", "processes.1": "42:100"})
    counters = Counters(
        ProcessUse(42, "01:00", 5, 6), ProcessUse(44, "01:00", 7, 8), ProcessUse(42, "02:00", 9, 1)
    )
    first, second = GpuMonitor(counters=counters).sample()
    assert first.processes == {42: 5, 43: None, 44: 7}
    assert (first.shared_bytes([42, 44]), first.process_bytes([42])) == (14, 5)
    assert second.processes == {42: 100}, "what NVML tells itself counts"


def test_that_an_unknown_adapter_is_the_only_one_or_none(gpus: FakeNvml) -> None:
    counters = Counters(ProcessUse(42, None, 5, 6))
    (only,) = GpuMonitor(counters=counters).sample()
    assert only.processes == {42: 5}
    gpus.set(count=2)
    assert [sample.processes for sample in GpuMonitor(counters=counters).sample()] == [{}, {}]


def test_that_quick_looks_ask_only_for_memory(gpus: FakeNvml) -> None:
    gpus.set(processes="42:?", driver_model=0)
    monitor = GpuMonitor(counters=Counters(ProcessUse(42, "01:00", 5, 6)))
    monitor.sample()
    (quick,) = monitor.sample(thorough=False)
    assert (quick.used_bytes, quick.process_bytes([42])) == (GIB, 5), "the counters are as last read"
    assert (quick.temperature_c, quick.power_w, quick.utilisation_percent, quick.throttle) == (None,) * 4


def devices(*names: str) -> list[GpuDevice]:
    return [GpuDevice(index=at, uuid=f"GPU-{at}{at}aa", name=name) for at, name in enumerate(names)]


@pytest.mark.parametrize(
    ("names", "order", "value", "expected"),
    [
        (("A",), "", None, [0]),
        (("A", "A"), "", None, [0, 1]),
        (("A", "B"), "", None, None),
        (("A", "B"), "PCI_BUS_ID", None, [0, 1]),
        (("A", "B"), "", "GPU-11,GPU-00aa", [1, 0]),
        (("A", "B"), "", "gpu-11", [1]),
        (("A", "B"), "", "GPU-", []),
        (("A", "B"), "", "1", None),
        (("A", "B"), "PCI_BUS_ID", "1,0", [1, 0]),
        (("A", "B"), "PCI_BUS_ID", "1,7,0", [1]),
        (("A", "B"), "PCI_BUS_ID", "0,0", [0]),
        (("A", "B"), "PCI_BUS_ID", "-1", []),
        (("A", "B"), "", "", []),
    ],
)
def test_that_visible_devices_are_those_of_cuda(
    names: tuple[str, ...], order: str, value: str | None, expected: list[int] | None
) -> None:
    environment = {"CUDA_DEVICE_ORDER": order, **({} if value is None else {"CUDA_VISIBLE_DEVICES": value})}
    found = visible_devices(devices(*names), environment)
    assert (None if found is None else [device.index for device in found]) == expected


def test_that_the_number_of_a_divided_gpu_is_its_first_instance() -> None:
    parts = [GpuDevice(index=0, uuid=f"MIG-{n}", name="A100", instance=n) for n in (0, 1)]
    (found,) = visible_devices(parts, {"CUDA_VISIBLE_DEVICES": "0"}) or ()
    assert found.instance == 0
    (found,) = visible_devices(parts, {"CUDA_VISIBLE_DEVICES": "MIG-1"}) or ()
    assert found.instance == 1


def test_that_gpus_beside_a_divided_or_silent_one_keep_their_numbers() -> None:
    parts = [GpuDevice(index=1, uuid=f"MIG-{n}", name="A100", instance=n) for n in (0, 1)]
    beside = GpuDevice(index=2, uuid="GPU-2", name="A100")
    assert lasting_names([*parts, beside]) == ["0", "MIG-0", "GPU-2"]
    assert lasting_names([]) == []
    chosen = LaunchSettings(gpu_ids=(2, 1), num_processes=2)
    assert [gpu.uuid for gpu in training_gpus([*parts, beside], chosen, {})] == ["GPU-2", "MIG-0"]


def test_that_where_only_cuda_knows_its_order_that_of_the_driver_is_taken() -> None:
    found = training_gpus(devices("A", "B"), LaunchSettings(), {"CUDA_VISIBLE_DEVICES": "1"})
    assert [gpu.index for gpu in found] == [0]


def test_that_check_and_window_see_what_windows_tells_of_other_programs(
    gpus: FakeNvml, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_module, "system_counters", lambda: Counters(ProcessUse(1, "01:00", 3 * GIB, 6)))
    gpus.set({"driver_model": 0, "processes": "1:?"})
    (seen,) = machine_gpus().sample()
    assert seen.processes == {1: 3 * GIB}
    (fact,) = Collector().machine().gpu or ()
    assert [holder.gib for holder in fact.holder or ()] == [3.0]


def test_that_nobody_looks_at_this_machine_without_its_counters() -> None:
    own = [
        f"{file.name}:{node.lineno}"
        for file in GUI.rglob("*.py")
        if file.name != "gpu.py"
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "GpuMonitor"
    ]
    assert own == [], "`machine_gpus` knows what this system tells"
