"""The Review step: findings at the left; what will happen, memory and command at the right; the launch."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QPushButton, QVBoxLayout, QWidget

from gui.engine.errors import PreflightError
from gui.engine.findings import Fix
from gui.engine.preflight.own_dataset import fix_taken_over
from gui.engine.quantities import GIB
from gui.window.bridges.checks import Checks
from gui.window.bridges.exact_forecast import ExactForecast
from gui.window.bridges.launch_preview import LaunchPreview, launch_preview
from gui.window.bridges.launcher import Launcher
from gui.window.bridges.plan_check import Checked
from gui.window.bridges.queue_adder import QueueAdder
from gui.window.bridges.rehearser import Rehearser
from gui.window.bridges.tasks import Tasks
from gui.window.bridges.tokens import Tokens
from gui.window.models.plan_document import PlanDocument
from gui.window.pages.review.advice_card import AdviceCard
from gui.window.pages.review.command_card import CommandCard
from gui.window.pages.review.findings_panel import FindingsPanel
from gui.window.pages.review.fixing_row import FixingRow
from gui.window.pages.review.forecast_card import ForecastCard
from gui.window.pages.review.launch_bar import LaunchBar
from gui.window.pages.review.memory_card import MemoryCard
from gui.window.pages.review.ready_card import ReadyCard
from gui.window.pages.review.rehearsal_card import RehearsalCard
from gui.window.pages.review.trainer_note import TrainerNote
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.theme.theme import Theme
from gui.window.widgets.layouts import FlowLayout, held
from gui.window.widgets.page import Scroll

if TYPE_CHECKING:
    from gui.window.bridges.hardware import Hardware
    from gui.window.bridges.trainers import Trainers

PREVIEW_KEY = "review-preview"
SIDE_BY_SIDE_PX = 690
"""At a text size of 100 %; narrower, the right column goes below the left one."""
LEFT_SHARE, RIGHT_SHARE = 13, 9
RIGHT_MOST_PX = 420
MOVED_BYTES = GIB // 4
"""When the free memory of a GPU changes by so much, the forecast is held against it anew."""
QWIDGETSIZE_MAX = 16_777_215
"""Qt's own name and number for “as wide as it likes”."""


