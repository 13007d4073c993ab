"""The memory forecast on the Review page, as people meet it: read, hover, apply advice, forecast exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pynvml
import pytest
import sight
from fake_nvml import FakeNvml
from memory_scene import make_tracer, sdxl_plan, trainer_in
from plan_window import OneTrainer, open_document
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from gui.engine.hardware.gpu import GpuMonitor
from gui.engine.hardware.memory import tracing
from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.token_store import TokenStore
from gui.window.bridges.checks import Checks
from gui.window.bridges.hardware import Hardware
from gui.window.bridges.launcher import Launcher
from gui.window.bridges.queue_adder import QueueAdder
from gui.window.bridges.tasks import Tasks
from gui.window.bridges.tokens import Tokens
from gui.window.models.plan_document import PlanDocument
from gui.window.pages.review import ReviewStep
from gui.window.theme.icons import Icons
from gui.window.theme.theme import Theme
from gui.window.widgets.memory_bar import MemoryBar

GIB = 1 << 30


class Review:
    """A Review step on a machine with the GPUs of the stand-in for NVML."""

    def __init__(
        self, qtbot: QtBot, step: ReviewStep, document: PlanDocument, checks: Checks, tasks: Tasks
    ) -> None:
        self.qtbot, self.step, self.document, self.checks, self.tasks = qtbot, step, document, checks, tasks
        self.trainers: OneTrainer

    def find(self, name: str, kind: type[QWidget] = QWidget) -> QWidget:
        return sight.find(self.step, name, kind)

    def sees(self, name: str) -> bool:
        return sight.sees(self.step, name)

    def click(self, name: str) -> None:
        sight.click(self.qtbot, self.step, name)

    def text(self, name: str) -> str:
        part = self.find(name)
        labels = [part] if isinstance(part, QLabel) else part.findChildren(QLabel)
        return "\n".join(each.text() for each in labels if each.isVisible())

    def settle(self) -> None:
        self.qtbot.waitUntil(lambda: not self.checks.busy and not self.tasks.busy, timeout=20_000)

    @property
    def bar(self) -> MemoryBar:
        return self.find("memory-bar", MemoryBar)


Open = Callable[..., Review]


@pytest.fixture
def gpus(fake_gpus: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> FakeNvml:
    """Return one GPU of 12 GiB, 1 GiB of which is in use."""
    fake_gpus.set(count=1, name="A card", total=12 * GIB, used=1 * GIB, driver="560.1")
    return fake_gpus.inside(monkeypatch)


@pytest.fixture
def review(
    qtbot: QtBot, tasks: Tasks, home: Home, theme: Theme, icons: Icons, show, tmp_path: Path
) -> Iterator[Open]:
    made: list[tuple[Checks, PlanDocument, Hardware]] = []

    def open_review(plan: TrainingPlan) -> Review:
        document, trainers = open_document(home, plan), OneTrainer(trainer_in(tmp_path / "sd", home))
        checks = Checks(document, trainers, tasks, home, gpus=GpuMonitor())
        hardware, tokens = Hardware(GpuMonitor(), seconds=0.1), Tokens(TokenStore(home), tasks)
        step = ReviewStep(
            document=document,
            checks=checks,
            launcher=Launcher(trainers, tasks, home, tokens.store),
            adder=QueueAdder(trainers, tasks, home),
            trainers=trainers,
            hardware=hardware,
            tokens=tokens,
            tasks=tasks,
            theme=theme,
            icons=icons,
        )
        made.append((checks, document, hardware))
        hardware.start()
        show(step, 930, 760)
        qtbot.waitUntil(lambda: hardware.known)
        opened = Review(qtbot, step, document, checks, tasks)
        opened.trainers = trainers
        opened.settle()
        return opened

    yield open_review
    for checks, document, hardware in made:
        checks.close()
        document.close()
        hardware.close()


def likely(page: Review) -> float:
    estimate = page.checks.checked.estimate
    return max(phase.likely for phase in estimate.phases)


def test_that_a_plan_that_fits_says_so_with_peak_parts_and_room(review: Open, gpus, tmp_path: Path):
    page = review(
        sdxl_plan(tmp_path, optimizer_type="AdamW8bit", network_train_unet_only=True, network_dim=16)
    )
    assert "fits" in page.text("gpu-memory-state")
    assert "most in: training step" in page.text("gpu-memory-words")
    assert "free" in page.text("gpu-memory-words")
    assert "weights" in page.text("gpu-memory-parts")
    assert "free now on A card" in page.text("gpu-memory-now")
    assert "It fits" in page.text("memory-advice-text")
    told = page.bar.accessibleName()
    assert told.startswith("training step: likely")
    assert "should be left over" in told
    assert [each.name for each in page.bar.stretches][:3] == ["spare", "reserve", "others"]


def test_that_phases_are_told_on_demand(review: Open, gpus, tmp_path: Path):
    page = review(sdxl_plan(tmp_path))
    assert not page.sees("memory-phases")
    page.click("show-phases")
    assert page.sees("phase-latents")
    assert page.sees("phase-step")
    assert "Traced on sdxl" in page.text("memory-phases-basis")
    assert "should be left over" in page.text("memory-phases-basis")
    page.click("show-phases")
    assert not page.sees("memory-phases")


def test_that_hovering_and_arrows_tell_each_part(review: Open, gpus, qtbot: QtBot, tmp_path: Path):
    page = review(sdxl_plan(tmp_path))
    place = page.bar.center_of("weights").toPoint()
    hover = QHelpEvent(QHelpEvent.Type.ToolTip, place, page.bar.mapToGlobal(place))
    QApplication.sendEvent(page.bar, hover)
    assert QToolTip.text() == "weights: 6.3 GiB"
    edge = QPoint(page.bar.width() - 2, place.y())
    QApplication.sendEvent(page.bar, QHelpEvent(QHelpEvent.Type.ToolTip, edge, edge))
    assert QToolTip.text().startswith("training step")  # nothing is drawn there
    page.bar.setFocus()
    names = [each.words for each in page.bar.stretches]
    qtbot.keyClick(page.bar, Qt.Key.Key_Right)
    assert page.bar.accessibleDescription() == names[0]
    qtbot.keyClick(page.bar, Qt.Key.Key_Right)
    assert page.bar.accessibleDescription() == names[1]
    qtbot.keyClick(page.bar, Qt.Key.Key_Left)
    assert page.bar.accessibleDescription() == names[0]
    page.checks.check_again()
    page.settle()
    assert page.bar.accessibleDescription() == page.bar.stretches[0].words, "newer figures leave it there"
    qtbot.keyClick(page.bar, Qt.Key.Key_Escape)
    assert page.bar.accessibleDescription() == ""


def test_that_advice_is_applied_by_a_click_as_one_step(review: Open, gpus, tmp_path: Path):
    page = review(sdxl_plan(tmp_path))
    assert "does not fit" in page.text("gpu-memory-state")
    told = page.text("advice-small-state")
    assert "AdamW8bit" in told
    assert "saves" in told
    assert "precision" in told
    before = likely(page)
    page.click("apply-advice-small-state")
    page.settle()
    assert page.document.plan.arguments["optimizer_type"] == "AdamW8bit"
    assert page.document.undo_stack.count() == 1
    assert likely(page) < before
    assert "Applied" in page.text("fixes-done")
    page.click("undo-fixes")
    page.settle()
    assert page.document.plan.arguments["optimizer_type"] == "AdamW"
    assert likely(page) == before


def test_that_the_keyboard_stays_with_the_advice_when_some_of_it_was_applied(
    review: Open, gpus, qtbot: QtBot, tmp_path: Path
):
    page = review(sdxl_plan(tmp_path, batch=4, gradient_checkpointing=None))
    qtbot.waitUntil(page.step.isActiveWindow)
    card = page.find("memory-advice")
    rows = [each for each in sight.visible(card, kind=QPushButton) if each.objectName() != "apply-advice"]
    rows[0].setFocus()
    qtbot.keyClick(rows[0], Qt.Key.Key_Space)
    page.settle()
    assert page.document.undo_stack.count() == 1
    qtbot.waitUntil(lambda: card.isAncestorOf(QApplication.focusWidget()))


def test_that_all_advice_together_makes_it_fit(review: Open, gpus, tmp_path: Path):
    page = review(sdxl_plan(tmp_path, batch=4, gradient_checkpointing=None))
    assert "fits" in page.text("memory-advice-text")
    page.click("apply-advice")
    page.settle()
    assert page.document.undo_stack.count() == 1
    assert page.text("gpu-memory-state") == "✓ fits"
    assert "It fits" in page.text("memory-advice-text")


def test_that_nothing_fits_a_gpu_that_was_lost_since(review: Open, gpus: FakeNvml, tmp_path: Path):
    small = {"optimizer_type": "AdamW8bit", "network_train_unet_only": True, "network_dim": 16}
    page = review(sdxl_plan(tmp_path, **small))
    assert page.text("gpu-memory-state") == "✓ fits"
    lost = (f"ret.nvmlDeviceGetMemoryInfo{version}" for version in ("", "_v2"))
    gpus.set(dict.fromkeys(lost, pynvml.NVML_ERROR_GPU_IS_LOST))
    page.qtbot.waitUntil(lambda: "no longer answers" in page.text("gpu-memory-now"), timeout=10_000)
    page.checks.refresh_machine()
    page.qtbot.waitUntil(lambda: page.text("gpu-memory-state") == "forecast", timeout=10_000)
    assert page.sees("finding-cuda-hw")


def test_that_what_others_take_meanwhile_counts(review: Open, gpus: FakeNvml, qtbot: QtBot, tmp_path: Path):
    page = review(
        sdxl_plan(tmp_path, optimizer_type="AdamW8bit", network_train_unet_only=True, network_dim=16)
    )
    assert page.text("gpu-memory-state") == "✓ fits"
    gpus.set(used=9 * GIB)
    qtbot.waitUntil(lambda: "does not fit" in page.text("gpu-memory-state"), timeout=10_000)
    page.qtbot.waitUntil(lambda: page.sees("advice-others"))
    assert "Other programs hold" in page.text("advice-others")
    assert not page.sees("apply-advice-others")  # nothing of the plan has to change


def test_that_without_a_gpu_nothing_is_made_up(
    review: Open, fake_gpus: FakeNvml, monkeypatch, tmp_path: Path
):
    fake_gpus.set({"ret.nvmlInitWithFlags": pynvml.NVML_ERROR_LIBRARY_NOT_FOUND})
    fake_gpus.inside(monkeypatch)
    page = review(sdxl_plan(tmp_path))
    assert page.text("gpu-memory-state") == "not known"
    assert page.bar.accessibleName() == "GPU memory: not known"
    assert "not known" in page.text("gpu-memory-words")
    assert "Without a forecast" in page.text("memory-advice-text")
    assert not page.sees("forecast-exactly")
    assert not page.sees("show-phases")


def test_that_a_training_that_nothing_is_known_of_says_why(review: Open, gpus, tmp_path: Path):
    page = review(sdxl_plan(tmp_path, torch_compile=True))
    assert page.text("gpu-memory-state") == "not known"
    assert "torch_compile" in page.text("gpu-memory-words")
    assert "GiB of 12.0 GiB are free" in page.bar.accessibleName()
    assert not page.sees("forecast-exactly")


@pytest.fixture
def tracer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let the tracer be one that answers at once; return what makes it do something else first."""
    make_tracer(tmp_path / "resources")
    monkeypatch.setattr(tracing, "resource_path", (tmp_path / "resources").joinpath)
    return lambda words: (tmp_path / "sd" / "what").write_text(words, "utf-8")


