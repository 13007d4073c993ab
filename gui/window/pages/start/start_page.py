"""The first page: how to begin, and what was done lately."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gui.engine.errors import PreflightError
from gui.engine.paths import Home
from gui.engine.plan.recents import Recents
from gui.engine.texts import _
from gui.window.bridges.hardware import Hardware
from gui.window.bridges.practice import Practice
from gui.window.bridges.run_list import RunList
from gui.window.bridges.tasks import Tasks
from gui.window.bridges.trainers import Trainers
from gui.window.pages.start.door import Doors
from gui.window.pages.start.install_guide import InstallGuide
from gui.window.pages.start.lately import Lately
from gui.window.pages.start.practice_door import PracticeDoor
from gui.window.pages.start.setup_door import SetupDoor
from gui.window.pages.start.trainer_door import TrainerDoor
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.labels import Label
from gui.window.widgets.page import Scroll

WIDEST = 920
"""Of the content, pixels at a text size of 100 %."""


class StartPage(QWidget):
    """Three doors, and what was done lately.

    Args:
        trainers: Those of this machine.
        hardware: Its GPUs.
        runs: Its runs.
        recents: Plans that were open.
        tasks: For everything that takes time.
        icons: With the theme.
        home: Where the sample project goes.
    """

    new_plan = Signal()
    practise = Signal(str)
    """The sample project's plan, ready to be launched."""
    open_setup = Signal(str, object)
    """A file that can be read as a plan, and the training script that it is for, or None."""
    setup_read = Signal(object)
    """`PlanInput`: what was brought, as a plan."""
    open_run = Signal(object)
    """`Path` of a run's folder."""

    def __init__(
        self,
        *,
        trainers: Trainers,
        hardware: Hardware,
        runs: RunList,
        recents: Recents,
        tasks: Tasks,
        icons: Icons,
        home: Home,
    ) -> None:
        super().__init__()
        self.setObjectName("start-page")
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._theme = icons.theme
        self._trainers = trainers
        self._practice = Practice(home, trainers, tasks)
        self._trainer_door = TrainerDoor(trainers)
        self._practice_door = PracticeDoor(self._practice, trainers, hardware)
        self._setup_door = SetupDoor(trainers, tasks)
        self._guide = InstallGuide(icons)
        self._guide.hide()
        self._lately = Lately(runs, recents, tasks)
        self._inner = QWidget()
        self._arrange(icons)
        self._connect()
        self._measure()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Look at the plans again: others may have been open since."""
        super().showEvent(event)
        self.setFocus(Qt.FocusReason.OtherFocusReason)  # from here Tab leads to the first door
        self._lately.look()

    def _arrange(self, icons: Icons) -> None:
        words = QVBoxLayout(self._inner)
        words.setContentsMargins(0, Space.XXL + Space.M, 0, Space.XXL)
        words.setSpacing(Space.XS)
        words.addWidget(Label(_("Train without losing a night"), "hero"))
        words.addWidget(
            Label(_("Everything that can be checked is checked before your GPU starts."), "muted")
        )
        words.addSpacing(Space.XL)
        words.addWidget(Doors(icons.theme, self._trainer_door, self._practice_door, self._setup_door))
        words.addSpacing(Space.M)
        words.addWidget(self._guide)
        words.addSpacing(Space.M)
        words.addWidget(self._lately)
        words.addStretch(1)
        content = QWidget()
        middle = QHBoxLayout(content)
        middle.setContentsMargins(Space.XXL, 0, Space.XXL, 0)
        middle.addStretch(1)
        middle.addWidget(self._inner, 1000)
        middle.addStretch(1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        self._scroll = Scroll(content, name="start-scroll")
        whole.addWidget(self._scroll)

    def _connect(self) -> None:
        self._trainer_door.new_plan.connect(self.new_plan)
        self._trainer_door.guide_wanted.connect(self._show_guide)
        self._practice_door.ready.connect(lambda path: self.practise.emit(str(path)))
        self._setup_door.read.connect(self.setup_read)
        self._lately.open_run.connect(self.open_run)
        self._lately.open_plan.connect(lambda path: self.open_setup.emit(path, None))
        self._guide.closed.connect(self._guide.hide)
        self._guide.look_again.connect(self._trainers.start)
        self._guide.folder_chosen.connect(self._add)
        self._trainers.refused.connect(self._refused)
        self._trainers.changed.connect(self._trainers_changed)
        self._theme.changed.connect(self._measure)
        paste = QShortcut(QKeySequence(QKeySequence.StandardKey.Paste), self)
        paste.activated.connect(self._setup_door.paste)

    def _measure(self) -> None:
        self._inner.setMaximumWidth(self._theme.px(WIDEST))

    def _show_guide(self) -> None:
        self._guide.show()
        # Its height is known only after the layout has been made.
        self._inner.layout().activate()  # type: ignore[union-attr]
        if self._scroll.widget() is not None:
            self._scroll.ensureWidgetVisible(self._guide, 0, Space.XL)

    def _add(self, path: str) -> None:
        self._trainers.add(Path(path))

    def _refused(self, error: PreflightError) -> None:
        if self._guide.isVisible():
            self._guide.show_trouble(str(error))

    def _trainers_changed(self) -> None:
        if self._trainers.current is not None:
            self._guide.hide()
