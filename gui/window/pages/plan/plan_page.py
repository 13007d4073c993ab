"""The wizard as a page: header, steps at the left, the step that is seen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import QLineEdit, QStackedWidget, QVBoxLayout, QWidget

from gui.engine.paths import Home
from gui.engine.texts import _
from gui.window.bridges.checks import Checks
from gui.window.bridges.tasks import Tasks
from gui.window.bridges.tokens import Tokens
from gui.window.models.plan_document import PlanDocument
from gui.window.pages.plan.careful import CarefulStep
from gui.window.pages.plan.data import DataStep
from gui.window.pages.plan.drops import Dropped, sorted_drop
from gui.window.pages.plan.header import PlanHeader
from gui.window.pages.plan.memory import MemoryStep
from gui.window.pages.plan.notices import Notices
from gui.window.pages.plan.parts import Parts
from gui.window.pages.plan.places import STEPS, StepName, step_of, step_words
from gui.window.pages.plan.plan_files import PlanFiles
from gui.window.pages.plan.saving import SavingStep
from gui.window.pages.plan.states import step_states
from gui.window.pages.plan.step import Step
from gui.window.pages.plan.step_list import StepList
from gui.window.pages.plan.training import TrainingStep
from gui.window.pages.plan.what import WhatStep
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.buttons import Button
from gui.window.widgets.dropping import dropped_paths
from gui.window.widgets.layouts import column, row

if TYPE_CHECKING:
    from gui.window.bridges.hardware import Hardware
    from gui.window.bridges.trainers import Trainers


_STEPS: dict[StepName, type[WhatStep | DataStep | CarefulStep | MemoryStep | TrainingStep | SavingStep]] = {
    "what": WhatStep,
    "data": DataStep,
    "careful": CarefulStep,
    "memory": MemoryStep,
    "training": TrainingStep,
    "saving": SavingStep,
}


class PlanPage(QWidget):
    """The wizard.

    Args:
        document: The open plan.
        trainers: Tell which arguments there are.
        hardware: Tells which GPUs there are.
        checks: What preflight says about the plan.
        tokens: Keeps what plans should not hold.
        tasks: For work that may take long.
        theme: Colours and sizes.
        icons: Pictures.
        home: Where files of unsaved plans go.
        review: The step before launching.
        arguments: The table of all arguments; its ``show_argument(name)`` goes to one.
    """

    review_wanted = Signal()
    """The review is in front now."""

    def __init__(
        self,
        *,
        document: PlanDocument,
        trainers: Trainers,
        hardware: Hardware,
        checks: Checks,
        tokens: Tokens,
        tasks: Tasks,
        theme: Theme,
        icons: Icons,
        home: Home,
        review: QWidget,
        arguments: QWidget,
    ) -> None:
        super().__init__()
        self.setObjectName("plan-page")
        self.setAcceptDrops(True)
        self._parts = Parts(document, trainers, hardware, checks, tokens, tasks, theme, icons, home)
        self._visited: set[StepName] = set()
        self._review, self._arguments = review, arguments
        self.notices = Notices(icons)
        self.files = PlanFiles(self._parts, self.notices, self)
        self.header = PlanHeader(self._parts, self.files)
        self.header.review_wanted.connect(lambda: self.show_step("review"))
        launch = getattr(review, "launch_buttons", None)
        if isinstance(launch, QWidget):
            self.header.take_launch(launch)
        self.step_list = StepList(icons)
        self.step_list.chosen.connect(self._go)
        self._steps: dict[StepName, Step] = {}
        self._current: StepName = "what"
        self.stack = QStackedWidget()
        for page in (review, arguments):
            self.stack.addWidget(page)
        self._arrange()
        self._listen()
        self.show_step("what")
        self.files.look_for_left()

    @property
    def current(self) -> StepName:
        """The step that is seen."""
        return self._current

    def show_step(self, name: str) -> None:
        """Go to a step."""
        step = cast("StepName", name)
        self._parts.document.end_merge()
        self._current = step
        page = self._page(step)
        self.stack.setCurrentWidget(page)
        self.step_list.show_current(step)
        self.header.show_launch(step == "review")
        self._visited.add(step)
        if isinstance(page, Step) and self.isVisible():
            page.come()
        self._show_ways()
        self._show_states()
        if step == "review":
            self.review_wanted.emit()

    def show_field(self, target: str) -> None:
        """Go to the field of a place, wherever it is.

        Args:
            target: In the words of fixes.
        """
        step = step_of(target)
        page = self._page(step)
        if isinstance(page, Step):
            self.show_step(step)
            if page.focus_field(target):
                return
        self.show_step("arguments")
        show_argument = getattr(self._arguments, "show_argument", None)
        if show_argument is not None:
            show_argument(target)

    def open_path(self, path: Path) -> None:
        """Open a plan or a setup."""
        self.files.open(path)

    def take(self, paths: list[str]) -> None:
        """Take what was dropped, whatever it is."""
        self._parts.tasks.run(
            lambda _handle: sorted_drop(paths), self._take, self.files.fail, key="plan-drop"
        )

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Bring the step up to date that was not seen."""
        super().showEvent(event)
        page = self._page(self.current)
        if isinstance(page, Step):
            page.come()
        if self.focusWidget() is None:
            self.step_list.buttons[self.current].setFocus(Qt.FocusReason.OtherFocusReason)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Look what other programs did while the user was there."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow() and self.isVisible():
            self._look_at_disk()
            self._parts.checks.check_again()
            page = self._page(self.current)
            if isinstance(page, Step):
                page.come()

    def _look_at_disk(self) -> None:
        document = self._parts.document
        look = document.disk_look()
        self._parts.tasks.run(
            lambda _handle: look.found(),
            lambda found: document.take_disk_look(look, found),
            key="plan-on-disk",
        )

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 - Qt's name
        """Take files and folders anywhere."""
        if dropped_paths(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802 - Qt's name
        """Take what was dropped."""
        event.acceptProposedAction()
        self.take(dropped_paths(event))

    def _page(self, name: StepName) -> QWidget:
        """Return what is shown for a step; its fields are made when it is first wanted."""
        if name == "review":
            return self._review
        if name == "arguments":
            return self._arguments
        if name not in self._steps:
            self._steps[name] = self._made(_STEPS[name](self._parts))
        return self._steps[name]

    def _made(self, step: Step) -> Step:
        step.refused.connect(self._refuse)
        if isinstance(step, DataStep):
            step.folders_dropped.connect(self.take)
        for field in step.findChildren(QLineEdit):
            field.setAcceptDrops(False)  # or a file's address would be typed into it
        self.stack.addWidget(step)
        return step

    def _refuse(self, words: str) -> None:
        self.notices.tell("error", _("That did not work."), words, "bad")

    def _arrange(self) -> None:
        self._back = Button(_("Back"), shortcut="Alt+Left", name="back")
        self._back.clicked.connect(lambda: self._move(-1))
        self._next = Button(_("Next"), shortcut="Alt+Right", name="next")
        self._next.clicked.connect(lambda: self._move(1))
        ways = row(self._back, None, self._next)
        body = row(spacing=Space.XL)
        body.addWidget(self.step_list, 0, Qt.AlignmentFlag.AlignTop)
        body.addLayout(column(self.stack, ways, spacing=Space.M), 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(Space.XXL, Space.XL, Space.XXL, Space.L)
        layout.setSpacing(Space.L)
        layout.addWidget(self.header)
        layout.addWidget(self.notices)
        layout.addLayout(body, 1)

    def _listen(self) -> None:
        document = self._parts.document
        document.opened.connect(self._opened)
        document.changed.connect(self._show_states)
        document.state_changed.connect(self._show_disk_change)
        self._parts.checks.changed.connect(self._show_states)
        self._parts.trainers.changed.connect(self._use_catalogue)
        self._use_catalogue()

    def _use_catalogue(self) -> None:
        catalogue = self._parts.trainers.catalogue
        if self._parts.document.catalogue is not catalogue:
            self._parts.document.use_catalogue(catalogue)

    def _go(self, name: str) -> None:
        self.show_step(name)

    def _move(self, by: int) -> None:
        place = STEPS.index(self.current) + by
        if 0 <= place < len(STEPS):
            self.show_step(STEPS[place])

    def _opened(self) -> None:
        self._visited = set()
        self.notices.clear()
        self.show_step("what")
        self.files.look_for_left()

    def _show_ways(self) -> None:
        place, words = STEPS.index(self.current), step_words()
        self._back.setVisible(place > 0)
        last = self.current in ("review", "arguments")
        self._next.setVisible(not last)
        if not last:
            self._next.setText(_("Next: {step}").format(step=words[STEPS[place + 1]]))

    def _show_states(self) -> None:
        checks, plan = self._parts.checks, self._parts.document.plan
        self.step_list.show_states(step_states(plan, checks.report, self._visited))

    def _show_disk_change(self) -> None:
        document = self._parts.document
        if not document.disk_changed or document.path is None:
            self.notices.drop("disk")
            return
        path = document.path
        again = Button(_("Read it again"), compact=True, name="read-again")
        again.clicked.connect(lambda: self.open_path(path))
        title = _("Another program changed this plan's file")
        text = _("What you see here is what you opened. Saving asks before it writes over the other version.")
        self.notices.tell("disk", title, text, "warn", (again,))

    def _take(self, dropped: Dropped) -> None:
        if dropped.setups and not dropped.folders and not dropped.models:
            self.open_path(dropped.setups[0])
            return
        if dropped.models:
            self.show_step("what")
            what = cast("WhatStep", self._page("what"))
            for path in dropped.models:
                what.take_model(path)
        if dropped.folders:
            self.show_step("data")
            cast("DataStep", self._page("data")).add_folders(dropped.folders)