def test_that_an_exact_forecast_takes_the_place_of_the_table_for_its_own_trainer(
    review: Open, gpus, tracer, home: Home, tmp_path: Path
):
    page = review(sdxl_plan(tmp_path))
    before = likely(page)
    page.click("forecast-exactly")
    assert page.sees("exact-busy")
    page.qtbot.waitUntil(lambda: page.sees("gpu-memory-basis"), timeout=20_000)
    assert "exactly this plan" in page.text("gpu-memory-basis")
    assert likely(page) != before
    assert not page.sees("exact-busy")
    assert not page.sees("forecast-exactly")
    own = page.trainers.current
    page.trainers.show(trainer_in(tmp_path / "another", home))
    page.qtbot.waitUntil(lambda: page.sees("forecast-exactly"))
    assert likely(page) == before, "it tells nothing of another trainer"
    page.trainers.show(own)
    page.qtbot.waitUntil(lambda: page.sees("gpu-memory-basis"))
    page.document.change({"dataset.batch_size": 3}, "more")
    page.settle()
    assert page.sees("forecast-exactly")
    assert not page.sees("gpu-memory-basis")


def test_that_an_exact_forecast_can_be_left(review: Open, gpus, tracer, tmp_path: Path):
    page = review(sdxl_plan(tmp_path))
    tracer("time.sleep(60)")
    before = likely(page)
    page.click("forecast-exactly")
    page.find("exact-cancel").setFocus()
    page.qtbot.keyClick(page.find("exact-cancel"), Qt.Key.Key_Space)
    page.qtbot.waitUntil(lambda: page.sees("forecast-exactly"))
    page.qtbot.waitUntil(page.find("forecast-exactly").hasFocus)
    page.settle()
    assert likely(page) == before
    assert not page.sees("gpu-memory-trouble")


def test_that_an_exact_forecast_that_fails_says_why(review: Open, gpus, tracer, tmp_path: Path):
    page = review(sdxl_plan(tmp_path))
    tracer("raise SystemExit(3)")
    page.click("forecast-exactly")
    page.qtbot.waitUntil(lambda: page.sees("gpu-memory-trouble"), timeout=20_000)
    assert "ended with status 3" in page.text("gpu-memory-trouble")
    page.document.change({"seed": 5}, "another")
    assert not page.sees("gpu-memory-trouble")
