"""The caption editor: nothing typed is lost, nothing else is changed, and all of it can be taken back."""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from data_panels import CAPTIONS, Panel, caption_dataset, dataset_spec, hashes, report_of, shown
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from gui.engine.dataset import caption_originals
from gui.engine.dataset.caption_check import CaptionFolder
from gui.engine.dataset.caption_drafts import CaptionDrafts
from gui.engine.errors import CannotWrite
from gui.window.bridges.caption_work import CaptionWork
from gui.window.bridges.dataset_pictures import DatasetPictures
from gui.window.bridges.tasks import Tasks
from gui.window.pages.data.caption_editor import CaptionEditor
from gui.window.pages.data.caption_panel import CaptionPanel
from gui.window.pages.data.caption_rows import CaptionImages, CaptionRows
from gui.window.pages.data.dataset_view import DatasetView
from gui.window.theme.icons import Icons


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "10_mira"
    caption_dataset(folder)
    return folder


@pytest.fixture
def pictures() -> Iterator[DatasetPictures]:
    """Return what makes pictures, none of which is made: no test looks at them."""
    pictures = DatasetPictures(0)
    yield pictures
    pictures.close()


@pytest.fixture
def make(
    qtbot: QtBot,
    icons: Icons,
    tasks: Tasks,
    pictures: DatasetPictures,
    folder: Path,
    tmp_path: Path,
) -> Iterator[Callable[[], Panel]]:
    spec = dataset_spec(folder)
    view = DatasetView(spec, report_of(spec), tmp_path / "memory", None, "sd15", "mira_x")

    def make_panel() -> Panel:
        work = CaptionWork(tasks)
        drafts = CaptionDrafts(tmp_path / "drafts.json")
        panel = CaptionPanel(tasks=tasks, icons=icons, work=work, pictures=pictures, drafts=drafts)
        seen = stack.enter_context(shown(qtbot, tasks, panel))
        panel.show_view(view)
        seen.reads_until("19 of 75 tokens")
        return seen

    with contextlib.ExitStack() as stack:
        yield make_panel


@pytest.fixture
def panel(make: Callable[[], Panel]) -> Panel:
    return make()


def editor_of(panel: Panel) -> CaptionEditor:
    editor = panel.find("caption-text")
    assert isinstance(editor, CaptionEditor)
    return editor


def go(panel: Panel, folder: Path, stem: str) -> CaptionEditor:
    """Show an image as the page does when one is chosen elsewhere."""
    panel.widget.show_image(folder, f"{stem}.png")
    panel.until(lambda: panel.widget.sheet.place() == (folder, f"{stem}.png"))
    return editor_of(panel)


def text_of(folder: Path, stem: str) -> bytes:
    return (folder / f"{stem}.txt").read_bytes()


def test_that_what_is_typed_is_written_when_the_image_is_left_and_taken_back_to_the_byte(
    panel: Panel, folder: Path, qtbot: QtBot
) -> None:
    before = hashes(folder)
    editor = editor_of(panel)
    qtbot.keyClick(editor, Qt.Key.Key_Up)
    qtbot.keyClick(editor, Qt.Key.Key_End)
    qtbot.keyClicks(editor, ", snow")
    panel.reads_until("not written yet")
    assert hashes(folder) == before
    panel.click("caption-after")
    panel.until(lambda: b"back, snow\r\n" in text_of(folder, "01"))
    panel.reads_until("2 of 8")
    assert text_of(folder, "01") == CAPTIONS["01"][:-2] + b", snow\r\n"
    assert {name for name, content in hashes(folder).items() if before[name] != content} == {"01.txt"}
    assert (folder / "_preflight_originals" / "01.txt").read_bytes() == CAPTIONS["01"]
    panel.until(lambda: panel.find("caption-undo").isEnabled())
    panel.click("caption-undo")
    panel.until(lambda: hashes(folder) == before)
    panel.until(lambda: panel.find("caption-redo").isEnabled())
    panel.click("caption-redo")
    panel.until(lambda: hashes(folder) != before)


