"""A saved file of a run: what is in it, how to go on from it, a hash beside it, a copy of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sight
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QFileDialog, QLabel, QListView, QWidget
from pytestqt.qtbot import QtBot
from saved_runs import saved, saved_run, write_state, write_weights

from gui.engine.paths import Home
from gui.engine.preferences import load_preferences
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.status import Verdict
from gui.window.bridges.file_desk import FileDesk
from gui.window.pages.run.run_page import RunPage

VERDICT = Verdict(verdict="finished", reason="done", sentence="Finished.", step=100, total=100)


class Files:
    """A page that shows a run with three models and a state, and what a person does there."""

    def __init__(self, page: RunPage, run: RunFolder, qtbot: QtBot) -> None:
        self.page, self.run, self.qtbot = page, run, qtbot
        self.opened: list[Path] = []
        self.plans: list[tuple[RunFolder, dict[str, object]]] = []

    def text(self, name: str) -> str:
        return next((w.text() for w in self.page.findChildren(QLabel, name) if w.isVisible()), "")

    def sees(self, name: str) -> bool:
        return any(each.isVisible() for each in self.page.findChildren(QWidget, name))

    def all_text(self, name: str) -> str:
        parts = [each for each in self.page.findChildren(QWidget, name) if each.isVisible()]
        labels = [label for part in parts for label in part.findChildren(QLabel)]
        return "\n".join(label.text() for label in labels if label.isVisible())

    def click(self, name: str) -> None:
        sight.click(self.qtbot, self.page, name)

    def click_row(self, name: str, number: int) -> None:
        self.qtbot.waitUntil(lambda: self.page.findChild(QListView, name).model().rowCount() > number)
        view = self.page.findChild(QListView, name)
        sight.click_item(self.qtbot, view, view.model().index(number, 0))

    def reads(self, name: str, words: str) -> None:
        self.qtbot.waitUntil(lambda: words in self.all_text(name) or words in self.text(name))


@pytest.fixture
def files(qtbot: QtBot, tasks, theme, icons, show: Callable[..., QWidget], tmp_path: Path) -> Iterator[Files]:
    out = tmp_path / "out"
    arguments = {"output_dir": str(out), "output_name": "mira", "network_module": "networks.lora"}
    models = [
        write_weights(out / f"mira-step{step:08d}.safetensors", value, metadata={"ss_steps": str(step)})
        for step, value in ((20, 0.01), (40, 0.02), (60, 0.08))
    ]
    state = write_state(out / "mira-step00000060-state", counted=60, table={"base_lrs": [1e-4]})
    (out / "sample").mkdir()
    Image.new("RGB", (64, 64), "teal").save(out / "sample" / "mira_000040_00_20260101000000_1.png")
    told = [saved(models[0], step=20), saved(models[1], step=40)]
    told += [saved(models[2], step=60, judgement="grown", sentence="finite, but grown 4×")]
    run = saved_run(
        Home(tmp_path / "home"),
        arguments,
        files=[*told, saved(state, "state", step=60)],
        state="ended",
        verdict=VERDICT,
        step=100,
        total=100,
    )
    page = RunPage(tasks=tasks, theme=theme, icons=icons, opener=lambda path: not found.opened.append(path))
    found = Files(page, run, qtbot)
    page.open_as_plan.connect(lambda run, changes: found.plans.append((run, changes)))
    show(page, 1200, 800)
    page.open(run)
    yield found
    page.close_run()


def test_that_a_file_shows_its_blocks_its_card_and_its_samples(files: Files) -> None:
    files.click_row("run-file-list", 2)
    files.reads("file-name", "mira-step00000040.safetensors")
    files.reads("file-differences", "Steps: 20 → 40")
    bars = next(each for each in files.page.findChildren(QWidget, "file-blocks") if each.isVisible())
    assert "unet down_blocks_0: 0.02  2×" in bars.accessibleDescription()
    assert "clean" in files.text("file-chip")
    files.reads("file-samples", "Samples of this step")
    files.reads("file-card", "40")
    files.click_row("file-samples-strip", 0)
    files.reads("file-sample-caption", "prompt 1")
    files.click("file-sample-close")
    files.qtbot.waitUntil(lambda: files.sees("file-viewer") and not files.sees("file-sample-viewer"))


def test_that_another_file_can_be_compared_with(files: Files, qtbot: QtBot) -> None:
    files.click_row("run-file-list", 1)
    files.reads("file-differences", "Steps: 40 → 60")
    files.reads("file-words", "Finite, but grown 4×")
    choice = next(each for each in files.page.findChildren(QComboBox, "file-against") if each.isVisible())
    assert [choice.itemText(row) for row in range(choice.count())] == [
        "mira-step00000040.safetensors",
        "mira-step00000020.safetensors",
        "nothing",
    ]
    choice.setFocus()
    qtbot.keyClick(choice, Qt.Key.Key_Down)
    files.reads("file-differences", "Steps: 20 → 60")
    qtbot.keyClick(choice, Qt.Key.Key_Down)
    bars = next(each for each in files.page.findChildren(QWidget, "file-blocks") if each.isVisible())
    qtbot.waitUntil(lambda: "×" not in bars.accessibleDescription() != "")


def test_that_continuing_shows_what_changes_and_opens_the_plan(files: Files, qtbot: QtBot) -> None:
    files.click_row("run-file-list", 2)
    files.reads("file-on-words", "60 of 100 steps remain")
    files.reads("file-on-diff", "network_weights: – → ")
    files.click("file-continue")
    qtbot.waitUntil(lambda: bool(files.plans))
    run, changes = files.plans[0]
    assert run == files.run
    assert changes["output_name"] == "mira-from40"
    qtbot.waitUntil(lambda: not files.sees("file-viewer"))  # the name may be taken when one comes back


def test_that_a_state_is_gone_on_from_and_has_no_blocks(files: Files, qtbot: QtBot) -> None:
    files.click_row("run-file-list", 0)
    files.reads("file-on-words", "Continues at step 60 of 100; saves will not overwrite the old ones.")
    assert not files.sees("file-growth") and not files.sees("file-hash") and not files.sees("file-send")
    qtbot.keyClick(files.page.file_viewer, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not files.sees("file-viewer"))


def test_that_a_hash_is_written_and_the_folder_shown(files: Files, qtbot: QtBot, tmp_path: Path) -> None:
    files.click_row("run-file-list", 2)
    files.reads("file-on-words", "remain")
    files.click("file-hash")
    files.reads("file-said", "stands in mira-step00000040.safetensors.sha256 now.")
    assert (tmp_path / "out" / "mira-step00000040.safetensors.sha256").is_file()
    files.click("file-folder")
    qtbot.waitUntil(lambda: files.opened == [tmp_path / "out"])
    files.click("file-close")
    qtbot.waitUntil(lambda: not files.sees("file-viewer"))


def test_that_a_copy_is_sent_and_the_folder_is_offered_again(
    files: Files, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "loras"
    folder.mkdir()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_words: str(folder))
    files.click_row("run-file-list", 2)
    files.reads("file-on-words", "remain")
    assert not files.sees("file-send-again")
    files.click("file-send")
    files.reads("file-said", "Copied and read back")
    assert (folder / "mira-step00000040.safetensors").is_file()
    assert load_preferences(Home(tmp_path / "home").preferences).models_folder == str(folder)
    files.click("file-close")
    files.click_row("run-file-list", 3)
    qtbot.waitUntil(lambda: files.sees("file-send-again"))
    files.click("file-send-again")
    qtbot.waitUntil((folder / "mira-step00000020.safetensors").is_file)
    files.reads("file-said", "Copied and read back")
    folder.rename(tmp_path / "moved")
    files.click("file-send-again")
    files.reads("file-said", "there is no such folder")


def test_that_a_file_that_is_gone_is_said(files: Files, tmp_path: Path) -> None:
    (tmp_path / "out" / "mira-step00000040.safetensors").unlink()
    files.click_row("run-file-list", 2)
    files.reads("file-on-words", "No training can go on from")
    files.reads("file-differences", "Its numbers cannot be read.")
    assert not files.sees("file-continue") and not files.sees("file-card")


def test_that_a_copy_is_not_given_up_for_another_wish(tasks, qtbot: QtBot, tmp_path: Path) -> None:
    path, folder = write_weights(tmp_path / "m.safetensors"), tmp_path / "loras"
    folder.mkdir()
    desk, said = FileDesk(tasks), []
    desk.said.connect(lambda words, _tone: said.append(words))
    desk.send(RunFolder(tmp_path / "run"), path, folder)
    desk.hash_beside(path)
    qtbot.waitUntil(lambda: tasks.busy == 0)
    assert len(said) == 1 and said[0].startswith("Copied and read back")
    desk.hash_beside(path)
    qtbot.waitUntil(lambda: len(said) == 2)
