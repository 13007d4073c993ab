"""A look at images from the page: paused, ended, closed in the middle; what the review hears of it."""

from __future__ import annotations

import io
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from data_window import DataWindow, plan_of, small_dataset
from PIL import Image
from PySide6.QtCore import Qt

from gui.engine.dataset.small_picture import PictureWish
from gui.window.bridges import dataset_pictures
from gui.window.bridges.dataset_pictures import DatasetPictures, RoundWish
from gui.window.bridges.dataset_watch import DatasetWatch
from gui.window.pages.data import data_page

MANY = 240


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Return a folder of so many small images that a look at them can be caught in the middle."""
    folder = tmp_path / "many"
    folder.mkdir()
    draw = random.Random(1)
    for number in range(MANY):
        data = io.BytesIO()
        Image.frombytes("RGB", (40, 40), draw.randbytes(4800)).save(data, "PNG", compress_level=0)
        (folder / f"{number:03}.png").write_bytes(data.getvalue())
    return folder


@pytest.fixture
def opened(qtbot, home, tasks, icons, show, no_leftovers) -> Iterator[Callable[..., DataWindow]]:
    """Return a function that opens a Data page on a plan; nothing may be left alive of it."""
    made: list[DataWindow] = []

    def open_page(*folders: Path) -> DataWindow:
        window = DataWindow(qtbot, home, tasks, icons, plan_of(*folders))
        made.append(window)
        show(window.page, 1160, 740)
        return window

    yield open_page
    for window in made:
        window.close()


def test_that_a_look_is_paused_and_gone_on_with(opened, many):
    window = opened(many)
    window.click("data-scan-pause")
    window.reads_until("Go on", "data-scan-pause")
    window.reads_until("paused", "data-scan")
    window.click("data-scan-pause")
    window.looked()
    window.reads_until(f"{MANY} worth a look")


def test_that_a_look_is_ended_and_what_was_found_is_remembered(opened, many):
    window = opened(many)
    window.click("data-scan-pause")
    window.reads_until("Go on", "data-scan-pause")
    window.click("data-scan-cancel")
    window.reads_until(f"of {MANY} images.", "data-note")
    window.until(lambda: not window.is_seen("data-scan"))
    assert len(window.tiles()) == MANY
    window.click("data-note-again")
    window.looked()


def test_that_what_comes_in_the_middle_of_a_look_moves_nothing(opened, many, qtbot):
    window = opened(many)
    window.click("data-scan-pause")
    window.reads_until("paused", "data-scan")
    grid = window.page.images.grid
    window.click_tile("003.png")
    for _press in range(2):
        window.key(Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    bar = grid.verticalScrollBar()
    bar.setValue(bar.maximum())
    window.click("data-scan-pause")
    window.looked()
    assert bar.value() == bar.maximum() > 0
    window.reads_until("Set 3 images aside", "data-set-aside")
    window.click("data-filter-look")
    window.until(lambda: bar.value() < bar.maximum(), "the current image in sight")


def test_that_in_the_middle_of_a_look_all_else_can_be_seen_and_changes_are_told_at_its_end(
    opened, many, tmp_path, monkeypatch
):
    monkeypatch.setattr(data_page, "DatasetWatch", lambda: DatasetWatch(50))
    other = small_dataset(tmp_path / "other")
    window = opened(other)
    window.looked()
    window.click("data-view-captions")
    window.reads_until("1 of 8", "caption-number")
    window.page.take([str(many)])
    window.click("data-scan-pause")
    window.reads_until("paused", "data-scan")
    window.click("data-view-captions")
    window.reads_until(f"1 of {MANY}", "caption-number")
    (many / "new.png").write_bytes((other / "00.png").read_bytes())
    window.until(lambda: window.page._changed_meanwhile, "the change to be noticed")
    assert not window.is_seen("data-note")
    window.click("data-scan-pause")
    window.reads_until("The files have changed", "data-note")


def test_that_a_folder_that_went_away_is_told_where_its_images_were(opened, tmp_path):
    folder = small_dataset(tmp_path / "mira")
    window = opened(folder)
    window.looked()
    shutil.rmtree(folder)
    window.click("data-look-again")
    window.reads_until("There are no images", "data-nothing")
    window.reads_until("mira", "data-nothing")


def test_that_closing_in_the_middle_of_a_look_leaves_no_process(opened, many, no_leftovers):
    window = opened(many)

    def looks():
        return any("look-at-images" in each for each in no_leftovers())

    window.until(looks, "a process that looks")
    window.close()
    window.until(lambda: not looks(), "the end of the processes that look")


def test_that_the_review_hears_what_a_look_has_found(opened, tmp_path, qtbot):
    folder = small_dataset(tmp_path / "mira")
    window = opened()
    window.document.change({"dataset.subsets": [{"image_dir": str(folder)}]}, "a folder")
    window.until(lambda: window.checks.report is not None and not window.checks.busy, "a check")

    def found() -> set[str]:
        return {finding.id for finding in window.checks.report.findings}

    window.looked()
    window.until(lambda: not window.checks.busy and "img-dup" in found(), "the review to know of twins")


@pytest.fixture
def pictures(qtbot, no_leftovers) -> Iterator[DatasetPictures]:
    made = DatasetPictures(processes=1)
    yield made
    made.close()


def _wishes(folder: Path, *names: str) -> list[RoundWish]:
    return [RoundWish(PictureWish(folder / name, (48, 44)), 4.0) for name in names]


def test_that_few_pictures_are_remembered_and_broken_files_have_none(pictures, many, qtbot, monkeypatch):
    monkeypatch.setattr(dataset_pictures, "MOST_BYTES", 5 * 48 * 44 * 4)
    (many / "broken.png").write_bytes(b"no image")
    names = [f"{number:03}.png" for number in range(12)]
    pictures.want(_wishes(many, *names))
    qtbot.waitUntil(lambda: all(pictures.find(many / name) for name in names), timeout=30_000)
    pictures.want(_wishes(many, "011.png", "broken.png"))
    qtbot.waitUntil(lambda: pictures.knows(many / "broken.png"), timeout=30_000)
    assert pictures.find(many / "broken.png") is None
    assert pictures.bytes <= 5 * 48 * 44 * 4
    newest = pictures.find(many / "011.png")
    assert newest is not None and pictures.find(many / "000.png") is None
    assert newest.size().toTuple() == (48, 44)
    assert newest.pixelColor(0, 0).alpha() == 0 and newest.pixelColor(24, 22).alpha() == 255


def test_that_another_file_of_the_same_name_gets_another_picture(pictures, tmp_path, qtbot):
    path = tmp_path / "a.png"
    Image.new("RGB", (60, 60), "red").save(path)
    pictures.want(_wishes(tmp_path, "a.png"))
    qtbot.waitUntil(lambda: pictures.find(path) is not None, timeout=30_000)
    Image.new("RGB", (60, 60), "blue").save(path)
    pictures.look_again()
    assert pictures.find(path).pixelColor(24, 22).name() == "#ff0000"
    pictures.want(_wishes(tmp_path, "a.png"))
    qtbot.waitUntil(lambda: pictures.find(path).pixelColor(24, 22).name() == "#0000ff", timeout=30_000)