def test_that_hangul_that_is_still_composed_is_not_lost(panel: Panel, folder: Path, qtbot: QtBot) -> None:
    editor = go(panel, folder, "02")
    editor.setFocus()
    qtbot.keyClicks(editor, ", ")
    for composed in ("ㅎ", "하", "한"):
        QCoreApplication.sendEvent(editor, QInputMethodEvent(composed, []))
    panel.reads_until("not written yet")
    QCoreApplication.sendEvent(editor, QInputMethodEvent("ㄱ", []))
    event = QInputMethodEvent("그", [])
    event.setCommitString("한")
    QCoreApplication.sendEvent(editor, event)
    qtbot.keyClick(editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    panel.until(lambda: text_of(folder, "02") == CAPTIONS["02"] + ", 한그".encode())
    panel.reads_until("3 of 8")


def test_that_what_is_cut_off_and_the_trigger_word_are_marked(panel: Panel, folder: Path) -> None:
    editor = go(panel, folder, "06")
    panel.reads_until("133 of 75 tokens · the end is not read")

    def struck() -> str:
        block = editor.document().firstBlock()
        parts = [each for each in block.layout().formats() if each.format.fontStrikeOut()]
        return "".join(block.text()[each.start : each.start + each.length] for each in parts)

    panel.until(lambda: struck().startswith("11, very long walk number 12"))
    assert editor.document().firstBlock().layout().formats()[0].length == len("mira_x")
    go(panel, folder, "05")
    panel.reads_until("trigger word “mira_x” is missing")
    go(panel, folder, "07")
    panel.reads_until("empty: the trainer stops at it")
    go(panel, folder, "08")
    panel.reads_until("no caption")


def test_that_marks_fit_letters_that_qt_counts_twice(panel: Panel, folder: Path, qtbot: QtBot) -> None:
    editor = go(panel, folder, "05")
    editor.selectAll()
    qtbot.keyClick(editor, Qt.Key.Key_Delete)
    QCoreApplication.sendEvent(editor, _committed("🙂🙂 mira_x"))

    def marked() -> list[tuple[int, int]]:
        return [(each.start, each.length) for each in editor.document().firstBlock().layout().formats()]

    panel.until(lambda: marked() == [(5, 6)])


def _committed(text: str) -> QInputMethodEvent:
    event = QInputMethodEvent("", [])
    event.setCommitString(text)
    return event


def test_that_what_another_program_wrote_meanwhile_is_not_overwritten(
    panel: Panel, folder: Path, qtbot: QtBot
) -> None:
    editor = go(panel, folder, "02")
    qtbot.keyClicks(editor, ", mine")
    (folder / "02.txt").write_bytes(b"theirs")
    panel.click("caption-after")
    panel.reads_until("What you typed is kept.")
    assert text_of(folder, "02") == b"theirs"
    go(panel, folder, "02")
    panel.reads_until("changed elsewhere since you typed")
    assert editor.text().endswith("street lamps, mine")
    panel.click("caption-keep-mine")
    panel.until(lambda: text_of(folder, "02") == CAPTIONS["02"] + b", mine")
    panel.until(lambda: not panel.is_seen("caption-unwritten"))
    qtbot.keyClicks(editor, "!")
    (folder / "02.txt").write_bytes(b"theirs again")
    panel.click("caption-before")
    panel.reads_until("What you typed is kept.")
    go(panel, folder, "02")
    panel.click("caption-take-theirs")
    panel.until(lambda: editor.text() == "theirs again")
    assert text_of(folder, "02") == b"theirs again"


def test_that_what_is_typed_while_it_is_written_is_written_later(
    panel: Panel, folder: Path, qtbot: QtBot
) -> None:
    editor = go(panel, folder, "08")
    qtbot.keyClicks(editor, "first")
    qtbot.keyClick(editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)  # it is the last image
    qtbot.keyClicks(editor, ", second")
    panel.until(lambda: (folder / "08.txt").exists() and text_of(folder, "08") == b"first")
    panel.until(lambda: panel.find("caption-undo").isEnabled())
    assert editor.text() == "first, second"
    panel.click("caption-before")
    panel.until(lambda: text_of(folder, "08") == b"first, second")
    assert not panel.is_seen("caption-trouble")


def test_that_a_full_disk_loses_nothing_that_was_typed(
    panel: Panel, folder: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = hashes(folder)

    def full(path: Path, _data: bytes | str) -> None:
        raise CannotWrite(path, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(caption_originals, "write_atomically", full)
        qtbot.keyClicks(go(panel, folder, "02"), ", typed")
        panel.click("caption-after")
        panel.reads_until("Not written: the caption of 02.png. What you typed is kept.")
        panel.reads_until(os.strerror(errno.ENOSPC))
        assert hashes(folder) == before
    editor = go(panel, folder, "02")
    panel.until(lambda: editor.text().endswith("street lamps, typed"))
    panel.click("caption-after")
    panel.until(lambda: text_of(folder, "02") == CAPTIONS["02"] + b", typed")


def test_that_a_change_of_many_is_called_off_and_what_was_written_taken_back(
    panel: Panel, folder: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = hashes(folder)
    write, go_on = caption_originals.write_atomically, threading.Event()

    def slow(path: Path, data: bytes | str) -> None:
        if path.name == "02.txt" and path.parent == folder:
            go_on.wait(30)
        write(path, data)

    monkeypatch.setattr(caption_originals, "write_atomically", slow)
    panel.click("caption-many")
    panel.choose("change-mode", "Add a tag")
    panel.type_into("change-find", "night")
    panel.reads_until("Write 7 captions")
    panel.click("change-write")
    panel.reads_until("1 of 7 captions are written")
    qtbot.mouseClick(panel.find("change-busy").findChild(QPushButton), Qt.MouseButton.LeftButton)
    go_on.set()
    panel.reads_until("It was called off")
    assert text_of(folder, "03") == CAPTIONS["03"]
    panel.click("change-undo")
    panel.until(lambda: hashes(folder) == before)


def test_that_a_caption_that_another_program_changed_is_shown_anew(
    panel: Panel, folder: Path, tmp_path: Path
) -> None:
    editor = go(panel, folder, "02")
    (folder / "02.txt").write_bytes(b"from elsewhere")
    spec = dataset_spec(folder)
    panel.widget.show_view(DatasetView(spec, None, tmp_path / "memory", None, "sd15", "mira_x"))
    panel.until(lambda: editor.text() == "from elsewhere")


def test_that_what_is_typed_is_written_when_the_window_closes(
    panel: Panel, folder: Path, qtbot: QtBot
) -> None:
    qtbot.keyClicks(go(panel, folder, "02"), ", typed")
    panel.widget.write_now()  # as the page does when it is closed
    assert text_of(folder, "02") == CAPTIONS["02"] + b", typed"
    assert (folder / "_preflight_originals" / "02.txt").read_bytes() == CAPTIONS["02"]


def test_that_typing_outlives_a_crash(make: Callable[[], Panel], folder: Path, qtbot: QtBot) -> None:
    first = make()
    before = hashes(folder)
    qtbot.keyClicks(go(first, folder, "08"), "mira_x, typed")
    drafts = folder.parent / "drafts.json"
    first.until(lambda: drafts.exists() and "typed" in drafts.read_text())
    second = make()  # another window: as if the first one had died
    rows = second.find("caption-list").model()
    assert rows.index(7).data(Qt.ItemDataRole.AccessibleTextRole) == "08.png, not written"
    assert go(second, folder, "08").text() == "mira_x, typed"
    assert hashes(folder) == before
    second.click("caption-before")
    second.until((folder / "08.txt").exists)
    assert text_of(folder, "08") == b"mira_x, typed"


def test_that_one_caption_is_converted_and_its_original_comes_back(panel: Panel, folder: Path) -> None:
    go(panel, folder, "04")
    panel.reads_until("in cp949, which the trainer does not read")
    panel.click("caption-convert")
    panel.until(lambda: text_of(folder, "04") == "mira_x, 비, 우산".encode())
    panel.click("caption-original")
    panel.click("ask-original-no")
    assert text_of(folder, "04") != CAPTIONS["04"]
    panel.click("caption-original")
    panel.click("ask-original-yes")
    panel.until(lambda: text_of(folder, "04") == CAPTIONS["04"])
    panel.until(lambda: not (folder / "_preflight_originals").exists())


def test_that_many_are_changed_only_after_they_were_shown(panel: Panel, folder: Path, qtbot: QtBot) -> None:
    before = hashes(folder)
    told: list[str] = []
    panel.widget.files_changed.connect(lambda: told.append("changed"))
    panel.click("caption-many")
    panel.type_into("change-find", "red coat")
    panel.type_into("change-by", "blue coat")
    panel.reads_until("3 captions would change, of 8 images.")
    model = panel.find("change-list").model()
    shown = [model.index(row).data(Qt.ItemDataRole.ToolTipRole) for row in range(3)]
    assert "before: a woman in a garden, red coat\nafter: a woman in a garden, blue coat" in shown[2]
    panel.click("change-pattern")
    panel.type_into("change-find", "(")
    panel.reads_until("This is no pattern that can be used")
    assert not panel.find("change-write").isEnabled()
    panel.type_into("change-find", r"(?P<colour>red) (coat)")
    panel.type_into("change-by", r"\2 in \g<colour>")
    panel.reads_until("Write 3 captions")
    assert hashes(folder) == before
    panel.click("change-write")
    panel.reads_until("3 captions were written.")
    assert text_of(folder, "05") == b"a woman in a garden, coat in red"
    assert {name for name, content in hashes(folder).items() if before[name] != content} == {
        "01.txt",
        "03.txt",
        "05.txt",
    }
    panel.until(lambda: told == ["changed"])
    panel.click("change-undo")
    panel.until(lambda: hashes(folder) == before)
    panel.click("change-back")
    panel.reads_until("of 8")


def test_that_the_list_is_cut_down_by_name_and_by_trouble(panel: Panel, folder: Path, qtbot: QtBot) -> None:
    rows = panel.find("caption-list").model()
    panel.choose("caption-only", "no caption")
    panel.until(lambda: rows.rowCount() == 1)
    panel.reads_until("1 of 1")
    assert rows.index(0).data(Qt.ItemDataRole.AccessibleTextRole) == "08.png, no caption"
    go(panel, folder, "03")
    panel.type_into("caption-filter", "nowhere")
    panel.until(lambda: rows.rowCount() == 0)


def test_that_a_dataset_without_captions_to_change_says_why(
    panel: Panel, folder: Path, tmp_path: Path
) -> None:
    spec = dataset_spec(folder)
    held_elsewhere = replace(spec, subsets=(replace(spec.subsets[0], captions=None),))
    panel.widget.show_view(DatasetView(held_elsewhere, None, tmp_path / "memory"))
    panel.reads_until("No captions that could be changed")
    panel.widget.show_view(DatasetView(spec, None, tmp_path / "memory"))
    panel.reads_until("19 of 75 tokens")


def test_that_100_000_images_are_listed_without_a_widget_each() -> None:
    names = [f"{number:06}.png" for number in range(100_000)]
    rows = CaptionRows()
    where = CaptionFolder(Path("/nowhere"), names, ".txt")
    rows.show_images(CaptionImages.of([where], {}), set())
    assert rows.rowCount() == 100_000
    assert rows.number_of((where.folder, "099999.png")) == 99_999
    rows.cut_down("9999", "")
    assert rows.index(rows.rowCount() - 1).data() == "099999.png"
