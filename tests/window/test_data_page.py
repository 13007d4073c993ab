"""The Data page by mouse and keyboard: a look, filters, one image in full, setting aside and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from data_window import DataWindow, plan_of, small_dataset
from dataset_maker import picture, saved
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from gui.engine.dataset.quarantine import QUARANTINE


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return small_dataset(tmp_path / "mira")


@pytest.fixture
def opened(qtbot, home, tasks, icons, show) -> Iterator[Callable[..., DataWindow]]:
    """Return a function that opens a Data page on a plan."""
    made: list[DataWindow] = []

    def open_page(*folders: Path, **dataset: object) -> DataWindow:
        window = DataWindow(qtbot, home, tasks, icons, plan_of(*folders, **dataset))
        made.append(window)
        show(window.page, 1160, 740)
        return window

    yield open_page
    for window in made:
        window.close()


@pytest.fixture
def window(opened, folder) -> DataWindow:
    """Return a page on which the plan's images were looked at."""
    window = opened(folder)
    window.looked()
    return window


def test_that_the_plans_images_are_looked_at_by_themselves(window):
    assert not window.find("data-use-in-plan").isEnabled(), "they are the plan's already"
    window.reads_until("8 images · 7 captions · 2 repeats · looked at all in")
    assert window.tiles() == [f"{number:02}.png" for number in range(8)]
    window.reads_until("2 stop the run")
    window.until(lambda: "is cut off" in window.tile("01.png"))
    assert "not the image that its name says" in window.tile("04.png")
    assert "has no caption" in window.tile("03.png")
    assert "is there more than once" in window.tile("07.png")


def test_that_chips_show_only_what_they_count_and_all_of_it_again(window):
    window.click("data-filter-stop")
    window.until(lambda: window.tiles() == ["01.png", "04.png"])
    window.click("data-filter-stop")
    window.until(lambda: len(window.tiles()) == 8)
    window.click("data-filter-kinds")
    menu = window.page.filters._menu
    window.until(menu.isVisible)
    action = next(each for each in menu.actions() if each.objectName() == "data-kind-img-dup")
    window.qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())
    window.until(lambda: window.tiles() == ["06.png", "07.png"])
    window.reads_until("twin", "data-filter-kinds")


def test_that_a_name_is_found_by_slash_and_typing(window):
    window.click_tile("00.png")
    window.key(Qt.Key.Key_Slash)
    window.until(lambda: window.find("data-search").hasFocus())
    window.qtbot.keyClicks(window.find("data-search"), "05")
    window.until(lambda: window.tiles() == ["05.png"])
    window.qtbot.keyClicks(window.find("data-search"), "nothing")
    window.reads_until("No image is like that")


def test_that_an_image_is_shown_in_full(window):
    window.click_tile("05.png")
    window.reads_until("96 × 96 → 64 × 64", "data-size")
    window.reads_until("Shrunk to 67 % of its size", "data-scale")
    window.reads_until("of 75 tokens", "data-caption-line")
    window.reads_until("mira_x, thing 5, on a roof", "data-caption")
    window.until(lambda: window.page.images.panel.picture._image is not None, "the picture")
    window.click_tile("03.png")
    window.reads_until("There is no caption", "data-caption-line")
    window.until(lambda: not window.is_seen("data-caption"))
    window.reads_until("no caption", "data-findings")
    window.click_tile("04.png")
    window.reads_until("not an image", "data-findings")
    window.until(lambda: window.reads("data-size") == "")


def test_that_keys_lead_through_the_images(window):
    window.click_tile("00.png")
    for key, name in (
        (Qt.Key.Key_Right, "01.png"),
        (Qt.Key.Key_End, "07.png"),
        (Qt.Key.Key_Left, "06.png"),
        (Qt.Key.Key_Up, "01.png"),
        (Qt.Key.Key_Down, "06.png"),
        (Qt.Key.Key_PageUp, "01.png"),
        (Qt.Key.Key_Home, "00.png"),
    ):
        window.key(key)
        window.until(lambda name=name: window.reads("data-name") == name, name)
    window.key(Qt.Key.Key_Return)
    window.reads_until("00.png", "caption-panel")
    window.click("data-view-images")
    window.until(lambda: window.is_seen("data-grid"))


def test_that_an_image_is_set_aside_after_a_yes_and_comes_back(window, folder):
    window.click_tile("01.png")
    window.key(Qt.Key.Key_Delete)
    window.reads_until("Set “01.png” aside?")
    window.key(Qt.Key.Key_Escape)
    window.until(lambda: not window.is_seen("data-aside-ask"))
    assert (folder / "01.png").exists()
    window.click("data-set-aside")
    window.click("data-aside-ask-yes")
    window.until(lambda: "01.png" not in window.tiles() and window.tiles(), "the tile to go")
    window.reads_until("2 files are set aside.")
    assert sorted(path.name for path in (folder / QUARANTINE).iterdir() if path.stem == "01") == [
        "01.png",
        "01.txt",
    ]
    window.click("data-aside-back")
    window.until(lambda: "01.png" in window.tiles(), "the tile to be back")
    assert not (folder / QUARANTINE).exists()


