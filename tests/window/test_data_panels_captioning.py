"""Captioners in the window: asked, told, followed, and nothing written before it was seen.

The captioner is a stub without weights (``stub_captioner``), run by a real process of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from data_panels import Panel, dataset_spec, hashes
from dataset_maker import clean_dataset, picture, saved
from plan_window import OneTrainer
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListView, QWidget
from pytestqt.qtbot import QtBot
from stub_captioner import captioning_checkout

from gui.engine.paths import Home
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.choosing import Trainer
from gui.engine.trainer.facts import TrainerFacts
from gui.engine.trainer.installs import install_at
from gui.window.bridges.caption_work import CaptionWork
from gui.window.bridges.captioning_work import CaptioningWork
from gui.window.bridges.tasks import Tasks
from gui.window.pages.data.captioning_panel import CaptioningPanel
from gui.window.pages.data.dataset_view import DatasetView
from gui.window.theme.icons import Icons

pytestmark = pytest.mark.usefixtures("no_leftovers")


def trainer_in(root: Path, *, packages: bool = True) -> Trainer:
    install = install_at(captioning_checkout(root, packages=packages), Path(sys.executable))
    facts = TrainerFacts.model_construct(root=str(root), python=sys.executable, scripts={})
    return Trainer(install, facts, Catalogue.bundled())


@pytest.fixture(scope="module")
def trainer(tmp_path_factory: pytest.TempPathFactory) -> Trainer:
    return trainer_in(tmp_path_factory.mktemp("stub") / "sd-scripts")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = clean_dataset(tmp_path / "10_mira", 3)
    for file in files[1:]:
        file.with_suffix(".txt").unlink()
    (files[0].parent / "cut.png").write_bytes(saved(picture(9, (64, 64)))[:900])
    return files[0].parent


Open = Callable[..., Panel]


@pytest.fixture
def open_panel(
    qtbot: QtBot, show: Callable[..., QWidget], icons: Icons, tasks: Tasks, home: Home, folder: Path
) -> Open:
    def opened(trainer: Trainer | None) -> Panel:
        panel = CaptioningPanel(
            trainers=OneTrainer(trainer),  # type: ignore[arg-type]
            captioning=CaptioningWork(home, tasks),
            work=CaptionWork(tasks),
            icons=icons,
        )
        show(panel, 1000, 1300)
        panel.show_view(DatasetView(dataset_spec(folder), None, home.cache, trigger="mira_x"))
        return Panel(qtbot, panel)

    return opened


def rows_in(panel: Panel) -> list[str]:
    """Return every caption of the preview, as a screen reader reads it."""
    view = panel.find("captioning-list")
    assert isinstance(view, QListView)
    model = view.model()
    return [model.index(row, 0).data(3) for row in range(model.rowCount())]


def test_that_captions_are_seen_first_written_and_taken_up_again(
    open_panel: Open, trainer: Trainer, folder: Path, home: Home
) -> None:
    before = hashes(folder)
    panel = open_panel(trainer)
    told: list[bool] = []
    panel.widget.files_changed.connect(lambda: told.append(True))
    panel.reads_until("Make 3 captions")
    panel.type_into("captioner-thresh", "0.5")
    panel.click("captioning-start")
    panel.reads_until("Write 2 captions")
    panel.reads_until("Left out, they cannot be decoded: cut.png")
    shown = rows_in(panel)
    assert len(shown) == 2
    assert all("before: (none)" in row and "after: mira_x, 640x640, " in row for row in shown)
    assert hashes(folder) == before, "nothing is written beside the images before it was seen"

    again = open_panel(trainer)
    again.reads_until("Write 2 captions")

    panel.click("captioning-write")
    panel.until(lambda: told and not panel.is_seen("captioning-found"), "all to be written")
    assert (folder / "clean_001.txt").read_text("utf-8").startswith("mira_x, 640x640")
    panel.reads_until("Make 1 caption")
    panel.until(lambda: not list(home.captioning.iterdir()), "the scratch folder to go")
    again.click("captioning-throw")  # what another window has written and removed meanwhile
    again.until(lambda: not again.is_seen("captioning-found"), "the other window to let go of them")


def test_that_captions_that_say_something_are_left_unless_it_is_chosen(
    open_panel: Open, trainer: Trainer, folder: Path, home: Home
) -> None:
    panel = open_panel(trainer)
    panel.reads_until("Make 3 captions")
    panel.click("captioning-everything")
    panel.reads_until("Make 4 captions")
    panel.click("captioning-start")
    panel.reads_until("Write 2 captions")
    panel.click("captioning-over")
    panel.reads_until("Write 3 captions")
    panel.click("captioning-throw")
    panel.until(lambda: not panel.is_seen("captioning-found"))
    panel.until(lambda: not list(home.captioning.iterdir()), "the scratch folder to go")
    assert not (folder / "clean_001.txt").exists()


def test_that_a_captioner_that_fails_says_why_and_one_that_hangs_is_stopped(
    open_panel: Open, trainer: Trainer
) -> None:
    panel = open_panel(trainer)
    panel.reads_until("Make 3 captions")
    panel.type_into("captioner-undesired_tags", "fail now")
    panel.click("captioning-start")
    panel.reads_until("OSError: We could not connect to the hub")
    panel.type_into("captioner-undesired_tags", "hang now")
    panel.click("captioning-start")
    panel.reads_until("1 of 2")
    panel.qtbot.mouseClick(panel.widget.busy.cancel, Qt.MouseButton.LeftButton)
    panel.reads_until("Write 1 caption")
    panel.reads_until("1 image got no caption.")


def test_that_missing_packages_and_trainers_are_named_before_the_start(
    open_panel: Open, tmp_path: Path
) -> None:
    bare = trainer_in(tmp_path / "sd-scripts", packages=False)
    panel = open_panel(bare)
    panel.reads_until("-m pip install onnx onnxruntime")
    assert not panel.find("captioning-start").isEnabled()
    for name in ("onnx", "onnxruntime"):
        (bare.install.root / f"{name}.py").touch()
    panel.click("captioning-again")
    panel.until(lambda: panel.find("captioning-start").isEnabled(), "the packages to be seen")
    panel.choose("captioning-tagger", "Sentences (BLIP)")
    panel.reads_until("has no finetune/make_captions.py")
    none = open_panel(None)
    none.reads_until("No trainer is in use")
