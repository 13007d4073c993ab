"""The Settings page as people use it: every choice is kept at once, and trainers are looked after."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sight
from fake_nvml import FakeNvml
from fake_trainers import SCRIPT, hide_other_trainers, make_checkout
from memory_scene import teach
from PySide6.QtCore import QObject, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from gui.engine.errors import Cancelled, TorchNotFetched
from gui.engine.hardware.gpu import GpuMonitor
from gui.engine.paths import Home
from gui.engine.preferences import Preferences, load_preferences
from gui.engine.trainer import practice as practice_engine
from gui.engine.trainer import torch_fetch
from gui.window.bridges.hardware import Hardware
from gui.window.bridges.settings import Settings
from gui.window.bridges.tasks import Tasks
from gui.window.bridges.tokens import Tokens
from gui.window.bridges.trainers import Trainers
from gui.window.pages.settings.settings_page import SettingsPage
from gui.window.theme.icons import Icons
from gui.window.theme.theme import Theme

SLOW = "import time\ntime.sleep(60)\n" + SCRIPT
BROKEN = "import nothing_of_that_name\n" + SCRIPT
MIB = 1 << 20


class Opened:
    """The page, what it stands on, and hands and eyes."""

    def __init__(
        self, qtbot: QtBot, page: SettingsPage, trainers: Trainers, home: Home, tasks: Tasks
    ) -> None:
        self.qtbot, self.page, self.trainers, self.home, self.tasks = qtbot, page, trainers, home, tasks

    @property
    def kept(self) -> Preferences:
        return load_preferences(self.home.preferences)

    def find(self, name: str, inside: str = "") -> QWidget:
        part = self.find(inside) if inside else self.page
        return sight.find(part, name)

    def sees(self, name: str, inside: str = "") -> bool:
        part = self.find(inside) if inside else self.page
        return sight.sees(part, name)

    def click(self, name: str, inside: str = "") -> None:
        sight.click(self.qtbot, self.find(inside) if inside else self.page, name)

    def type(self, name: str, text: str) -> None:
        field = self.find(name)
        assert isinstance(field, QLineEdit)
        field.clear()
        self.qtbot.keyClicks(field, text)

    def choose(self, name: str, words: str) -> None:
        """Choose in a closed list by the keyboard."""
        box = self.find(name)
        assert isinstance(box, QComboBox)
        places = [place for place in range(box.count()) if words in box.itemText(place)]
        while box.currentIndex() != places[0]:
            key = Qt.Key.Key_Down if box.currentIndex() < places[0] else Qt.Key.Key_Up
            self.qtbot.keyClick(box, key)

    def text(self, name: str = "") -> str:
        return sight.says(self.page, name)

    def settle(self) -> None:
        self.qtbot.waitUntil(lambda: not self.tasks.busy and not self.trainers.busy, timeout=30_000)


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the only folder in which trainers are found."""
    place = tmp_path / "machine"
    place.mkdir()
    hide_other_trainers(monkeypatch, place)
    monkeypatch.setenv("VIRTUAL_ENV", "")
    return place


@pytest.fixture(autouse=True)
def torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have torch in this program's own Python, wherever the tests run."""
    monkeypatch.setattr(practice_engine, "own_torch_is_there", lambda: True)


@pytest.fixture
def opened(
    qtbot: QtBot,
    home: Home,
    tasks: Tasks,
    tokens: Tokens,
    theme: Theme,
    icons: Icons,
    show: Callable[..., QWidget],
) -> Iterator[Callable[..., Opened]]:
    """Return what opens the page, with all trainers found."""
    closing: list[Callable[[], None]] = []

    def open_it(*, wait: bool = True) -> Opened:
        settings = Settings(home)
        trainers = Trainers(home, settings, tasks)
        hardware = Hardware(seconds=0.05)
        closing.extend((trainers.close, hardware.close))
        page = SettingsPage(
            settings=settings,
            trainers=trainers,
            hardware=hardware,
            tokens=tokens,
            tasks=tasks,
            theme=theme,
            icons=icons,
            home=home,
        )
        show(page, 1012, 664)
        trainers.start()
        hardware.start()
        one = Opened(qtbot, page, trainers, home, tasks)
        if wait:
            qtbot.waitUntil(lambda: trainers.looked and hardware.known, timeout=30_000)
            one.settle()
        return one

    yield open_it
    for close in closing:
        close()


