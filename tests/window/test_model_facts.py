"""What a model file is stands beside its field; its hash is worked out without anybody waiting for it."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sight
from model_headers import shapes_of, write_model
from plan_window import OneTrainer, open_document
from plan_wizard import Wizard
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.facts import ModelFact
from gui.engine.runs import hashes as hashes_engine
from gui.window.bridges.checks import Checks
from gui.window.bridges.model_hashes import HashState, ModelHashes
from gui.window.bridges.tasks import Tasks
from gui.window.bridges.tokens import Tokens
from gui.window.models.model_words import model_words
from gui.window.pages.arguments.step import ArgumentsStep
from gui.window.theme.icons import Icons
from gui.window.theme.theme import Theme

BASE = "pretrained_model_name_or_path"


def lora(path: Path, less: int = 0) -> Path:
    """Write a small file with the tensors of a real LoRA."""
    return write_model(path, dict.fromkeys(shapes_of("lora-sdxl"), (1, 2)), less=less)


class Gate:
    """Holds the reading of files up until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read: list[Path] = []
        self.left: list[Path] = []
        self.open = threading.Event()
        self._hash = hashes_engine.hash_file
        monkeypatch.setattr(hashes_engine, "hash_file", self._slow)

    def _slow(self, path: Path, progress: Any = None, cancelled: Any = None) -> Any:
        self.read.append(path)
        progress(1 << 20, 4 << 20)
        while not self.open.wait(0.01):
            if cancelled():
                self.left.append(path)
                break
        return self._hash(path, progress, cancelled)


@pytest.fixture
def wizard(
    qtbot: QtBot, home: Home, tasks: Tasks, theme: Theme, icons: Icons, show: Callable[..., Any]
) -> Iterator[Wizard]:
    made = Wizard(qtbot, home, tasks, theme, icons)
    show(made.page, 1100, 760)
    yield made
    made.close()


def text(wizard: Wizard, name: str) -> str:
    """Return the visible words of a part; empty where it is not seen."""
    return sight.says(wizard.page, name)


def test_that_a_models_facts_and_hash_stand_below_its_field(
    wizard: Wizard, qtbot: QtBot, tmp_path: Path
) -> None:
    path = write_model(
        tmp_path / "xl.safetensors", shapes_of("sdxl-checkpoint"), dtype="F16", less=6_900_000_000
    )
    wizard.document.set_family("sdxl")
    wizard.document.set_value(BASE, str(path))
    about = f"model-about-{BASE}"
    qtbot.waitUntil(lambda: "Stable Diffusion XL" in text(wizard, about), timeout=20_000)
    assert text(wizard, about).startswith("Checkpoint of Stable Diffusion XL · F16 · ")
    assert text(wizard, about).endswith("not complete")
    assert "not complete" in text(wizard, f"state-{BASE}")


def test_that_a_hash_is_worked_out_shown_and_copied(wizard: Wizard, qtbot: QtBot, tmp_path: Path) -> None:
    path = lora(tmp_path / "a.safetensors")
    sha = hashlib.sha256(path.read_bytes()).hexdigest()
    wizard.document.set_value(BASE, str(path))
    qtbot.waitUntil(lambda: sha in text(wizard, f"model-hash-{BASE}"), timeout=20_000)
    assert f"AutoV2 {sha[:10].upper()}" in text(wizard, f"model-hash-{BASE}")
    for name, wanted in ((f"copy-autov2-{BASE}", sha[:10].upper()), (f"copy-sha256-{BASE}", sha)):
        sight.click(qtbot, wizard.page, name)
        assert QGuiApplication.clipboard().text() == wanted
    wizard.document.set_value(BASE, None)
    qtbot.waitUntil(lambda: not text(wizard, f"model-hash-{BASE}"))


