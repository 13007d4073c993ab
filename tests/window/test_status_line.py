"""The line below every page: what the GPU holds, what runs, which trainer it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sight
from fake_nvml import FakeNvml
from fake_trainers import hide_other_trainers, make_checkout
from PySide6.QtWidgets import QProgressBar, QWidget
from pytestqt.qtbot import QtBot
from written_runs import write_run

from gui.engine.paths import Home
from gui.engine.runs.lock import SupervisorLock
from gui.window.bridges.hardware import Hardware
from gui.window.bridges.run_list import RunList
from gui.window.bridges.settings import Settings
from gui.window.bridges.tasks import Tasks
from gui.window.bridges.trainers import Trainers
from gui.window.theme.theme import Theme
from gui.window.widgets.status_line import StatusLine

GIB = 1 << 30


@pytest.fixture
def driver(nvml_libraries: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeNvml:
    return FakeNvml(nvml_libraries["new"], tmp_path / "nvml.state").inside(monkeypatch)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    place = tmp_path / "machine"
    place.mkdir()
    hide_other_trainers(monkeypatch, place)
    return place


@pytest.fixture
def line(
    qtbot: QtBot, tasks: Tasks, theme: Theme, home: Home, machine: Path, show: Callable[..., QWidget]
) -> Iterator[Callable[[], StatusLine]]:
    """Return what shows the line and lets everything look."""
    hardware, runs = Hardware(seconds=0.05), RunList(home, milliseconds=50)
    trainers = Trainers(home, Settings(home), tasks)

    def make() -> StatusLine:
        shown = show(StatusLine(hardware=hardware, trainers=trainers, runs=runs, theme=theme), 1100, 40)
        for part in (hardware, runs, trainers):
            part.start()
        qtbot.waitUntil(lambda: hardware.known and runs.known and trainers.looked, timeout=20_000)
        return shown

    yield make
    for part in (hardware, runs, trainers):
        part.close()


def text(line: QWidget, name: str) -> str:
    return sight.says(line, name)


def test_that_gpu_memory_is_shown_as_it_changes(driver, line, qtbot):
    driver.set(used=GIB, name="NVIDIA GeForce RTX 3060", total=12 * GIB)
    shown = line()
    qtbot.waitUntil(lambda: text(shown, "status-gpu-memory") == "1.0 of 12.0 GiB")
    assert text(shown, "status-gpu") == "RTX 3060"
    bar = shown.findChild(QProgressBar, "status-gpu-bar")
    assert bar.value() == 83
    driver.set(used=int(11.8 * GIB), temperature=71)
    qtbot.waitUntil(lambda: text(shown, "status-gpu-memory") == "11.8 of 12.0 GiB")
    assert bar.property("tone") == "warn"
    assert "71 °C" in bar.toolTip()


def test_that_the_fullest_of_several_gpus_is_shown_and_all_are_told(driver, line, qtbot):
    driver.set({"count": 2, "used.0": GIB, "used.1": 9 * GIB, "total": 12 * GIB})
    shown = line()
    qtbot.waitUntil(lambda: text(shown, "status-gpu-memory") == "9.0 of 12.0 GiB")
    assert text(shown, "status-gpu").endswith("and 1 more")
    assert len(shown.findChild(QWidget, "status-gpu").toolTip().splitlines()) == 2


def test_that_a_machine_without_gpu_and_trainer_says_so(line, qtbot, monkeypatch):
    monkeypatch.setattr("gui.engine.hardware.nvml.Nvml.open", lambda self: "no driver")
    shown = line()
    qtbot.waitUntil(lambda: text(shown, "status-gpu") == "No GPU")
    assert "no driver" in shown.findChild(QWidget, "status-gpu").toolTip()
    assert not sight.sees(shown, "status-gpu-bar")
    assert text(shown, "status-trainer") == "No trainer"
    assert text(shown, "status-idle") == "Nothing is running"


def test_that_the_trainer_in_use_is_named(line, qtbot, machine):
    make_checkout(machine / "sd-scripts")
    shown = line()
    assert text(shown, "status-trainer") == "sd-scripts 0.10.1 · torch 2.8 · bf16 ok"


def test_that_a_running_run_is_shown_clicked_and_followed_to_its_end(line, qtbot, home):
    shown = line()
    running = {"state": "running", "step": 507, "total": 1200}
    run = write_run(home, "mira", verdict=None, status=running)
    lock = SupervisorLock(run.lock)
    lock.take()
    qtbot.waitUntil(lambda: text(shown, "status-run") == "mira · running · step 507 of 1,200")
    with qtbot.waitSignal(shown.open_run) as told:
        sight.click(qtbot, shown, "status-run")
    assert told.args == [run.path]
    lock.release()
    status = run.status.read_text().replace('"state": "running"', '"state":"ended"')
    verdict = '"verdict": {"verdict": "stopped", "reason": "guard", "step": 507, "total": 1200}'
    run.status.write_text(status.replace('"verdict": null', verdict))
    qtbot.waitUntil(lambda: text(shown, "status-run") == "mira · stopped by the guard · step 507 of 1,200")
    sight.click(qtbot, shown, "status-run")
    assert text(shown, "status-idle") == "Nothing is running"
