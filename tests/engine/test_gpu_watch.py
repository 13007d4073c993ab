"""The GPUs of a run: rows with peaks, what torch adds, whose GPU is judged, how often is looked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pynvml
import pytest
from fake_nvml import FakeNvml
from run_helper import wait_until

from gui.engine.hardware.gpu import GpuMonitor
from gui.engine.hardware.process_counters import ProcessUse
from gui.engine.quantities import GIB, MIB
from gui.engine.runs import gpu_watch
from gui.engine.runs.board import Board
from gui.engine.runs.events import Troubled, read_events
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.gpu_watch import CALM_SECONDS, QUICK_SECONDS, GpuWatch
from gui.engine.runs.ledger import Ledger
from gui.engine.runs.memory_hook import MemoryHook, MemoryRow
from gui.engine.runs.metrics import GpuRow, read_metrics
from gui.engine.runs.status import GpuNow, HostNow
from gui.engine.trainer.events import Phase, Step

ME = 4242


class Scene:
    """A watched run whose clock goes two seconds a look."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.run, self.now = RunFolder(folder / "run"), 100.0
        self.run.path.mkdir()
        self.ledger = Ledger(self.run, Board("r", state="running"), lambda: self.now)
        self.ledger.started = 100.0
        monitor = GpuMonitor(counters=options.pop("counters", None))
        self.watch = GpuWatch(self.ledger, monitor, MemoryHook(self.run), **options)
        self.watch.start()

    def look(self) -> None:
        self.now += 2.0
        self.watch.look([ME])
        self.ledger.flush()

    def until(self, true: Callable[[], object]) -> None:
        def looked() -> object:
            self.look()
            return true()

        wait_until(looked, 30)

    def rows(self) -> list[GpuRow]:
        return [row for row in read_metrics(self.run.metrics) if isinstance(row, GpuRow)]

    def told(self) -> list[tuple[str, bool]]:
        return [
            (event.id, event.over) for event in read_events(self.run.events) if isinstance(event, Troubled)
        ]

    def gpus(self) -> dict[int, GpuNow]:
        return {gpu.index: gpu for gpu in self.ledger.board.fact("gpus") or ()}

    def hooked(self, *rows: MemoryRow) -> None:
        with self.run.memory.open("a") as file:
            file.write("".join(row.model_dump_json() + "\n" for row in rows))


def torch(device: int, uuid: str | None = None, **figures: int) -> MemoryRow:
    return MemoryRow(phase="training", event="grown", pid=ME, device=device, uuid=uuid, **figures)


