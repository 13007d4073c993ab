"""Repairs: none in place, each told before it is done, and what was set aside comes back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from data_panels import CAPTIONS, Panel, caption_dataset, dataset_spec, hashes, report_of, shown
from dataset_maker import picture, saved
from plan_window import open_document
from pytestqt.qtbot import QtBot
from sight import rows_of

from gui.engine.dataset.quarantine import JOURNAL, QUARANTINE, SetAside
from gui.engine.dataset.quarantine import QuarantineJournal as Journal
from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.window.bridges.caption_work import CaptionWork
from gui.window.bridges.tasks import Tasks
from gui.window.models.plan_document import PlanDocument
from gui.window.pages.data.dataset_view import DatasetView
from gui.window.pages.data.repairs_panel import RepairsPanel
from gui.window.theme.icons import Icons


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "10_mira"
    caption_dataset(folder)
    (folder / "cut.png").write_bytes(saved(picture(9, (64, 64)))[:900])
    (folder / "cut.txt").write_text("mira_x, cut", "utf-8")
    (folder / "gone_0064x0064_sd.npz").write_bytes(b"x" * 1_500_000)
    (folder / "01_0096x0064_sdxl.npz").write_bytes(b"x" * 1_500_000)
    (folder / "mine.npz").write_bytes(b"mine")
    return folder


@pytest.fixture
def document(home: Home) -> Iterator[PlanDocument]:
    document = open_document(home, TrainingPlan(name="x", family="sd15"))
    yield document
    document.close()


@pytest.fixture
def panel(qtbot: QtBot, icons: Icons, tasks: Tasks, folder: Path, document: PlanDocument) -> Iterator[Panel]:
    panel = RepairsPanel(tasks=tasks, icons=icons, work=CaptionWork(tasks))
    with shown(qtbot, tasks, panel, 1400) as seen:
        look(seen, folder, document)
        panel.files_changed.connect(lambda: look(seen, folder, document))
        seen.reads_until("1 image stops the trainer.")
        seen.reads_until("1 caption is in another encoding")
        seen.reads_until("2 cache files beside the images")
        yield seen


def look(panel: Panel, folder: Path, document: PlanDocument) -> None:
    """Look at the images again, as the page does when files changed."""
    spec = dataset_spec(folder)
    panel.widget.show_view(DatasetView(spec, report_of(spec), folder.parent / "memory", document, "sd15"))


def test_that_a_clean_copy_is_made_and_the_plan_pointed_at_it(panel: Panel, folder: Path) -> None:
    before = hashes(folder)
    asked: list[tuple[dict[str, str], str]] = []
    panel.widget.plan_wished.connect(lambda changes, text: asked.append((changes, text)))
    target = folder.parent / "clean one"
    panel.type_into("copy-folder", str(target))
    panel.click("copy-start")
    panel.reads_until(f"8 images are in {target}, ")
    panel.reads_until("Left out: cut.png")
    assert (target / "10_mira" / "04.txt").read_text("utf-8") == "mira_x, \ube44, \uc6b0\uc0b0"
    assert (target / "10_mira" / "_preflight_copy.jsonl").exists()
    panel.click("copy-use")
    panel.until(lambda: asked and asked[0][0] == {"dataset.subsets.0.image_dir": str(target / "10_mira")})
    assert hashes(folder) == before
    panel.type_into("copy-folder", str(folder / "inside"))
    panel.click("copy-start")
    panel.reads_until("a copy must lie apart from its originals")


def test_that_bad_images_go_aside_with_their_captions_and_come_back(panel: Panel, folder: Path) -> None:
    before = hashes(folder)
    assert rows_of(panel.find("aside-bad-list").model())[0].startswith("cut.png: ")
    panel.click("aside-move")
    panel.reads_until("2 files were set aside.")
    assert set(before) - set(hashes(folder)) == {"cut.png", "cut.txt"}
    panel.reads_until("No image stops the trainer")
    panel.click("aside-back")
    panel.reads_until("2 files are back.")
    panel.until(lambda: hashes(folder) == before)


def test_that_what_a_crash_left_set_aside_is_listed_and_comes_back(
    panel: Panel, folder: Path, document: PlanDocument
) -> None:
    before = hashes(folder)
    place = folder / QUARANTINE
    place.mkdir()
    journal = Journal(
        files=(SetAside(name="01.png", stored="01.png"), SetAside(name="02.png", stored="02.png"))
    )
    (place / JOURNAL).write_text(journal.model_dump_json(by_alias=True), "utf-8")
    (folder / "01.png").rename(place / "01.png")  # and then the power went: 02.png is still in its place
    look(panel, folder, document)
    panel.reads_until("1 file is set aside.")
    assert rows_of(panel.find("aside-there-list").model()) == ["01.png: 10_mira"]
    panel.click("aside-back")
    panel.until(lambda: hashes(folder) == before and not place.exists())
    (folder / QUARANTINE).mkdir()
    (folder / QUARANTINE / JOURNAL).write_text("{")
    look(panel, folder, document)
    panel.reads_until("It cannot be told what is set aside.")


def test_that_captions_are_converted_and_all_originals_come_back(panel: Panel, folder: Path) -> None:
    before = hashes(folder)
    panel.click("captions-convert")
    panel.reads_until("1 caption was written.")
    assert (folder / "04.txt").read_text("utf-8") == "mira_x, \ube44, \uc6b0\uc0b0"
    panel.reads_until("The original of 1 changed caption is kept")
    panel.click("captions-restore")
    panel.click("ask-captions-restore-no")
    assert (folder / "04.txt").read_bytes() != CAPTIONS["04"]
    panel.click("captions-restore")
    panel.click("ask-captions-restore-yes")
    panel.reads_until("1 original is back.")
    assert hashes(folder) == before


def test_that_caches_are_removed_after_a_yes_and_nothing_else_is(panel: Panel, folder: Path) -> None:
    before = hashes(folder)
    assert rows_of(panel.find("caches-list").model()) == [
        "01_0096x0064_sdxl.npz: of another model family · 1.4 MiB",
        "gone_0064x0064_sd.npz: without an image · 1.4 MiB",
    ]
    panel.click("caches-remove")
    panel.reads_until("Remove 2 cache files, 2.9 MiB?")
    panel.click("ask-caches-no")
    assert hashes(folder) == before
    panel.click("caches-remove")
    (folder / "gone_0064x0064_sd.npz").write_bytes(b"written anew")
    panel.click("ask-caches-yes")
    panel.reads_until("1 cache file is removed, 1.4 MiB.")
    panel.reads_until("Left alone, changed meanwhile")
    assert set(before) - set(hashes(folder)) == {"01_0096x0064_sdxl.npz"}
    assert (folder / "mine.npz").read_bytes() == b"mine"


def test_that_only_those_caches_go_that_were_asked_about(
    panel: Panel, folder: Path, document: PlanDocument
) -> None:
    panel.click("caches-remove")
    panel.reads_until("Remove 2 cache files, 2.9 MiB?")
    (folder / "02_0064x0096_sdxl.npz").write_bytes(b"x" * 1000)
    look(panel, folder, document)
    panel.reads_until("3 cache files beside the images")
    panel.click("ask-caches-yes")
    panel.reads_until("2 cache files are removed")
    assert (folder / "02_0064x0096_sdxl.npz").exists()


def test_that_a_copy_is_offered_to_no_other_dataset(
    panel: Panel, folder: Path, document: PlanDocument
) -> None:
    panel.type_into("copy-folder", str(folder.parent / "clean"))
    panel.click("copy-start")
    panel.until(lambda: panel.is_seen("copy-use"))
    look(panel, folder, document)
    assert panel.is_seen("copy-use"), "it is the same dataset, looked at again"
    other = folder.parent / "5_other"
    caption_dataset(other)
    look(panel, other, document)
    panel.until(lambda: not panel.is_seen("copy-result"))
    assert not panel.is_seen("copy-use")
