"""What the Run page looks like: memory of a GPU, other colours and sizes, narrow windows, long words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sight
from layout_faults import cut_texts, overlaps
from PySide6.QtWidgets import QLabel, QScrollArea, QWidget
from run_helper import FINISHES, GOES_ON
from run_windows import Launches, launches

from gui.window.pages.run.gpu_card import GpuCard
from gui.window.pages.run.run_page import RunPage

pytestmark = pytest.mark.usefixtures("no_leftovers")
GIB = 1 << 30


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launches]:
    with launches(tmp_path) as made:
        yield made


@pytest.fixture
def page(qtbot, tasks, theme, icons, show) -> Iterator[RunPage]:
    page = show(RunPage(tasks=tasks, theme=theme, icons=icons), 1012, 660)
    yield page
    page.close_run()


def text(page: QWidget, name: str) -> str:
    return sight.says(page, name)


def fits(page: RunPage) -> bool:
    """Whether nothing is wider than the page; it may be higher."""
    scroller = page.findChild(QScrollArea, "run-scroll")
    assert scroller is not None
    return scroller.widget().width() <= scroller.viewport().width()


def test_that_the_memory_of_the_gpu_is_shown_against_its_total(page, launch, qtbot, fake_gpus, monkeypatch):
    fake_gpus.set(count=2, used=3 * GIB, total=12 * GIB)
    for name, value in fake_gpus.environment().items():
        monkeypatch.setenv(name, value)
    page.open(launch.script(GOES_ON))
    qtbot.waitUntil(lambda: "3.0 GiB" in text(page, "run-gpu-figures"), timeout=60_000)
    assert text(page, "run-gpu-figures").endswith("of 12.0 GiB")
    assert text(page, "run-gpu-use").endswith("%") and "°C" in text(page, "run-gpu-heat")
    qtbot.waitUntil(lambda: sight.sees(page, "memory-chart"), timeout=10_000)
    assert not text(page, "run-no-gpu")


def test_that_colours_and_sizes_may_change_under_a_run(page, launch, qtbot, theme):
    page.open(launch.script(FINISHES))
    qtbot.waitUntil(lambda: "Finished" in text(page, "run-verdict-sentence"), timeout=60_000)
    assert fits(page)
    side, curves = page.findChild(QWidget, "run-files"), page.findChild(QWidget, "run-curves")
    beside = side.mapTo(page, side.rect().topLeft()).x() > curves.mapTo(page, curves.rect().topRight()).x()
    assert beside
    theme.set_appearance("dark")
    theme.set_text_percent(150)
    page.resize(820, 660)
    qtbot.waitUntil(lambda: fits(page), timeout=5000)
    qtbot.waitUntil(
        lambda: (
            side.mapTo(page, side.rect().topLeft()).y() > curves.mapTo(page, curves.rect().bottomLeft()).y()
        ),
        timeout=5000,
    )


def test_that_nothing_lies_over_anything_however_long_the_words_and_large_the_text(
    page, launch, qtbot, theme, monkeypatch
):
    monkeypatch.setattr("gui.window.pages.run.gpu_card.host_words", lambda _status: "RAM and disk " * 9)
    page.open(launch.script(GOES_ON))
    qtbot.waitUntil(lambda: bool(text(page, "run-no-gpu")), timeout=60_000)
    monkeypatch.setattr(GpuCard, "show_status", lambda *_words: None)
    theme.set_text_percent(150)
    try:
        sight.find(page, "run-no-gpu", QLabel).setText("A reason that takes very many words to be told. " * 9)
        for width in (1280, 1012, 820, 640):
            page.resize(width, 560)
            qtbot.waitUntil(lambda: not overlaps(page) and not cut_texts(page))
    finally:
        theme.set_text_percent(100)


@pytest.mark.usefixtures("pseudo_language")
def test_that_long_words_fit(qtbot, tasks, theme, icons, show, launch):
    page = show(RunPage(tasks=tasks, theme=theme, icons=icons), 1012, 660)
    page.open(launch.script(FINISHES))
    qtbot.waitUntil(lambda: bool(text(page, "run-verdict-sentence")), timeout=60_000)
    assert fits(page)
    page.close_run()
