"""The buckets of a dataset: each with its images, what would do better, and the trainer's own arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from data_panels import Panel, caption_dataset, dataset_spec, report_of, shown
from plan_window import OneTrainer, open_document
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QTableView
from pytestqt.qtbot import QtBot
from sight import rows_of

from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.window.bridges.checks import Checks
from gui.window.bridges.tasks import Tasks
from gui.window.models.plan_document import PlanDocument
from gui.window.pages.data.buckets_panel import BucketsPanel
from gui.window.pages.data.dataset_view import DatasetView
from gui.window.theme.icons import Icons


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "mira"
    caption_dataset(folder, ((96, 64), (64, 96), (64, 64), (20, 20)))
    return folder


@pytest.fixture
def document(home: Home, folder: Path) -> Iterator[PlanDocument]:
    subset = {"image_dir": str(folder), "num_repeats": 3, "caption_extension": ".txt"}
    dataset = {
        "resolution": 64,
        "batch_size": 4,
        "enable_bucket": True,
        "min_bucket_reso": 32,
        "bucket_reso_steps": 32,
        "subsets": [subset],
    }
    plan = TrainingPlan(name="x", family="sd15", arguments={"max_train_epochs": 2}, dataset=dataset)
    document = open_document(home, plan)
    yield document
    document.close()


@pytest.fixture
def panel(qtbot: QtBot, icons: Icons, home: Home, tasks: Tasks, document: PlanDocument) -> Iterator[Panel]:
    checks = Checks(document, OneTrainer(None), tasks, home)  # type: ignore[arg-type]
    with shown(qtbot, tasks, BucketsPanel(icons=icons, checks=checks), 640) as seen:
        yield seen
    checks.close()


def view_of(folder: Path, document: PlanDocument | None) -> DatasetView:
    spec = dataset_spec(folder, batch_size=4)
    return DatasetView(spec, report_of(spec), folder.parent / "memory", document, "sd15")


def test_that_each_bucket_is_told_and_marked_in_the_histogram(
    panel: Panel, folder: Path, document: PlanDocument
) -> None:
    panel.widget.show_view(view_of(folder, document))
    panel.reads_until("batches an epoch")
    table = panel.find("buckets-table")
    assert isinstance(table, QTableView)
    # Eight images, three times each, in batches of four.
    assert rows_of(table.model()) == ["32 × 96 | 6 | 2 | 2 of 4", "64 × 64 | 18 | 5 | 2 of 4 | 2"]
    chart = panel.find("buckets-chart")
    assert "64 × 64: 18 images in 5 batches, the last of 2" in chart.accessibleDescription()
    panel.qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=QPoint(chart.height(), chart.height() // 2))
    panel.until(lambda: len(table.selectionModel().selectedRows()) == 1)
    panel.reads_until("7 batches an epoch")
    panel.reads_until("2 not full · 14% of the places empty")


def test_that_steps_are_those_of_the_trainers_header(
    panel: Panel, folder: Path, document: PlanDocument
) -> None:
    panel.widget.show_view(view_of(folder, document))
    panel.reads_until("num train images * repeats: 24")
    panel.reads_until("num batches per epoch: 7")
    panel.reads_until("total optimization steps: 14")
    document.change({"max_train_epochs": 5}, "longer")
    panel.reads_until("total optimization steps: 35")
    panel.widget.show_view(view_of(folder, None))
    panel.until(lambda: "total optimization steps" not in panel.reads())


def test_that_a_suggestion_is_told_with_its_effect_and_wished_for_the_plan(
    panel: Panel, folder: Path, document: PlanDocument
) -> None:
    asked: list[tuple[dict[str, object], str]] = []
    panel.widget.plan_wished.connect(lambda changes, text: asked.append((changes, text)))
    panel.widget.show_view(view_of(folder, document))
    panel.reads_until("Set batch_size to 3: ")
    panel.click("buckets-apply-batch-size")
    panel.until(lambda: asked and asked[0][0] == {"dataset.batch_size": 3})
    view = view_of(folder, None)
    panel.widget.show_view(view)
    panel.until(lambda: not panel.find("buckets-apply-batch-size").isEnabled())
    panel.widget.show_view(replace(view, report=None))
    panel.reads_until("The training size is not known")