def test_that_several_are_set_aside_at_once(window, folder):
    window.click_tile("06.png")
    window.key(Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    window.reads_until("Set 2 images aside", "data-set-aside")
    window.key(Qt.Key.Key_Delete)
    window.reads_until("Set 2 images aside?", "data-aside-ask")
    window.click("data-aside-ask-yes")
    window.until(lambda: len(window.tiles()) == 6)
    assert not (folder / "06.png").exists() and not (folder / "07.txt").exists()


def test_that_changed_files_are_noticed_and_looked_at_again(window, folder):
    window.until(lambda: window.page._watch._seen is not None, "a first look at the folder")
    (folder / "08.png").write_bytes((folder / "00.png").read_bytes())
    window.page._watch.look()
    window.reads_until("The files have changed since they were looked at.")
    window.click("data-note-again")
    window.until(lambda: "08.png" in window.tiles())
    window.until(lambda: not window.is_seen("data-note"))
    window.reads_until("9 images")


def test_that_a_dropped_folder_is_looked_at_and_becomes_the_plans_data_in_one_step(
    opened, folder, drop, qtbot
):
    window = opened()
    window.reads_until("Drop a folder of images here")
    assert not window.is_seen("data-use-plan-folders")
    drop(window.page, [folder])
    window.looked()
    window.reads_until("mira · 8 images", "data-sentence")
    with qtbot.waitSignal(window.page.plan_wanted, timeout=30_000):
        window.click("data-use-in-plan")
    assert window.document.plan.dataset["subsets"] == [{"image_dir": str(folder), "num_repeats": 1}]
    assert window.document.plan.dataset["resolution"] == [64, 64]
    window.until(lambda: window.reads("data-sentence").startswith("8 images"))
    window.document.undo_stack.undo()
    assert "subsets" not in window.document.plan.dataset


def test_that_a_folder_can_be_chosen_and_one_without_images_is_named(opened, tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_args: str(tmp_path / "empty"))
    window = opened()
    window.click("data-choose-folder")
    window.reads_until("The images cannot be looked at.")
    window.reads_until("it holds no images that the trainer reads")


def test_that_folders_are_shown_one_by_one(opened, folder, tmp_path):
    other = small_dataset(tmp_path / "other")
    window = opened(folder, other)
    window.looked()
    assert len(window.tiles()) == 16
    choice = window.find("data-folder")
    choice.setFocus()
    window.qtbot.keyClick(choice, Qt.Key.Key_End)
    window.until(lambda: len(window.tiles()) == 8)
    window.click_tile("05.png")
    window.until(lambda: window.page.images.rows.path(window.page.images.grid.current_row).parent == other)


def test_that_what_is_cut_off_is_drawn_and_a_way_out_changes_the_plan(opened, tmp_path):
    folder = tmp_path / "wide"
    folder.mkdir()
    (folder / "wide.png").write_bytes(saved(picture(1, (180, 100))))
    (folder / "wide.txt").write_text("mira_x, wide", "utf-8")
    window = opened(folder, resolution=[256, 256], min_bucket_reso=256, max_bucket_reso=256)
    window.looked()
    window.click_tile("wide.png")
    window.reads_until("180 × 100 → 256 × 256, 44.5 % cut", "data-size")
    window.reads_until("Enlarged to 256 % of its size", "data-scale")
    shown = window.page.images.panel.picture
    window.until(lambda: shown._image is not None, "the picture")
    place = shown._place().toRect()
    seen = shown.grab().toImage()
    middle = place.center()
    assert _light(seen, middle.x(), middle.y()) > _light(seen, place.left() + 8, middle.y())
    window.click("data-fix-img-enlarged-no-upscale")
    window.until(lambda: window.document.plan.dataset.get("bucket_no_upscale") is True)
    window.reads_until("180 × 100 → 128 × 64", "data-size")


def _light(image, x, y):
    """Return how light a picture is around a place."""
    colours = [
        image.pixelColor(x + across, y + down) for across in range(-6, 7) for down in range(-60, 61, 5)
    ]
    return sum(colour.lightness() for colour in colours) / len(colours)


def test_that_words_lead_to_their_images_and_a_chip_back_to_all(window, folder):
    window.page.show_images(folder, ["02.png", "05.png"])
    window.until(lambda: window.tiles() == ["02.png", "05.png"])
    window.reads_until("only 2 images", "data-filter-named")
    window.click("data-filter-named")
    window.until(lambda: len(window.tiles()) == 8)


def test_that_another_plan_brings_other_images(window, tmp_path):
    other = small_dataset(tmp_path / "other")
    (other / "00.png").unlink()
    window.document.new(plan_of(other))
    window.until(lambda: window.tiles() and "00.png" not in window.tiles())
    window.looked()
    window.reads_until("7 images")
