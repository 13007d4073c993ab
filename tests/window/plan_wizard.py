"""The wizard with all its parts, for tests that click through it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import sight
from plan_window import OneTrainer
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from gui.engine.hardware.gpu import GpuDevice, GpuSample
from gui.engine.paths import Home
from gui.engine.plan.drafts import Drafts
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.plan.recents import Recents
from gui.engine.token_store import TokenStore
from gui.window.bridges.checks import Checks
from gui.window.bridges.tasks import Tasks
from gui.window.bridges.tokens import Tokens
from gui.window.models.plan_document import PlanDocument
from gui.window.pages.plan.plan_page import PlanPage
from gui.window.theme.icons import Icons
from gui.window.theme.theme import Theme

GIB = 2**30


class Gpus(QObject):
    """The hardware of a machine, as the window's bridge tells it."""

    sampled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.gpus: tuple[GpuSample, ...] = ()
        self.devices: tuple[GpuDevice, ...] = ()
        self.problem = "no NVIDIA GPU seen: there is no driver"

    def plug_in(self, *cards: tuple[str, float, str]) -> None:
        """Have GPUs: the name, the memory in GiB, the compute capability of each."""
        self.problem = ""
        self.devices = tuple(
            GpuDevice(index=place, uuid=f"GPU-{place}", name=name, compute_capability=capability)
            for place, (name, _gib, capability) in enumerate(cards)
        )
        self.gpus = tuple(
            GpuSample(
                index=place,
                uuid=f"GPU-{place}",
                name=name,
                free_bytes=int((gib - 1) * GIB),
                total_bytes=int(gib * GIB),
            )
            for place, (name, gib, _capability) in enumerate(cards)
        )
        self.sampled.emit()


class Table(QLabel):
    """Stands where the table of all arguments is."""

    def __init__(self) -> None:
        super().__init__("all arguments")
        self.asked: list[str] = []

    def show_argument(self, name: str) -> None:
        self.asked.append(name)


class Wizard:
    """The page and what it stands on; finds widgets by name, and clicks and types as a user does."""

    def __init__(
        self,
        qtbot: QtBot,
        home: Home,
        tasks: Tasks,
        theme: Theme,
        icons: Icons,
        *,
        review: QLabel | None = None,
    ) -> None:
        self.qtbot, self.home, self.tasks = qtbot, home, tasks
        self.document = PlanDocument(
            drafts=Drafts(home), recents=Recents(home), library=PresetLibrary(home.presets)
        )
        self.trainers = OneTrainer(None)
        self.hardware = Gpus()
        self.checks = Checks(self.document, self.trainers, tasks, home)
        self.review, self.arguments = review or QLabel("the review"), Table()
        self.page = PlanPage(
            document=self.document,
            trainers=self.trainers,
            hardware=self.hardware,
            checks=self.checks,
            tokens=Tokens(TokenStore(home), tasks),
            tasks=tasks,
            theme=theme,
            icons=icons,
            home=home,
            review=self.review,
            arguments=self.arguments,
        )

    def close(self) -> None:
        self.checks.close()
        self.document.close()

    def find(self, name: str, kind: type[QWidget] = QWidget) -> QWidget:
        """Return the widget of a name that is not about to be deleted."""
        sight.settle()
        found = [each for each in self.page.findChildren(kind, name) if each.window() is self.page]
        assert found, f"no {name}; there are {sorted(self.names())}"
        return found[-1]

    def names(self) -> set[str]:
        return {each.objectName() for each in self.page.findChildren(QWidget) if each.objectName()}

    def shown(self, name: str) -> bool:
        return sight.sees(self.page, name)

    def click(self, name: str) -> None:
        widget = self.find(name)
        assert widget.isVisible(), name
        assert widget.isEnabled(), name
        if isinstance(widget, QAbstractButton):
            self.qtbot.mouseClick(widget, Qt.MouseButton.LeftButton, pos=widget.rect().center())
        else:
            self.qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)

    def type(self, name: str, text: str) -> None:
        """Put another text into a field, and leave it with Enter."""
        field = self.find(name)
        assert isinstance(field, QLineEdit)
        assert field.isVisible(), name
        field.setFocus()
        field.selectAll()
        QTest.keyClick(field, Qt.Key.Key_Delete)
        QTest.keyClicks(field, text)
        QTest.keyClick(field, Qt.Key.Key_Return)

    def choose(self, name: str, words: str) -> None:
        """Choose words in a list with the keyboard."""
        box = self.find(name, QComboBox)
        assert isinstance(box, QComboBox)
        place = box.findText(words)
        assert place >= 0, words
        box.setFocus()
        QTest.keyClick(box, Qt.Key.Key_Home)
        for _step in range(place):
            QTest.keyClick(box, Qt.Key.Key_Down)

    def text(self, name: str) -> str:
        widget = self.find(name)
        assert isinstance(widget, QLineEdit | QLabel | QAbstractButton)
        return widget.text()

    def words(self, part: QWidget | None = None) -> str:
        """Return all text of labels and buttons that is visible."""
        sight.settle()
        labels: Sequence[QWidget] = (part or self.page).findChildren(QWidget)
        texts = [
            each.text()
            for each in labels
            if isinstance(each, QLabel | QAbstractButton) and each.isVisibleTo(self.page)
        ]
        return "\n".join(texts).replace("\u200b", "")

    def settle(self) -> None:
        """Wait until nothing is being checked or read."""
        self.qtbot.waitUntil(lambda: not self.tasks.busy and not self.checks.busy)

    def wait_for(self, words: str) -> None:
        self.qtbot.waitUntil(lambda: words in self.words())


def make_folder(folder: Path, images: int, *, captions: int = 0, ending: str = ".txt") -> Path:
    """Draw images, and captions for the first of them."""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    for number in range(images):
        Image.new("RGB", (96 + number, 80), (number * 9 % 255, 120, 90)).save(folder / f"{number:02}.png")
        if number < captions:
            (folder / f"{number:02}{ending}").write_text("sks, a picture", encoding="utf-8")
    return folder