@pytest.fixture
def gpus(fake_gpus: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> FakeNvml:
    monkeypatch.setattr(gpu_watch, "QUICK_SECONDS", 0.01)
    monkeypatch.setattr(gpu_watch, "CALM_SECONDS", 0.1)
    return fake_gpus.inside(monkeypatch)


@pytest.fixture
def begin(gpus: FakeNvml, tmp_path: Path) -> Iterator[Callable[..., Scene]]:
    scenes: list[Scene] = []

    def make(**options: Any) -> Scene:
        scenes.append(Scene(tmp_path, **options))
        return scenes[-1]

    yield make
    for scene in scenes:
        scene.watch.stop()
        scene.ledger.close()


def test_that_the_peak_between_two_rows_is_kept(gpus: FakeNvml, begin: Callable[..., Scene]) -> None:
    gpus.set(used=2 * GIB, processes=f"{ME}:{GIB}")
    scene = begin()
    scene.until(scene.rows)
    before = len(scene.rows())
    gpus.set(used=9 * GIB, processes=f"{ME}:{8 * GIB}")
    scene.until(lambda: any(row.peak_used_bytes == 9 * GIB for row in scene.rows()))
    gpus.set(used=3 * GIB, processes=f"{ME}:{2 * GIB}")
    scene.until(lambda: scene.rows()[-1].peak_used_bytes == 3 * GIB)
    row = scene.rows()[-1]
    assert (row.used_bytes, row.process_bytes, row.peak_process_bytes, row.others_bytes) == (
        3 * GIB,
        2 * GIB,
        2 * GIB,
        GIB,
    )
    assert (row.temperature_c, row.power_w, row.utilisation_percent) == (65, 250.5, 90)
    now = scene.gpus()[0]
    assert (now.peak_used_bytes, now.peak_process_bytes, now.used_bytes) == (9 * GIB, 8 * GIB, 3 * GIB)
    assert len(scene.rows()) > before


def test_that_a_spike_shorter_than_a_row_is_in_the_row(gpus: FakeNvml, begin: Callable[..., Scene]) -> None:
    scene = begin()
    scene.until(scene.rows)
    looks = gpu_watch._Look
    samples = GpuMonitor().sample()
    spike = tuple(sample.model_copy(update={"used_bytes": 20 * GIB}) for sample in samples)
    scene.watch._take(looks(spike, None, (), thorough=False))
    scene.until(lambda: any(row.peak_used_bytes == 20 * GIB for row in scene.rows()))
    row = next(row for row in scene.rows() if row.peak_used_bytes == 20 * GIB)
    assert row.used_bytes == GIB


def test_that_looks_are_quick_where_memory_moves(
    gpus: FakeNvml, begin: Callable[..., Scene], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (QUICK_SECONDS, CALM_SECONDS) == (0.1, 1.0)
    scene = begin()
    board, seconds = scene.ledger.board, lambda: (scene.look(), scene.watch._sampler.seconds)[1]
    assert seconds() == 0.01, "loading"
    for number in (1, 5, 10):
        board.take(Phase(phase="training"))
        board.take(Step(step=number, total=99))
        assert seconds() == 0.01, "first steps"
    board.take(Step(step=11, total=99))
    assert seconds() == 0.1
    for phase, expected in (("sampling", 0.01), ("saving", 0.1), ("caching-text", 0.01)):
        board.take(Phase.model_validate({"phase": phase}))
        assert seconds() == expected, phase
    board.move_to("paused")
    assert seconds() == 0.1


def test_that_torch_tells_what_the_driver_does_not(gpus: FakeNvml, begin: Callable[..., Scene]) -> None:
    gpus.set(count=2, driver_model=0, processes="1:? 2:?")
    scene = begin(environment={"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": "1"})
    scene.hooked(torch(0, allocated=3 * GIB, reserved=4 * GIB))
    scene.until(lambda: any(row.torch_reserved_bytes for row in scene.rows()))
    row = next(row for row in scene.rows() if row.torch_reserved_bytes)
    assert (row.index, row.torch_allocated_bytes, row.torch_reserved_bytes) == (1, 3 * GIB, 4 * GIB)
    assert (row.process_bytes, row.others_bytes) == (None, None)
    scene.hooked(torch(0, "fa4e0000-0000-0000-0000-000000000000", allocated=1, reserved=2))
    scene.until(lambda: scene.gpus()[0].torch_reserved_bytes == 2)
    scene.until(lambda: scene.gpus()[1].torch_reserved_bytes is None)


def test_that_only_the_gpus_of_the_run_are_judged(gpus: FakeNvml, begin: Callable[..., Scene]) -> None:
    gpus.set(
        {"count": 2, "used.0": 23 * GIB + 600 * MIB, "used.1": 23 * GIB + 600 * MIB, "processes.1": f"{ME}:5"}
    )
    scene = begin()
    scene.until(lambda: ("memory-full", False) in scene.told())
    assert "GPU 1 (NVIDIA Fake RTX 1)" in scene.ledger.board.troubles["memory-full"].sentence
    assert scene.watch._watched["GPU-fa4e0000-0000-0000-0000-000000000000"].judge.has("memory-full") is False


@pytest.mark.parametrize(
    ("environment", "expected"),
    [({}, "GPU 0"), ({"CUDA_VISIBLE_DEVICES": "GPU-fa4e0000-0000-0000-0000-000000000001"}, "GPU 1")],
)
def test_that_the_first_visible_gpus_are_judged_where_nothing_else_is_known(
    gpus: FakeNvml, begin: Callable[..., Scene], environment: dict[str, str], expected: str
) -> None:
    gpus.set({"count": 2, "name": "RTX", "used": 23 * GIB + 600 * MIB})
    scene = begin(environment=environment)
    scene.until(lambda: ("memory-full", False) in scene.told())
    assert expected in scene.ledger.board.troubles["memory-full"].sentence
    assert sum(one.judge.has("memory-full") for one in scene.watch._watched.values()) == 1


def test_that_an_unknown_lasting_name_of_torch_leaves_the_number(
    gpus: FakeNvml, begin: Callable[..., Scene]
) -> None:
    gpus.set({"count": 2, "name": "RTX", "used.1": 23 * GIB + 600 * MIB})
    scene = begin()
    scene.hooked(torch(1, "another-way-to-write-it", allocated=GIB, reserved=2 * GIB, retries=1))
    scene.until(lambda: 1 in scene.gpus() and scene.gpus()[1].torch_reserved_bytes == 2 * GIB)
    scene.until(lambda: scene.told() == [("memory-full", False)])
    assert "GPU 1" in scene.ledger.board.troubles["memory-full"].sentence


def test_that_a_spill_is_counted_and_the_cause_of_slowness(
    gpus: FakeNvml, begin: Callable[..., Scene]
) -> None:
    class Counters:
        shared = 100 * MIB

        def read(self) -> list[ProcessUse]:
            return [ProcessUse(ME, "01:00", 22 * GIB, self.shared), ProcessUse(9, "01:00", GIB, 0)]

    counters = Counters()
    gpus.set(driver_model=0, used=23 * GIB, processes=f"{ME}:? 9:?", throttle=0x20)
    scene = begin(counters=counters)
    scene.until(lambda: scene.rows() and scene.rows()[-1].shared_bytes == 100 * MIB)
    assert scene.watch.slow_cause() == "The GPU is hot (65 °C) and clocks down."
    counters.shared = GIB
    scene.until(lambda: ("memory-spill", False) in scene.told())
    row = scene.rows()[-1]
    assert (row.process_bytes, row.shared_bytes, row.others_bytes) == (22 * GIB, GIB, GIB)
    assert scene.watch.slow_cause() == "The memory of the GPU is full and spills over into RAM."


def test_that_retries_of_torch_are_a_cause_and_take_its_spare_away(
    gpus: FakeNvml, begin: Callable[..., Scene]
) -> None:
    gpus.set(used=23 * GIB + 600 * MIB, processes=f"{ME}:{22 * GIB}")
    scene = begin()
    scene.hooked(torch(0, reserved=22 * GIB, allocated_peak=15 * GIB))
    scene.until(lambda: scene.gpus() and scene.gpus()[0].torch_reserved_bytes)
    for _ in range(10):
        scene.look()
    assert scene.told() == [], "torch has room of its own"
    scene.hooked(torch(0, reserved=22 * GIB, allocated_peak=15 * GIB, retries=1))
    scene.until(lambda: "gives memory back" in scene.watch.slow_cause())
    scene.until(lambda: scene.told() == [("memory-full", False)])


def test_that_another_program_is_named(gpus: FakeNvml, begin: Callable[..., Scene]) -> None:
    gpus.set(used=6 * GIB, processes=f"{ME}:{5 * GIB}")
    scene = begin()
    scene.until(scene.rows)
    gpus.set(used=9 * GIB, processes=f"{ME}:{5 * GIB} {os.getpid()}:{2 * GIB} 99999999:{900 * MIB}")
    scene.until(lambda: scene.told() == [("gpu-others", False)])
    sentence = scene.ledger.board.troubles["gpu-others"].sentence
    assert "(2.0 GiB), process 99999999 (0.9 GiB)." in sentence
    assert "Other programs use the GPU too" in scene.watch.slow_cause()
    assert str(ME) not in scene.watch.slow_cause() + sentence, "the training is no other program"


def test_that_without_gpus_only_ram_can_be_a_cause(gpus: FakeNvml, begin: Callable[..., Scene]) -> None:
    gpus.set({"ret.nvmlInitWithFlags": pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH})
    scene = begin()
    scene.until(lambda: scene.ledger.board.fact("gpu_problem"))
    assert "restart it, training would fail as well" in scene.ledger.board.fact("gpu_problem")
    assert scene.rows() == [] and scene.watch.slow_cause() == ""
    scene.ledger.board.put(host=HostNow(ram_available_bytes=5))
    assert "RAM of the machine" in scene.watch.slow_cause()


def test_that_what_the_driver_refuses_is_told_once(gpus: FakeNvml, begin: Callable[..., Scene]) -> None:
    gpus.set({"ret.nvmlDeviceGetComputeRunningProcesses_v3": pynvml.NVML_ERROR_NO_PERMISSION})
    scene = begin()
    scene.until(lambda: len(scene.rows()) > 1)
    notices = [text for text in scene.ledger.board.notices.values() if "refuses a part" in text]
    assert len(notices) == 1
    assert scene.rows()[-1].used_bytes == GIB


def test_that_memory_that_is_not_told_is_not_judged(gpus: FakeNvml, begin: Callable[..., Scene]) -> None:
    gpus.set({f"ret.nvmlDeviceGetMemoryInfo{v}": pynvml.NVML_ERROR_NOT_SUPPORTED for v in ("", "_v2")})
    scene = begin()
    scene.until(lambda: len(scene.rows()) > 2)
    assert scene.told() == [] and scene.rows()[-1].temperature_c == 65


def test_that_a_driver_that_hangs_is_told(
    begin: Callable[..., Scene], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_watch, "SILENT_SECONDS", -1.0)
    scene = begin()
    scene.until(lambda: "gpu-silent" in scene.ledger.board.notices)
