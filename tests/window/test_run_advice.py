"""What a loss curve tells stands in a quiet line under it."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sight
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot
from saved_runs import saved_run

from gui.engine.paths import Home
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.metrics import StepRow
from gui.engine.runs.status import Verdict
from gui.window.pages.run.run_page import RunPage


@pytest.fixture
def open_run(qtbot: QtBot, tasks, theme, icons, show) -> Iterator[Callable[[RunFolder], RunPage]]:
    made: list[RunPage] = []

    def opened(run: RunFolder) -> RunPage:
        page = RunPage(tasks=tasks, theme=theme, icons=icons, opener=lambda _path: True)
        made.append(page)
        show(page, 1100, 760)
        page.open(run)
        return page

    yield opened
    for page in made:
        page.close_run()


def run_of(tmp_path: Path, level: Callable[[float], float], count: int = 800) -> RunFolder:
    verdict = Verdict(verdict="finished", reason="done", sentence="Finished.", step=count, total=count)
    run = saved_run(
        Home(tmp_path / "home"),
        {"output_dir": str(tmp_path / "out")},
        state="ended",
        verdict=verdict,
        step=count,
        total=count,
    )
    lot = random.Random(1)
    losses = [level(n / count) * math.exp(lot.gauss(-0.08, 0.4)) for n in range(count)]
    rows = [StepRow(step=n, loss=loss, t=float(n)) for n, loss in enumerate(losses, start=1)]
    run.metrics.write_text("".join(row.model_dump_json() + "\n" for row in rows), "utf-8")
    return run


def visible(page: QWidget, name: str) -> bool:
    return any(each.isVisible() for each in page.findChildren(QWidget, name))


def text(page: QWidget, name: str) -> str:
    return next((each.text() for each in page.findChildren(QLabel, name) if each.isVisible()), "")


def click(qtbot: QtBot, page: QWidget, name: str) -> None:
    sight.click(qtbot, page, name)


def test_that_a_rising_loss_is_said_under_the_curve_and_leads_to_its_place(open_run, tmp_path, qtbot):
    page = open_run(run_of(tmp_path, lambda x: 0.1 if x < 0.7 else 0.6))
    qtbot.waitUntil(lambda: text(page, "loss-advice-line").startswith("Most likely: The loss rises"))
    assert not visible(page, "loss-advice-rising")
    click(qtbot, page, "loss-advice-more")
    qtbot.waitUntil(lambda: "lower learning rate" in text(page, "loss-advice-rising"))
    click(qtbot, page, "loss-advice-show-rising")
    qtbot.waitUntil(lambda: text(page, "loss-readout") != "")
    click(qtbot, page, "loss-advice-more")
    qtbot.waitUntil(lambda: not visible(page, "loss-advice-rising"))
    click(qtbot, page, "run-tab-log")
    qtbot.waitUntil(lambda: not visible(page, "loss-advice"))
    click(qtbot, page, "run-tab-loss")
    qtbot.waitUntil(lambda: visible(page, "loss-advice"))


def test_that_a_sound_curve_is_told_only_where_its_best_file_usually_is(open_run, tmp_path, qtbot):
    page = open_run(run_of(tmp_path, lambda _x: 0.1))
    qtbot.waitUntil(lambda: "steps 480 to 640" in text(page, "loss-advice-line"))
    assert text(page, "loss-advice-line").startswith("Perhaps:")


def test_that_nothing_is_said_of_a_short_sound_run(open_run, tmp_path, qtbot):
    page = open_run(run_of(tmp_path, lambda _x: 0.1, count=60))
    qtbot.waitUntil(lambda: visible(page, "loss-plot") or page.body.curves.chart.isVisible())
    qtbot.waitUntil(lambda: page._watch is not None and page._watch.all_read)
    assert not visible(page, "loss-advice")
