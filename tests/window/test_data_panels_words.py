"""The table of words: all are counted, their images found, and each can be changed everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sight
from data_panels import CAPTIONS, Panel, caption_dataset, dataset_spec, hashes, report_of, shown
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QTableView
from pytestqt.qtbot import QtBot
from sight import rows_of

from gui.window.bridges.caption_work import CaptionWork
from gui.window.bridges.tasks import Tasks
from gui.window.pages.data.dataset_view import DatasetView
from gui.window.pages.data.words_panel import WordsPanel
from gui.window.theme.icons import Icons


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "10_mira"
    caption_dataset(folder)
    return folder


@pytest.fixture
def panel(qtbot: QtBot, icons: Icons, tasks: Tasks, folder: Path, tmp_path: Path) -> Iterator[Panel]:
    panel = WordsPanel(tasks=tasks, icons=icons, work=CaptionWork(tasks))
    spec = dataset_spec(folder)
    with shown(qtbot, tasks, panel) as seen:
        panel.show_view(DatasetView(spec, report_of(spec), tmp_path / "memory", None, "sd15", "mira_x"))
        seen.reads_until("words or tags")
        yield seen


def table_of(panel: Panel) -> QTableView:
    table = panel.find("words-table")
    assert isinstance(table, QTableView)
    return table


def choose(panel: Panel, word: str) -> None:
    """Find a word and click on it."""
    panel.type_into("words-filter", word)
    table = table_of(panel)
    panel.until(lambda: table.model().rowCount() and table.model().index(0, 0).data() == word, word)
    sight.click_item(panel.qtbot, table, table.model().index(0, 0))
    panel.until(panel.find("words-images").isEnabled)


def test_that_words_are_sorted_by_use_and_their_images_are_shown(panel: Panel, folder: Path) -> None:
    table = table_of(panel)
    assert rows_of(table.model())[0].startswith("mira_x | 5 | 83%")
    asked: list[tuple[Path, tuple[str, ...]]] = []
    panel.widget.images_wished.connect(lambda where, names: asked.append((where, names)))
    choose(panel, "red coat")
    panel.reads_until("Show 2 images")
    panel.click("words-images")
    panel.until(lambda: asked == [(folder, ("01.png", "03.png"))])
    panel.type_into("words-filter", "")
    header = table.horizontalHeader()
    name = QPoint(header.sectionViewportPosition(0) + 10, header.height() // 2)
    panel.qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=name)
    panel.until(lambda: table.model().index(0, 0).data() != "mira_x")


def test_that_a_tag_is_renamed_and_removed_everywhere_as_shown(
    panel: Panel, folder: Path, qtbot: QtBot
) -> None:
    before = hashes(folder)
    told: list[str] = []
    panel.widget.files_changed.connect(lambda: told.append("changed"))
    choose(panel, "red coat")
    panel.click("words-rename")
    panel.type_into("change-by", "blue coat")
    panel.reads_until("Write 3 captions")
    assert hashes(folder) == before
    panel.click("change-write")
    panel.reads_until("3 captions were written.")
    assert (folder / "01.txt").read_bytes() == CAPTIONS["01"].replace(b"red", b"blue")
    panel.until(lambda: told)
    choose(panel, "street lamps")
    panel.reads_until("1 caption would change")  # the one that is chosen is what is renamed
    panel.click("change-back")
    choose(panel, "blue coat")
    panel.click("words-remove")
    panel.reads_until("Write 3 captions")
    panel.click("change-write")
    panel.until(lambda: (folder / "01.txt").read_bytes() == CAPTIONS["01"].replace(b" red coat,", b""))
    panel.click("change-undo")
    panel.reads_until("3 captions were taken back.")
    assert (folder / "01.txt").read_bytes() == CAPTIONS["01"].replace(b"red", b"blue")
    changed = {name for name, content in hashes(folder).items() if before[name] != content}
    assert changed == {"01.txt", "03.txt", "05.txt"}