def test_that_appearance_and_text_size_change_at_once_and_are_kept(opened, theme):
    page = opened()
    page.click("setting-appearance-dark")
    assert theme.dark
    page.click("setting-text-150")
    assert theme.text_percent == 150
    assert (page.kept.appearance, page.kept.text_percent) == ("dark", 150)
    assert page.find("setting-text-150").isChecked()
    assert not page.find("setting-text-100").isChecked()
    page.click("setting-appearance-light")
    assert not theme.dark


def test_that_the_language_is_kept_and_said_to_come_later(opened):
    page = opened()
    assert not page.sees("language-later")
    page.choose("setting-language", "English")
    assert page.kept.language == "en"
    assert "next time" in page.text("language-later")
    page.choose("setting-language", "Follow the system")
    assert page.kept.language is None
    assert not page.sees("language-later")


def test_that_the_guard_of_new_plans_is_chosen_by_its_words(opened):
    page = opened()
    assert "Stop at once" in page.text("setting-guard-stop")
    page.click("setting-guard-warn")
    assert page.kept.guard == "warn"
    page.qtbot.keyClick(page.find("setting-guard-confirm"), Qt.Key.Key_Space)
    assert page.kept.guard == "confirm"


def test_that_the_memory_hook_can_be_switched_off(opened):
    page = opened()
    page.click("setting-measure-memory")
    assert page.kept.measure_memory is False
    page.click("setting-measure-memory")
    assert page.kept.measure_memory is True


def test_that_notifications_can_be_switched_off(opened):
    page = opened()
    page.click("setting-notifications")
    assert page.kept.notifications is False
    page.click("setting-notifications")
    assert page.kept.notifications is True


def test_that_a_gpu_is_remembered_by_its_lasting_name(opened, nvml_libraries, tmp_path, monkeypatch):
    FakeNvml(nvml_libraries["new"], tmp_path / "nvml.state").inside(monkeypatch)
    page = opened()
    page.choose("setting-gpu", "0: ")
    assert page.kept.gpu.startswith("GPU-")
    page.choose("setting-gpu", "Leave it to the trainer")
    assert page.kept.gpu is None


def test_that_a_machine_without_gpu_says_so_and_a_chosen_one_is_not_lost(opened, home, monkeypatch):
    monkeypatch.setattr(GpuMonitor, "devices", lambda self: ())
    monkeypatch.setattr(GpuMonitor, "sample", lambda self: ())
    monkeypatch.setattr(GpuMonitor, "problem", "no NVIDIA GPU seen: of no driver")
    Settings(home).change(gpu="GPU-gone")
    page = opened()
    assert "no NVIDIA GPU seen" in page.text("settings-runs")
    assert "GPU-gone (not found now)" in page.find("setting-gpu").currentText()
    assert page.kept.gpu == "GPU-gone"


def test_that_a_choice_that_cannot_be_kept_is_told_and_not_shown_as_kept(opened, home, theme):
    page = opened()
    home.preferences.mkdir(parents=True)
    page.click("setting-appearance-dark")
    assert not theme.dark
    assert str(home.preferences) in page.text("settings-trouble")
    assert page.find("setting-appearance-system").isChecked()
    page.click("settings-trouble-close")
    assert not page.sees("settings-trouble")
    page.click("setting-notifications")
    assert page.find("setting-notifications").isChecked()
    home.preferences.rmdir()
    page.click("setting-notifications")
    assert not page.sees("settings-trouble")


