"""The memory of a card over time, told in words and drawn."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gui.engine.runs.metrics import GpuRow
from gui.window.theme.theme import Theme
from gui.window.widgets.memory_chart import MemoryChart

GIB = 1 << 30
Show = Callable[..., QWidget]


def looks(*used_gib: float | None, start: float = 0.0, total: float | None = 12.0) -> list[GpuRow]:
    return [
        GpuRow(
            t=start + n,
            index=0,
            uuid="GPU-1",
            used_bytes=None if used is None else int(used * GIB),
            total_bytes=None if total is None else int(total * GIB),
        )
        for n, used in enumerate(used_gib)
    ]


def test_that_an_empty_chart_says_what_will_be_here(theme: Theme, show: Show) -> None:
    chart = MemoryChart(theme)
    show(chart, 600, 120)
    assert "appears here" in chart.accessibleDescription()
    assert chart.grab().width() > 0


def test_that_it_tells_now_peak_forecast_and_total(theme: Theme, show: Show) -> None:
    chart = MemoryChart(theme)
    show(chart, 600, 120)
    chart.add_rows(looks(1.5, 8.6, 1.0))
    chart.set_forecast(8.3 * GIB)
    assert chart.accessibleDescription() == "now 1.0 GiB · peak 8.6 GiB · forecast 8.3 GiB of 12.0 GiB"
    chart.add_rows(looks(None, start=3))
    assert chart.now_bytes is None and chart.peak_bytes == int(8.6 * GIB)
    chart.clear()
    assert chart.peak_bytes == 0 and "appears here" in chart.accessibleDescription()


def test_that_no_peak_is_lost_in_a_long_run(theme: Theme, show: Show) -> None:
    chart = MemoryChart(theme)
    show(chart, 600, 120)
    figures = [1.0] * 50_000
    figures[31_111] = 9.0
    chart.add_rows(looks(*figures))
    assert chart.points < 20_000
    assert max(chart._used) == 9 * GIB
    bad = chart.grab().toImage()
    x = round(31_111 / 50_000 * 600)
    column = {bad.pixelColor(x + dx, 60).name() for dx in range(-2, 3)}
    assert len(column) > 1


def test_that_pointer_and_keys_tell_single_moments(qtbot: QtBot, theme: Theme, show: Show) -> None:
    chart = MemoryChart(theme)
    show(chart, 600, 120)
    chart.add_rows(looks(*[2.0] * 100, *[4.0] * 100))
    qtbot.mouseMove(chart, QPoint(60, 60))
    qtbot.waitUntil(lambda: chart.accessibleDescription().startswith("2.0 GiB at "))
    qtbot.mouseMove(chart, QPoint(560, 60))
    qtbot.waitUntil(lambda: chart.accessibleDescription().startswith("4.0 GiB at 3 min"))
    chart.setFocus()
    for _turn in range(70):
        qtbot.keyClick(chart, Qt.Key.Key_Left)
    assert chart.accessibleDescription().startswith("2.0 GiB at ")
    qtbot.keyClick(chart, Qt.Key.Key_Escape)
    assert chart.accessibleDescription().startswith("now ")


def test_that_a_card_of_unknown_size_and_late_or_early_rows_are_fine(theme: Theme, show: Show) -> None:
    chart = MemoryChart(theme)
    show(chart, 600, 120)
    chart.add_rows(looks(3.0, total=None, start=10))
    chart.add_rows(looks(2.0, total=None, start=5))
    chart.add_rows([GpuRow(t=None, index=0, uuid="x", used_bytes=5 * GIB)])
    assert chart.accessibleDescription() == "now 5.0 GiB · peak 5.0 GiB"
    assert chart.points == 1
    theme.set_appearance("dark")
    assert not chart.grab().isNull()


def test_that_a_time_when_nobody_looked_is_a_gap(theme: Theme, show: Show) -> None:
    chart = MemoryChart(theme)
    show(chart, 600, 120)
    chart.add_rows(looks(*[6.0] * 50))
    chart.add_rows(looks(*[6.0] * 50, start=500))
    image = chart.grab().toImage()
    assert image.pixelColor(300, 110) == image.pixelColor(300, 40)
    assert image.pixelColor(10, 100) != image.pixelColor(300, 100)
