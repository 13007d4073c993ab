"""The Run page over the practice trainer: a good training with samples, and a mad learning rate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sight
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget
from run_windows import Launches, launches

from gui.window.pages.run.run_page import RunPage

pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("no_leftovers", "practice_is_known")]


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launches]:
    with launches(tmp_path) as made:
        yield made


@pytest.fixture
def page(qtbot, tasks, theme, icons, show) -> Iterator[RunPage]:
    page = show(RunPage(tasks=tasks, theme=theme, icons=icons), 1200, 760)
    yield page
    page.close_run()


def text_of(page: QWidget, name: str) -> str:
    return sight.says(page, name)


def lines(page: QWidget, name: str) -> list[str]:
    model = page.findChild(QWidget, name).model()
    role = Qt.ItemDataRole.AccessibleTextRole
    return [model.index(row, 0).data(role) for row in range(model.rowCount())]


def test_that_practising_shows_samples_with_prompts_and_clean_files(page, launch, home, qtbot, tmp_path):
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("# mine\nsks thing in the snow --w 64 --h 64 --s 2\n")
    run = launch.practice(
        home, max_train_steps=8, save_every_n_steps=4, sample_prompts=str(prompts), sample_every_n_steps=4
    )
    page.open(run)
    assert "first samples appear" in text_of(page, "run-samples") or not text_of(page, "run-samples")
    qtbot.waitUntil(lambda: "Finished: 8 of 8 steps" in text_of(page, "run-verdict"), timeout=120_000)
    assert "practice" in text_of(page, "run-practice")
    qtbot.waitUntil(lambda: len(lines(page, "run-samples-strip")) == 2, timeout=20_000)
    assert "sks thing in the snow" in lines(page, "run-samples-strip")[0]
    assert all("clean" in line for line in lines(page, "run-file-list"))
    assert len(lines(page, "run-file-list")) >= 2
    assert any("The training began." in line for line in lines(page, "run-timeline"))


def test_that_a_mad_learning_rate_is_stopped_and_told_in_red(page, launch, home, qtbot):
    run = launch.practice(home, max_train_steps=200, save_every_n_steps=1, unet_lr=1e4, text_encoder_lr=1e4)
    page.open(run)
    qtbot.waitUntil(lambda: bool(text_of(page, "run-banner-loss-nonfinite")), timeout=120_000)
    qtbot.waitUntil(lambda: "stopped by the guard" in text_of(page, "run-state"), timeout=60_000)
    qtbot.waitUntil(lambda: sight.sees(page, "run-first-try"), timeout=30_000)
    banner = text_of(page, "run-banner-loss-nonfinite")
    assert "no longer a number" in banner and "10000 is high" in banner
    qtbot.waitUntil(lambda: any("broken" in line for line in lines(page, "run-file-list")), timeout=20_000)
    button = sight.find(page, "run-first-try", QPushButton)
    assert button.text() == "Learning rate 0.0001 instead, from the beginning"
    with qtbot.waitSignal(page.open_as_plan, timeout=5000) as told:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    changes = told.args[1]
    assert (changes["unet_lr"], changes["text_encoder_lr"]) == (1e-4, 1e-5)
    assert "network_weights" not in changes
