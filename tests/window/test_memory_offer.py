"""Where memory ran out the banner says its numbers and offers the plan that fits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sight
from memory_asked import PRIOR, TABLES, asked
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot
from run_windows import Launches, launches

from gui.engine.hardware.memory.forecast import forecast
from gui.engine.hardware.memory.ladder import Ways
from gui.engine.hardware.memory.observations import MemoryExpectation
from gui.engine.hardware.memory.room import Room
from gui.window.pages.run.run_page import RunPage

pytestmark = pytest.mark.usefixtures("no_leftovers")

RUNS_OUT = """
header(100)
raise RuntimeError(
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 24.00 GiB of which 0.50 "
    "GiB is free. Including non-PyTorch memory, this process has 23.00 GiB memory in use. Of the allocated "
    "memory 22.00 GiB is allocated by PyTorch, and 1.00 MiB is reserved by PyTorch but unallocated."
)
"""


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launches]:
    with launches(tmp_path) as made:
        yield made


def test_that_the_plan_that_fits_is_one_click_away(qtbot: QtBot, tasks, theme, icons, show, launch) -> None:
    question = asked(batch=4, checkpointing=False)
    expected = MemoryExpectation(
        question=question,
        forecast=forecast(question, TABLES, PRIOR),
        room=Room.of(24.0, 23.5, "linux"),
        ways=Ways(bf16=True),
    )
    page = show(RunPage(tasks=tasks, theme=theme, icons=icons), 1200, 760)
    try:
        run = launch.script(RUNS_OUT, memory=expected)
        run.plan.write_text(
            'schema = 1\nname = "a run"\nfamily = "sdxl"\n[dataset]\nbatch_size = 4\n', "utf-8"
        )
        page.open(run)
        qtbot.waitUntil(lambda: sight.sees(page, "run-first-try"), timeout=60_000)
        button = sight.find(page, "run-first-try", QPushButton)
        assert button.text() == "gradient_checkpointing, from the beginning"
        with qtbot.waitSignal(page.open_as_plan, timeout=5000) as told:
            qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        changes = {"gradient_checkpointing": True, "plan.follows": {"run": run.name, "try": "fit"}}
        assert told.args == [run, changes]
    finally:
        page.close_run()