def test_that_trainers_show_what_they_are_and_which_is_in_use(opened, machine):
    make_checkout(machine / "sd-scripts")
    make_checkout(machine / "sd-scripts-2")
    page = opened()
    assert page.sees("trainer-used", "trainer-sd-scripts")
    assert page.sees("trainer-default", "trainer-sd-scripts")
    assert "sd-scripts 0.10.1" in page.text("trainer-sd-scripts")
    assert "torch 2.8.0+cu128, built for CUDA 12.8" in page.text("trainer-sd-scripts")
    assert "not looked at yet" in page.text("trainer-sd-scripts-2")
    assert page.sees("trainer-practice_trainer")
    assert not page.sees("trainer-remove")
    assert not page.sees("trainers-problem")


def test_that_another_trainer_is_used_here_and_made_the_default(opened, machine):
    make_checkout(machine / "sd-scripts")
    other = make_checkout(machine / "sd-scripts-2")
    page = opened()
    page.click("trainer-use", "trainer-sd-scripts-2")
    page.settle()
    assert page.sees("trainer-used", "trainer-sd-scripts-2")
    assert not page.sees("trainer-used", "trainer-sd-scripts")
    assert page.kept.trainer is None
    page.click("trainer-make-default", "trainer-sd-scripts-2")
    page.qtbot.waitUntil(lambda: page.kept.trainer == str(other), timeout=20_000)
    page.settle()
    assert page.sees("trainer-default", "trainer-sd-scripts-2")
    assert not page.sees("trainer-make-default", "trainer-sd-scripts-2")


def test_that_a_trainer_that_cannot_train_says_why_in_its_place(opened, machine):
    make_checkout(machine / "sd-scripts")
    make_checkout(machine / "sd-scripts-broken", script=BROKEN)
    page = opened()
    page.click("trainer-again", "trainer-sd-scripts-broken")
    page.settle()
    assert "cannot train" in page.text("trainer-sd-scripts-broken")
    assert "nothing_of_that_name" in page.text("trainer-sd-scripts-broken")
    assert "can train" in page.text("trainer-sd-scripts")
    assert not page.sees("settings-trouble")


def test_that_no_trainer_at_all_is_said(opened):
    page = opened()
    assert "No trainer is in use" in page.text("trainers-problem")


def test_that_looking_at_a_trainer_shows_how_far_it_is_and_can_be_ended(opened, machine):
    make_checkout(machine / "sd-scripts", script=SLOW)
    page = opened(wait=False)
    page.qtbot.waitUntil(lambda: page.sees("trainers-busy"))
    (cancel,) = [each for each in page.find("trainers-busy").findChildren(QPushButton) if each.isVisible()]
    page.qtbot.mouseClick(cancel, Qt.MouseButton.LeftButton)
    assert not page.sees("trainers-busy")
    page.settle()


def test_that_a_trainer_is_added_by_typing_and_removed_without_touching_the_disk(opened, machine, tmp_path):
    make_checkout(machine / "sd-scripts")
    place = make_checkout(tmp_path / "elsewhere" / "my scripts", python=False)
    page = opened()
    assert not page.find("add-trainer-add").isEnabled()
    page.type("add-trainer-folder", str(place))
    page.type("add-trainer-python", sys.executable)
    page.click("add-trainer-add")
    page.qtbot.waitUntil(lambda: page.sees("trainer-my scripts"), timeout=20_000)
    page.settle()
    assert [(each.path, each.python) for each in page.kept.trainers] == [(str(place), sys.executable)]
    assert "Added" in page.text("add-trainer-done")
    assert page.find("add-trainer-folder").text() == ""
    assert page.sees("trainer-used", "trainer-sd-scripts")
    page.click("trainer-remove", "trainer-my scripts")
    page.qtbot.waitUntil(lambda: not page.sees("trainer-my scripts"))
    assert (place / "train_network.py").is_file()
    assert page.kept.trainers == ()


def test_that_a_dropped_folder_is_added_by_enter(opened, tmp_path, drop):
    place = make_checkout(tmp_path / "elsewhere" / "dropped")
    page = opened()
    drop(page.find("settings-trainers"), [place])
    field = page.find("add-trainer-folder")
    assert field.text() == str(place)
    page.qtbot.keyClick(field, Qt.Key.Key_Return)
    page.qtbot.waitUntil(lambda: page.sees("trainer-used"), timeout=20_000)
    assert page.kept.trainers[0].path == str(place)


