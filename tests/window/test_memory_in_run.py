"""The memory of a run on its page: what was forecast, what torch says, and what that is good for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sight
from memory_scene import sdxl_plan, write_run
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from gui.engine.quantities import GIB
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.memory_hook import MemoryRow
from gui.engine.runs.records import Manifest
from gui.engine.runs.status import RunStatus
from gui.window.pages.run.run_page import RunPage
from gui.window.widgets.memory_chart import MemoryChart

Open = Callable[..., RunPage]


@pytest.fixture
def open_run(qtbot: QtBot, tasks, theme, icons, show, tmp_path: Path) -> Iterator[Open]:
    """Return what shows the page of a run that took so much of a GPU, GiB."""
    made: list[RunPage] = []

    def open_page(process_gib: float, total_gib: float = 24.0, **manifest: object) -> RunPage:
        run = RunFolder(tmp_path / "home" / "runs" / f"run-{len(made)}")
        write_run(run, sdxl_plan(tmp_path), process_gib=process_gib, total_gib=total_gib)
        Manifest.read(run.manifest).model_copy(update=manifest).write(run.manifest)
        made.append(show(RunPage(tasks=tasks, theme=theme, icons=icons), 1200, 760))
        made[-1].open(run)
        qtbot.waitUntil(lambda: chart(made[-1]) is not None, timeout=10_000)
        qtbot.waitUntil(lambda: not tasks.busy, timeout=20_000)
        return made[-1]

    yield open_page
    for page in made:
        page.close_run()


def chart(page: RunPage) -> MemoryChart | None:
    found = page.findChildren(MemoryChart)
    return found[0] if found else None


def seen(page: RunPage, name: str) -> str:
    return sight.says(page, name)


def test_that_the_chart_tells_forecast_and_tensors(open_run: Open, qtbot: QtBot) -> None:
    page = open_run(8.2)
    qtbot.waitUntil(lambda: "forecast 8." in chart(page).accessibleDescription())
    qtbot.waitUntil(lambda: "tensors 7.2 GiB" in chart(page).accessibleDescription())
    qtbot.waitUntil(lambda: "forecast 8." in seen(page, "run-gpu-figures"))


def test_that_without_a_forecast_none_is_shown(open_run: Open) -> None:
    page = open_run(8.2, memory=None)
    assert "forecast" not in chart(page).accessibleDescription()
    assert "forecast" not in seen(page, "run-gpu-figures")
    assert not sight.sees(page, "run-memory-tips")


def test_that_room_leads_to_a_plan_with_a_larger_batch(open_run: Open, qtbot: QtBot) -> None:
    page = open_run(8.2)
    qtbot.waitUntil(lambda: "left over" in seen(page, "run-memory-tips-text"))
    assert "learning rate" in seen(page, "run-memory-tips-text")
    qtbot.waitUntil(lambda: sight.sees(page, "run-same-but-larger-batch"))
    button = sight.find(page, "run-same-but-larger-batch", QPushButton)
    assert button.accessibleName().startswith("Same, but batch_size")
    with qtbot.waitSignal(page.open_as_plan, timeout=2000) as told:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    run, changes = told.args
    assert run == page.run_folder
    assert changes["dataset.batch_size"] > 1


def test_that_a_full_gpu_leads_to_a_plan_that_needs_less(open_run: Open, qtbot: QtBot) -> None:
    page = open_run(9.95, 10.0)
    qtbot.waitUntil(lambda: "Next time" in seen(page, "run-memory-tips-text"))
    qtbot.waitUntil(lambda: sight.sees(page, "run-same-but-fit"))
    with qtbot.waitSignal(page.open_as_plan, timeout=2000) as told:
        sight.click(qtbot, page, "run-same-but-fit")
    assert told.args[1]


def test_that_another_run_begins_without_the_advice_of_the_last(
    open_run: Open, qtbot: QtBot, tmp_path
) -> None:
    page = open_run(8.2)
    qtbot.waitUntil(lambda: sight.sees(page, "run-memory-tips"))
    other = RunFolder(tmp_path / "home" / "runs" / "other")
    other.path.mkdir()
    RunStatus(name="other", state="ended").write(other.status)
    page.open(other)
    assert not sight.sees(page, "run-memory-tips")


def test_that_figures_of_torch_wait_for_the_card_and_find_their_own(theme, show, qtbot: QtBot) -> None:
    from gui.engine.runs.metrics import GpuRow
    from gui.window.pages.run.gpu_card import GpuCard

    card = show(GpuCard(theme), 700, 300)
    card.add_torch([torch(1.0, 3.0, "a"), torch(2.0, 5.0, "c"), torch(3.0, None, "a")])
    looks = [GpuRow(t=1.0, index=n, uuid=f"GPU-{name}", used_bytes=GIB) for n, name in enumerate("ab")]
    card.add_rows(looks)
    told = [each.accessibleDescription() for each in card.findChildren(MemoryChart)]
    assert sum("tensors 3.0 GiB" in each for each in told) == 1  # “c” is no card of this run
    assert sum("tensors" in each for each in told) == 1
    assert all(not each.grab().isNull() for each in card.findChildren(MemoryChart))


def torch(t: float, gib: float | None, uuid: str) -> MemoryRow:
    peak = int(gib * GIB) if gib is not None else None
    return MemoryRow(t=t, phase="training", event="grown", pid=5, device=0, uuid=uuid, allocated_peak=peak)
