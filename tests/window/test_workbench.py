"""The parts of the window put together: what new plans take from the settings."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fake_nvml import FakeNvml
from PySide6.QtWidgets import QApplication

from gui.engine.paths import Home
from gui.engine.preferences import change_preferences
from gui.window.main_window import MainWindow
from gui.window.theme.icons import Icons
from gui.window.workbench import Workbench


@pytest.fixture
def bench(qapp: QApplication, icons: Icons, home: Home, qtbot) -> Iterator[Workbench]:
    window = MainWindow(icons)
    qtbot.addWidget(window)
    bench = Workbench(qapp, window, icons, home, trainer="practice")
    yield bench
    bench.close()


def test_that_a_new_plan_guards_as_the_user_chose(bench, qtbot):
    bench.settings.change(guard="warn")
    bench.ways.new_plan()
    assert bench.document.plan.guard.nonfinite == "warn"
    assert not bench.document.dirty


def test_that_a_new_plan_trains_on_the_gpu_that_the_user_chose(
    qapp, icons, home, qtbot, nvml_libraries, tmp_path, monkeypatch
):
    gpus = FakeNvml(nvml_libraries["new"], tmp_path / "state")
    gpus.set(count=2)
    gpus.inside(monkeypatch)
    window = MainWindow(icons)
    qtbot.addWidget(window)
    bench = Workbench(qapp, window, icons, home, trainer="practice")
    try:
        bench.hardware.start()
        qtbot.waitUntil(lambda: len(bench.hardware.devices) == 2, timeout=20_000)
        change_preferences(home.preferences, gpu=bench.hardware.devices[1].uuid)
        bench.settings.read_again()
        bench.ways.new_plan()
        assert bench.document.plan.launch.gpu_ids == (1,)
    finally:
        bench.close()