def test_that_a_wrong_folder_is_refused_with_its_reason_and_stays_to_be_mended(opened, tmp_path):
    page = opened()
    page.type("add-trainer-folder", str(tmp_path))
    page.click("add-trainer-add")
    page.qtbot.waitUntil(lambda: page.sees("settings-trouble"))
    assert "train_network.py" in page.text("settings-trouble")
    assert page.find("add-trainer-folder").text() == str(tmp_path)
    assert page.find("add-trainer-add").isEnabled()
    assert page.kept.trainers == ()


def test_that_a_trainer_without_python_leads_to_naming_it(opened, machine):
    make_checkout(machine / "sd-scripts", python=False)
    page = opened()
    assert not page.sees("trainer-use", "trainer-sd-scripts")
    page.click("trainer-python", "trainer-sd-scripts")
    assert page.find("add-trainer-folder").text() == str(machine / "sd-scripts")
    page.type("add-trainer-python", sys.executable)
    page.click("add-trainer-add")
    page.qtbot.waitUntil(lambda: page.sees("trainer-used", "trainer-sd-scripts"), timeout=20_000)


class Shower(QObject):
    """Takes what would be shown by the desktop."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []

    @Slot(QUrl)
    def take(self, url: QUrl) -> None:
        self.shown.append(url.toLocalFile())


def test_that_folders_are_shown_by_the_desktop_and_made_first(opened, home):
    shower = Shower()
    QDesktopServices.setUrlHandler("file", shower, "take")
    try:
        page = opened()
        assert page.text("folder-runs") == str(home.runs)
        for name in ("home", "runs", "cache"):
            page.click(f"open-{name}")
    finally:
        QDesktopServices.unsetUrlHandler("file")
    assert [Path(each) for each in shower.shown] == [home.root, home.runs, home.cache]
    assert home.runs.is_dir()


def test_that_the_cache_is_counted_and_cleared_only_after_a_yes(opened, home):
    page = opened()
    # The trainers were found before: what they wrote is part of it.
    (home.cache / "big").mkdir(parents=True)
    (home.cache / "big" / "file").write_bytes(bytes(3 * MIB))
    page.page.hide()
    page.page.show()
    page.qtbot.waitUntil(lambda: "3 MiB" in page.text("cache-size"))
    page.click("clear-cache")
    assert "3 MiB become free" in page.text("ask-clear-cache")
    page.qtbot.keyClick(page.find("ask-clear-cache-no"), Qt.Key.Key_Escape)
    assert not page.sees("ask-clear-cache")
    assert (home.cache / "big" / "file").is_file()
    page.click("clear-cache")
    page.click("ask-clear-cache-yes")
    page.qtbot.waitUntil(lambda: page.text("cache-size") == "empty")
    assert list(home.cache.iterdir()) == []
    assert not page.find("clear-cache").isEnabled()


@pytest.fixture
def no_torch(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Take torch away; what is fetched is written into the list, and it is there again."""
    came: list[str] = []
    monkeypatch.setattr(practice_engine, "own_torch_is_there", lambda: bool(came))
    monkeypatch.setattr(practice_engine, "has_torch", lambda python: False)
    return came


def test_that_torch_is_offered_with_its_size_and_fetched_on_the_click(opened, no_torch, monkeypatch):
    def fetch(_home: Home, progress, cancelled) -> None:
        progress("fetching torch", 50_000, 200_000)
        no_torch.append("torch")

    monkeypatch.setattr(torch_fetch, "fetch_torch", fetch)
    page = opened()
    assert "needs torch" in page.text("torch-missing")
    assert "will be fetched" in page.text("torch-missing")
    assert not no_torch
    page.click("fetch-torch")
    page.qtbot.waitUntil(lambda: not page.sees("torch-missing"), timeout=20_000)
    assert no_torch == ["torch"]
    page.settle()


