"""A Data page before somebody: a plan, a small dataset with faults, and what is visible of it."""

from __future__ import annotations

from pathlib import Path

import sight
from dataset_maker import picture, saved
from plan_window import OneTrainer, open_document
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.window.bridges.checks import Checks
from gui.window.bridges.tasks import Tasks
from gui.window.pages.data.data_page import DataPage
from gui.window.pages.data.making import make_data_page
from gui.window.theme.icons import Icons


def small_dataset(folder: Path) -> Path:
    """Write images of 96 px, all different: one cut off, one that is none, twins, one without caption."""
    folder.mkdir(parents=True)
    for number in range(8):
        data = saved(picture(300 + number, (96, 96)))
        if number == 1:
            data = data[: len(data) // 2]
        if number == 4:
            data = b"<!DOCTYPE html>"
        if number == 7:
            data = (folder / "06.png").read_bytes()
        (folder / f"{number:02}.png").write_bytes(data)
        if number != 3:
            (folder / f"{number:02}.txt").write_text(f"mira_x, thing {number}, on a roof", "utf-8")
    return folder


def plan_of(*folders: Path, **dataset: object) -> TrainingPlan:
    """Return a plan that trains on folders."""
    subsets = [{"image_dir": str(folder), "num_repeats": 2} for folder in folders]
    options = {
        "resolution": [64, 64],
        "min_bucket_reso": 64,
        "enable_bucket": True,
        "caption_extension": ".txt",
    }
    options |= dataset
    return TrainingPlan.model_validate(
        {
            "name": "mira",
            "family": "sd15",
            "arguments": {"pretrained_model_name_or_path": "base.safetensors"},
            "dataset": {**options, **({"subsets": subsets} if subsets else {})},
        }
    )


class DataWindow:
    """A Data page, shown on its own.

    Args:
        qtbot: Clicks and types.
        home: Where what is found is remembered.
        tasks: Ends with the test.
        icons: With the theme.
        plan: That is open.
    """

    def __init__(self, qtbot: QtBot, home: Home, tasks: Tasks, icons: Icons, plan: TrainingPlan) -> None:
        self.qtbot = qtbot
        self.document = open_document(home, plan)
        self.trainers = OneTrainer(None)
        self.checks = Checks(self.document, self.trainers, tasks, home)  # type: ignore[arg-type]
        self.page: DataPage = make_data_page(
            document=self.document,
            checks=self.checks,
            trainers=self.trainers,  # type: ignore[arg-type]
            tasks=tasks,
            icons=icons,
            home=home,
            processes=1,
        )

    def close(self) -> None:
        """Let go of everything."""
        self.page.close_page()
        self.checks.close()
        self.document.close()

    def until(self, true: object, what: str = "it") -> None:
        """Wait until something is true; fail with what can be read instead."""
        try:
            self.qtbot.waitUntil(lambda: bool(true()))  # type: ignore[operator]
        except self.qtbot.TimeoutError:
            raise AssertionError(f"waited for {what}; seen is:\n{self.reads()}") from None

    def reads(self, name: str = "") -> str:
        """Return everything that can be read, or the words of one part."""
        return sight.says(self.page, name)

    def reads_until(self, text: str, name: str = "") -> None:
        """Wait until a part says something."""
        self.until(lambda: text in self.reads(name), f"{text!r} in {name or 'the page'}")

    def is_seen(self, name: str) -> bool:
        """Whether something of a name is visible."""
        return sight.sees(self.page, name)

    def find(self, name: str) -> QWidget:
        """Return the visible thing of a name, as soon as it is there."""
        self.until(lambda: self.is_seen(name), name)
        return sight.visible(self.page, name)[0]

    def click(self, name: str) -> None:
        """Click on something as soon as it can be hit."""
        sight.click(self.qtbot, self.page, name)

    def key(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key where the keyboard is."""
        self.qtbot.keyClick(QApplication.focusWidget() or self.page, key, modifier)

    def tiles(self) -> list[str]:
        """Return the words of all tiles, the first line of each."""
        return [row.split("\n", 1)[0] for row in sight.rows_of(self.page.images.grid.model())]

    def tile(self, name: str) -> str:
        """Return all words of one tile."""
        rows = sight.rows_of(self.page.images.grid.model())
        return next((row for row in rows if row.split("\n", 1)[0] == name), "")

    def click_tile(self, name: str) -> None:
        """Click on the tile of an image."""
        grid = self.page.images.grid
        sight.click_item(self.qtbot, grid, grid.model().index(self.tiles().index(name), 0))

    def looked(self) -> None:
        """Wait until all images were looked at."""
        self.reads_until("looked at all in")