class ReviewStep(QWidget):
    """The last step of a plan.

    Attributes:
        launch_buttons: The launch buttons; stands at the top of the step until it is put elsewhere.

    Args:
        document: The plan.
        checks: What preflight says about it.
        launcher: Starts it.
        adder: Puts it into the queue.
        trainers: The trainer that is used.
        hardware: Sees the GPUs.
        tokens: Keeps tokens that plans should not hold.
        tasks: For what takes time.
        theme: Tells the text size.
        icons: Draw pictures.
    """

    show_field = Signal(str)
    """The target of a value that the user wants to see."""
    launched = Signal(object)
    """`RunFolder`."""
    queue_wanted = Signal()
    """The user wants to see the queue."""
    settings_wanted = Signal()
    """The user wants to choose a trainer."""

    def __init__(
        self,
        *,
        document: PlanDocument,
        checks: Checks,
        launcher: Launcher,
        adder: QueueAdder,
        trainers: Trainers,
        hardware: Hardware,
        tokens: Tokens,
        tasks: Tasks,
        theme: Theme,
        icons: Icons,
    ) -> None:
        super().__init__()
        self.setObjectName("review-step")
        self._document = document
        self._checks = checks
        self._trainers = trainers
        self._tasks = tasks
        self._theme = theme
        self._launcher = launcher
        self._hardware = hardware
        self._tokens = tokens
        self._gpus: dict[str, int] = {}
        self._preview: LaunchPreview | None = None
        self._launch = LaunchBar(
            document=document,
            checks=checks,
            launcher=launcher,
            adder=adder,
            trainers=trainers,
            icons=icons,
        )
        self._note = TrainerNote(checks, trainers, icons)
        self._fixing = FixingRow(document, checks, tokens, tasks, icons)
        self._findings = FindingsPanel(document)
        self._ready = ReadyCard()
        self._forecast = ForecastCard()
        self._exact = ExactForecast(checks, tasks)
        self._memory = MemoryCard(hardware, self._exact, theme)
        self._advice = AdviceCard()
        self._command = CommandCard(icons)
        self._rehearser = Rehearser(document, trainers, tasks, checks.home, tokens.store)
        self._rehearsal = RehearsalCard(self._rehearser)
        self._forecast.body.addWidget(held(FlowLayout(self._rehearsal.button, self._rehearsal.isolate)))
        self._arrange()
        self._connect()
        self._draw()

    @property
    def launch_buttons(self) -> QWidget:
        """The launch buttons; a page may put them into its own head."""
        return self._launch.buttons

    def _arrange(self) -> None:
        self._left, self._right = QWidget(), QWidget()
        left, right = QVBoxLayout(self._left), QVBoxLayout(self._right)
        for layout, parts in (
            (left, (self._launch, self._rehearsal, self._note, self._fixing, self._ready, self._findings)),
            (right, (self._forecast, self._memory, self._advice, self._command)),
        ):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(Space.M if layout is left else Space.L)
            for part in parts:
                layout.addWidget(part)
        left.addStretch(1)
        right.addStretch(1)
        inner = QWidget()
        self._columns = QBoxLayout(QBoxLayout.Direction.LeftToRight, inner)
        self._columns.setContentsMargins(0, 0, Space.XS, Space.L)
        self._columns.setSpacing(Space.XL)
        self._columns.addWidget(self._left, LEFT_SHARE)
        self._columns.addWidget(self._right, RIGHT_SHARE)
        inner.installEventFilter(self)
        self._scroll = Scroll(inner, name="review-scroll")
        self._top = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._top.setSpacing(Space.M)
        self._top.addWidget(self._fixing.head, 1)
        self._top.addWidget(self.launch_buttons, 0, Qt.AlignmentFlag.AlignRight)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.M)
        layout.addLayout(self._top)
        layout.addWidget(self._scroll, 1)

    def _connect(self) -> None:
        self._checks.changed.connect(self._draw)
        self._hardware.sampled.connect(self._gpus_seen)
        self._trainers.changed.connect(self._draw)
        self._document.changed.connect(lambda _targets: self._exact.forget_problem())
        self._advice.wanted.connect(self._take_advice)
        self._rehearser.changed.connect(self._rehearsed)
        self._findings.fix_wanted.connect(self._fixing.apply_one)
        self._findings.field_wanted.connect(self.show_field)
        self._fixing.check_wanted.connect(self._look_again)
        self._note.check_wanted.connect(self._look_again)
        self._note.settings_wanted.connect(self.settings_wanted)
        self._launch.stops_wanted.connect(self._show_top)
        self._launch.launched.connect(self.launched)
        self._launch.queue_wanted.connect(self.queue_wanted)
        self._document.state_changed.connect(self._fixing.show_state)
        self._theme.changed.connect(self._turn)

    def _draw(self) -> None:
        self._launch.show_state()
        if not self.isVisible():
            return  # drawn when it is shown
        report, checked = self._checks.report, self._checks.checked
        self._note.show_state()
        self._fixing.show_state()
        self._findings.show_findings(report.findings if report else ())
        self._set_tab_order()
        quiet = report is not None and all(each.severity == "hint" for each in report.findings)
        self._ready.setVisible(quiet and self._checks.problem is None and self._trainers.current is not None)
        self._forecast.show_forecast(checked, self._preview)
        self._show_memory(checked)
        if not self._checks.busy:
            self._ask_preview()

    def _rehearsed(self) -> None:
        """What a rehearsal has measured makes the forecast better."""
        if self._rehearser.result is not None and not self._rehearser.is_older:
            self._checks.check_again()

    def _show_memory(self, checked: Checked | None) -> None:
        """Show the forecast and what helps."""
        self._memory.show_checked(checked, self._document.plan)
        estimate = checked.estimate if checked else None
        sets = (estimate.advice, estimate.left_over) if estimate else ()
        targets = {target for advised in sets if advised for target in advised.changes}
        now = {target: self._document.effective(target).value for target in targets}
        self._advice.show_estimate(estimate, now, editable=not self._document.read_only)

    def _take_advice(self, changes: Mapping[str, Any], words: str) -> None:
        """Change the plan as advised, in one step that undo takes back."""
        checked = self._checks.checked
        fix: Fix | None = Fix(id="advice", label=words, changes=dict(changes), safe=False)
        if fix is not None and checked is not None and checked.view is not None:
            fix = fix_taken_over(fix, self._document.plan, checked.view)
        if fix is not None:
            self._fixing.apply_advice(fix)

    def _set_tab_order(self) -> None:
        """Let Tab go as the eye does; cards come and go, and Qt would put new ones at the end."""
        order: list[QWidget] = [self._fixing.again, self._fixing.apply]
        for part in (self.launch_buttons, self._launch, self._note, self._fixing):
            if self.isAncestorOf(part):  # a page may have put the launch into its own head
                order += part.findChildren(QPushButton)
        order += [
            *self._rehearsal.focus_order(),
            *self._findings.focus_order(),
            self._rehearsal.button,
            self._rehearsal.isolate,
            *self._memory.focus_order(),
            *self._advice.focus_order(),
        ]
        order += self._command.focus_order()
        for before, after in pairwise(order):
            QWidget.setTabOrder(before, after)

    def _gpus_seen(self) -> None:
        """What the machine has is asked again when there are other GPUs, or much more or less is free."""
        seen = {gpu.uuid: gpu.free_bytes or 0 for gpu in self._hardware.gpus}
        moved = [abs(free - self._gpus.get(uuid, 0)) for uuid, free in seen.items()]
        if seen.keys() != self._gpus.keys() or max(moved, default=0) >= MOVED_BYTES:
            self._gpus = seen
            if self.isVisible():
                self._checks.refresh_machine()

    def _ask_preview(self) -> None:
        check, home, store = self._checks.snapshot(), self._checks.home, self._tokens.store
        self._tasks.run(
            lambda _handle: launch_preview(check, home, store),
            self._show_preview,
            self._preview_failed,
            key=PREVIEW_KEY,
        )

    def _show_preview(self, preview: LaunchPreview | None) -> None:
        self._preview = preview
        self._command.show_preview(preview)
        self._forecast.show_forecast(self._checks.checked, preview)

    def _preview_failed(self, error: PreflightError) -> None:
        self._show_preview(LaunchPreview(reason=str(error)))

    def _look_again(self) -> None:
        self._checks.refresh_machine()
        self._checks.check_again()

    def _show_top(self) -> None:
        """Scroll to what is in the way, and give the keyboard to the first way out."""
        self._scroll.verticalScrollBar().setValue(0)
        first = self._findings.first_card()
        if first is not None and not self._launch.ask.isVisibleTo(self):
            first.focus_first()

    def _turn(self) -> None:
        """Set things beside each other where there is room, else below each other."""
        beside, below = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        parts = (self._left, self._right)
        needed = sum(part.minimumSizeHint().width() for part in parts) + Space.XL + Space.L
        wide = self.width() >= max(needed, self._theme.px(SIDE_BY_SIDE_PX))
        self._columns.setDirection(beside if wide else below)
        self._right.setMaximumWidth(self._theme.px(RIGHT_MOST_PX) if wide else QWIDGETSIZE_MAX)
        heads = (self._fixing.head, self.launch_buttons)
        room = sum(part.sizeHint().width() for part in heads) + Space.M
        self._top.setDirection(beside if wide or self.width() >= room else below)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Find room for both columns when what is in them has changed."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._turn()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Find room for both columns."""
        super().resizeEvent(event)
        self._turn()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Files and GPUs may have changed since the page was left."""
        super().showEvent(event)
        self._launcher.get_ready()
        self._look_again()
        self._draw()
