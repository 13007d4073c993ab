"""Broken files that are dropped or pasted: a sentence names them, and the open plan stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import sight
from bad_files import BAD_FILES
from fake_trainers import hide_other_trainers
from plan_wizard import Wizard
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from window_parts import Parts, fake_machine

from gui.engine.paths import Home
from gui.window.bridges.tasks import Tasks
from gui.window.main_window import MainWindow
from gui.window.pages.start.start_page import StartPage
from gui.window.theme.icons import Icons
from gui.window.theme.theme import Theme
from gui.window.workbench import Workbench

Drop = Callable[[QWidget, Sequence[Path]], None]
MODELS = [what for what, bad in BAD_FILES.items() if bad.name.endswith(".safetensors")]
SETUPS = [what for what in BAD_FILES if what not in MODELS]
PASTED = ["json that is no config", "json with a key twice", "json with nan", "yaml bomb", "unclosed quote"]


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hide_other_trainers(monkeypatch, fake_machine(tmp_path))


@pytest.fixture
def page(
    qtbot: QtBot, tasks: Tasks, home: Home, icons: Icons, show: Callable[..., QWidget]
) -> Iterator[StartPage]:
    parts = Parts(home, tasks)
    yield show(
        StartPage(
            trainers=parts.trainers,
            hardware=parts.hardware,
            runs=parts.runs,
            recents=parts.recents,
            tasks=tasks,
            icons=icons,
            home=home,
        )
    )
    parts.close()


@pytest.mark.parametrize("what", BAD_FILES)
def test_that_the_door_for_setups_says_what_is_wrong_with_a_file(
    what: str, page: StartPage, drop: Drop, tmp_path: Path, qtbot: QtBot
) -> None:
    bad = BAD_FILES[what]
    bad.make(tmp_path / bad.name)
    taken = []
    page.setup_read.connect(taken.append)
    door = page.findChild(QWidget, "door-setup")
    drop(door, [tmp_path / bad.name])
    qtbot.waitUntil(lambda: str(tmp_path / bad.name) in sight.says(door), timeout=20_000)
    assert bad.words in sight.says(door)
    assert not taken


@pytest.mark.parametrize("what", PASTED)
def test_that_the_door_for_setups_says_what_is_wrong_with_a_text(
    what: str, page: StartPage, tmp_path: Path, qtbot: QtBot
) -> None:
    bad = BAD_FILES[what]
    bad.make(tmp_path / bad.name)
    QGuiApplication.clipboard().setText((tmp_path / bad.name).read_text("utf-8"))
    button = page.findChild(QWidget, "door-setup-paste")
    door = page.findChild(QWidget, "door-setup")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "the pasted text" in sight.says(door), timeout=20_000)
    assert bad.words in sight.says(door)


@pytest.fixture
def bench(qapp: QApplication, icons: Icons, home: Home, qtbot: QtBot) -> Iterator[Workbench]:
    window = MainWindow(icons)
    qtbot.addWidget(window)
    made = Workbench(qapp, window, icons, home)
    window.resize(1100, 700)
    with qtbot.waitExposed(window):
        window.show()
    window.show_page("start")
    yield made
    made.close()


@pytest.mark.parametrize(
    "what", ["json with 1e400", "yaml bomb", "toml of 50 MB", "cp949", "a loop of links"]
)
def test_that_the_window_says_what_is_wrong_with_what_is_dropped_on_it(
    what: str, bench: Workbench, drop: Drop, tmp_path: Path, qtbot: QtBot
) -> None:
    bad, before = BAD_FILES[what], bench.document.plan
    bad.make(tmp_path / bad.name)
    drop(bench.window, [tmp_path / bad.name])
    qtbot.waitUntil(lambda: bad.words in sight.says(bench.window), timeout=20_000)
    assert str(tmp_path / bad.name) in sight.says(bench.window)
    assert bench.document.plan is before
    assert bench.window.current == "start"


def test_that_a_log_that_is_dropped_on_the_window_is_diagnosed(
    bench: Workbench, drop: Drop, tmp_path: Path, qtbot: QtBot
) -> None:
    log = tmp_path / "failed.log"
    log.write_text("RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB.\n", "utf-8")
    before = bench.document.plan
    drop(bench.window, [log])
    qtbot.waitUntil(lambda: "The GPU's memory ran out." in sight.says(bench.window), timeout=20_000)
    assert bench.window.current == "runs" and bench.document.plan is before


@pytest.fixture
def wizard(
    qtbot: QtBot, home: Home, tasks: Tasks, theme: Theme, icons: Icons, show: Callable[..., Any]
) -> Iterator[Wizard]:
    made = Wizard(qtbot, home, tasks, theme, icons)
    show(made.page, 1100, 760)
    yield made
    made.close()


@pytest.mark.parametrize("what", [what for what in MODELS if "folder" not in what])
def test_that_a_broken_model_is_marked_beside_its_field(
    what: str, wizard: Wizard, drop: Drop, tmp_path: Path, qtbot: QtBot
) -> None:
    bad = BAD_FILES[what]
    bad.make(tmp_path / bad.name)
    drop(wizard.page, [tmp_path / bad.name])

    def said() -> str:
        return sight.says(sight.find(wizard.page, "row-pretrained_model_name_or_path"), "finding-st-header")

    qtbot.waitUntil(lambda: bad.name in said(), timeout=20_000)