def test_that_another_file_or_another_page_ends_the_reading(
    wizard: Wizard, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch)
    first, second = lora(tmp_path / "1.safetensors"), lora(tmp_path / "2.safetensors")
    wizard.document.set_value(BASE, str(first))
    qtbot.waitUntil(lambda: "25 %" in text(wizard, f"model-hashing-{BASE}"), timeout=20_000)
    wizard.document.set_value(BASE, str(second))
    qtbot.waitUntil(lambda: gate.left == [first], timeout=20_000)
    qtbot.waitUntil(lambda: gate.read == [first, second], timeout=20_000)
    wizard.page.show_step("data")
    qtbot.waitUntil(lambda: gate.left == [first, second], timeout=20_000)
    wizard.page.show_step("what")
    gate.open.set()
    qtbot.waitUntil(lambda: "AutoV2" in text(wizard, f"model-hash-{BASE}"), timeout=20_000)


def test_that_a_hash_can_be_stopped_and_asked_for_again(
    wizard: Wizard, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch)
    path = lora(tmp_path / "1.safetensors")
    wizard.document.set_value(BASE, str(path))
    qtbot.waitUntil(lambda: bool(gate.read), timeout=20_000)

    def click(name: str) -> None:
        sight.click(qtbot, wizard.page, name)

    click(f"stop-hash-{BASE}")
    qtbot.waitUntil(lambda: gate.left == [path])
    gate.open.set()
    click(f"again-hash-{BASE}")
    qtbot.waitUntil(lambda: "AutoV2" in text(wizard, f"model-hash-{BASE}"), timeout=20_000)


def test_that_files_are_read_one_after_the_other_and_a_bad_one_holds_none_up(
    qtbot: QtBot, tasks: Tasks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch)
    paths = [lora(tmp_path / "1.safetensors"), tmp_path / "gone", lora(tmp_path / "3.safetensors")]
    made = ModelHashes(tasks, tmp_path / "cache")
    made.want(paths)
    qtbot.waitUntil(lambda: gate.read == paths[:1])
    assert made.of(paths[2]) == HashState()
    gate.open.set()
    qtbot.waitUntil(lambda: not any(state is None or state.waiting for state in map(made.of, paths)))
    assert "gone" in made.of(paths[1]).problem
    assert made.of(paths[2]).found is not None
    made.want(())
    made.stop(paths[0])
    assert made.of(paths[0]) is None


def test_that_an_argument_among_all_tells_what_its_file_is(
    qtbot: QtBot,
    show: Callable[..., Any],
    icons: Icons,
    home: Home,
    tasks: Tasks,
    tokens: Tokens,
    tmp_path: Path,
) -> None:
    plan = TrainingPlan(
        name="x",
        family="sdxl",
        arguments={
            "network_weights": str(lora(tmp_path / "old.safetensors")),
            "vae": str(tmp_path / "no.pt"),
        },
    )
    document, trainers = open_document(home, plan), OneTrainer(None)
    checks = Checks(document, trainers, tasks, home)  # type: ignore[arg-type]
    page = show(
        ArgumentsStep(icons=icons, document=document, trainers=trainers, tokens=tokens, checks=checks),
        1000,
        700,
    )
    page.show_argument("network_weights")
    (label,) = page.findChildren(QLabel, "argument-models")
    qtbot.waitUntil(lambda: label.text().startswith("LoRA for Stable Diffusion XL · BF16"), timeout=20_000)
    assert label.isVisible()
    page.show_argument("vae")
    assert not label.isVisible()
    checks.close()
    document.close()


@pytest.mark.parametrize(
    ("fact", "size", "words"),
    [
        (
            ModelFact(
                argument=BASE, title="checkpoint of X", kind="checkpoint", prediction="v", complete=True
            ),
            7_000_000_000,
            "Checkpoint of X · predicts velocity · 6.5 GiB · complete",
        ),
        (
            ModelFact(
                argument=BASE, title="T5", quantised=True, dtypes={"F8": 1, "F16": 2, "F32": 3, "I64": 1}
            ),
            None,
            "T5 · F8, F16, F32 · quantised",
        ),
    ],
)
def test_that_a_line_says_what_is_known(fact: ModelFact, size: int | None, words: str) -> None:
    assert model_words(fact, size) == words
