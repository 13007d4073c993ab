"""What the window knows of the hardware, the runs and the user's choices."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_nvml import FakeNvml
from pytestqt.qtbot import QtBot
from written_runs import write_run

from gui.engine.errors import CannotWrite
from gui.engine.hardware.gpu import GpuMonitor
from gui.engine.paths import Home
from gui.engine.preferences import change_preferences, load_preferences
from gui.engine.runs.lock import SupervisorLock
from gui.window.bridges import hardware as hardware_bridge
from gui.window.bridges.hardware import Hardware
from gui.window.bridges.run_list import RunList
from gui.window.bridges.settings import Settings

GIB = 1 << 30


@pytest.fixture
def driver(nvml_libraries: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeNvml:
    return FakeNvml(nvml_libraries["new"], tmp_path / "nvml.state").inside(monkeypatch)


@pytest.fixture
def hardware(qtbot: QtBot) -> Iterator[Hardware]:
    bridge = Hardware(seconds=0.05)
    yield bridge
    bridge.close()


@pytest.fixture
def runs(qtbot: QtBot, home: Home) -> Iterator[RunList]:
    bridge = RunList(home, milliseconds=50)
    yield bridge
    bridge.close()


def test_that_the_gpu_is_followed(driver, hardware, qtbot):
    driver.set(used=GIB)
    assert not hardware.known
    hardware.start()
    qtbot.waitUntil(lambda: hardware.known)
    assert [gpu.used_bytes for gpu in hardware.gpus] == [GIB]
    assert hardware.devices[0].compute_capability == "8.6"
    assert hardware.problem == ""
    assert hardware.host.ram_total_bytes > 0
    driver.set(used=9 * GIB)
    qtbot.waitUntil(lambda: hardware.gpus[0].used_bytes == 9 * GIB)


def test_that_a_machine_without_gpu_says_so(hardware, qtbot, monkeypatch):
    monkeypatch.setattr(GpuMonitor, "devices", lambda self: ())
    monkeypatch.setattr(GpuMonitor, "sample", lambda self: ())
    monkeypatch.setattr(GpuMonitor, "problem", "no NVIDIA GPU seen: of no driver")
    hardware.start()
    qtbot.waitUntil(lambda: hardware.known)
    assert hardware.gpus == ()
    assert hardware.problem == "no NVIDIA GPU seen: of no driver"


def test_that_a_driver_that_hangs_stops_nothing_and_is_told(hardware, qtbot, monkeypatch):
    go_on = threading.Event()
    monkeypatch.setattr(GpuMonitor, "devices", lambda self: go_on.wait(60) and ())
    monkeypatch.setattr(hardware_bridge, "STALE_SECONDS", 0.2)
    hardware.start()
    qtbot.waitUntil(lambda: hardware.known)
    go_on.set()
    assert "does not answer" in hardware.problem


def test_that_runs_of_others_show_up_and_change(runs, qtbot, home):
    runs.start()
    qtbot.waitUntil(lambda: runs.known)
    assert runs.entries == ()
    run = write_run(home, "ink", verdict=None, status={"state": "running", "step": 3})
    lock = SupervisorLock(run.lock)
    lock.take()
    qtbot.waitUntil(lambda: len(runs.entries) == 1 and runs.entries[0].condition == "fine")
    assert [entry.step for entry in runs.living] == [3]
    lock.release()
    qtbot.waitUntil(lambda: runs.entries[0].condition == "unattended")
    assert runs.living == []


def test_that_nothing_is_told_where_nothing_changes(runs, qtbot, home):
    write_run(home, "ink")
    told = []
    runs.changed.connect(lambda: told.append(runs.entries))
    looks = []
    look = runs._look
    runs._look = lambda: looks.append(1) or look()
    runs.start()
    qtbot.waitUntil(lambda: len(looks) > 3)
    assert len(told) == 1


def test_that_a_place_of_runs_that_cannot_be_read_is_a_sentence(runs, qtbot, home, monkeypatch):
    def refuse(_home: Home) -> list[str]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("gui.engine.runs.listing.run_names", refuse)
    runs.start()
    qtbot.waitUntil(lambda: runs.known)
    assert "Permission denied" in runs.problem
    monkeypatch.undo()
    qtbot.waitUntil(lambda: runs.problem == "")


def test_that_choices_are_kept_and_told(qtbot, home):
    settings = Settings(home)
    told = []
    settings.changed.connect(told.append)
    settings.change(appearance="dark", text_percent=150)
    assert sorted(told) == ["appearance", "text_percent"]
    assert load_preferences(home.preferences).appearance == "dark"
    settings.change(appearance="dark")
    assert len(told) == 2
    change_preferences(home.preferences, guard="warn")
    settings.read_again()
    assert settings.values.guard == "warn"
    assert told[-1] == "guard"


def test_that_choices_that_cannot_be_kept_change_nothing(qtbot, home, tmp_path):
    (tmp_path / "home of this test").write_text("a file where the home should be")
    settings = Settings(home)
    with pytest.raises(CannotWrite):
        settings.change(appearance="dark")
    assert settings.values.appearance == "system"