def test_that_a_trainers_torch_is_borrowed_to_practise_and_none_need_be_fetched(
    opened, machine, no_torch, monkeypatch
):
    place = make_checkout(machine / "sd-scripts")
    monkeypatch.setattr(practice_engine, "has_torch", lambda python: place in Path(python).parents)
    monkeypatch.setattr(practice_engine, "require_torch", lambda install, facts: None)
    page = opened()
    page.qtbot.waitUntil(lambda: page.sees("torch-missing"), timeout=20_000)
    assert f"borrow the torch of {place}" in page.text("torch-missing")
    assert "none now" in page.text("torch-missing")
    assert page.sees("fetch-torch")


def test_that_fetching_torch_tells_how_far_it_is_and_can_be_ended(opened, no_torch, monkeypatch):
    ended: list[str] = []

    def fetch(_home: Home, progress, cancelled) -> None:
        progress("fetching torch", 50_000, 200_000)
        while not cancelled():
            pass
        ended.append("yes")
        raise Cancelled

    monkeypatch.setattr(torch_fetch, "fetch_torch", fetch)
    page = opened()
    page.click("fetch-torch")
    page.qtbot.waitUntil(lambda: page.sees("torch-busy") and "50 MB of 200 MB" in page.text("torch-busy"))
    (cancel,) = [each for each in page.find("torch-busy").findChildren(QPushButton) if each.isVisible()]
    page.qtbot.mouseClick(cancel, Qt.MouseButton.LeftButton)
    page.settle()
    assert ended
    assert not page.sees("torch-busy")
    assert page.sees("fetch-torch")


def test_that_torch_that_could_not_be_fetched_says_why_and_can_be_tried_again(opened, no_torch, monkeypatch):
    def fetch(*_words: object) -> None:
        raise TorchNotFetched("no-network", log=Path("pip.log"))

    monkeypatch.setattr(torch_fetch, "fetch_torch", fetch)
    page = opened()
    page.click("fetch-torch")
    page.qtbot.waitUntil(lambda: "no network" in page.text("torch-missing"))
    assert "pip.log" in page.text("torch-missing")
    assert page.find("fetch-torch").text() == "Try again"


@pytest.mark.parametrize(
    ("width", "height", "percent"), [(1012, 620, 100), (1012, 620, 150), (1832, 1000, 100)]
)
def test_that_nothing_is_cut_in_a_long_language(
    opened, machine, theme, pseudo_language, width, height, percent, no_torch
):
    make_checkout(machine / "sd-scripts")
    theme.set_text_percent(percent)
    page = opened()
    page.page.resize(width, height)
    page.settle()
    for button in page.page.findChildren(QPushButton):
        if button.isVisible():
            assert button.width() >= button.minimumSizeHint().width(), button.text()
            assert button.height() >= button.minimumSizeHint().height(), button.text()
    for label in page.page.findChildren(QLabel):
        if label.isVisible() and label.wordWrap():
            assert label.height() >= label.heightForWidth(label.width()), label.text()
    content = page.page.findChild(QScrollArea, "settings-scroll")
    assert content.widget().width() <= content.viewport().width()
    theme.set_text_percent(100)


def test_that_what_runs_have_taught_is_told_and_can_be_forgotten(opened, home):
    teach(home, "GPU-1", "NVIDIA RTX 3060")
    (home.memory / "GPU-2.json").write_text("damaged", "utf-8")
    page = opened()
    page.qtbot.waitUntil(lambda: page.sees("learned-GPU-1"))
    page.qtbot.waitUntil(lambda: page.sees("learned-damaged"))
    assert "GPU-2.json" in page.text("learned-damaged"), "it is said that it counts for nothing"
    told = page.text("learned-GPU-1")
    assert "NVIDIA RTX 3060" in told
    assert "from 1 run" in told
    assert "activations of sdxl, checkpointing" in told
    page.click("forget-GPU-1")
    page.click("ask-forget-GPU-1-no")
    assert page.sees("learned-GPU-1")
    page.click("forget-GPU-1")
    page.click("ask-forget-GPU-1-yes")
    page.qtbot.waitUntil(lambda: page.sees("learned-nothing"))
    assert not page.sees("learned-GPU-1")
    assert not list(home.memory.glob("GPU-1.json"))
