"""Launch safely, or later by the queue: the buttons, the yes that dangers need, and what is in the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.engine.errors import PreflightError
from gui.engine.findings import Finding
from gui.engine.runs.queue_foresight import PASSING
from gui.engine.texts import _, ngettext
from gui.window.bridges.checks import Checks
from gui.window.bridges.launcher import Launcher
from gui.window.bridges.queue_adder import Added, QueueAdder, Refusal
from gui.window.models.danger_words import danger_lines, launch_question, titles_of
from gui.window.models.plan_document import PlanDocument
from gui.window.pages.review.words import headline
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.ask import Ask
from gui.window.widgets.banner import Banner
from gui.window.widgets.buttons import Button
from gui.window.widgets.layouts import FlowLayout
from gui.window.widgets.styled import style

if TYPE_CHECKING:
    from gui.window.bridges.trainers import Trainers


class LaunchBar(QWidget):
    """The messages of a launch; its buttons are in ``buttons``, which may stand elsewhere.

    Args:
        document: Is launched.
        checks: Know whether it can be.
        launcher: Launches.
        adder: Puts it into the queue.
        trainers: The trainer that is used.
        icons: Draw pictures.
    """

    stops_wanted = Signal()
    """The user has to see what stops the run."""
    launched = Signal(object)
    """`RunFolder`."""
    queue_wanted = Signal()
    """The user wants to see the queue."""

    def __init__(
        self,
        *,
        document: PlanDocument,
        checks: Checks,
        launcher: Launcher,
        adder: QueueAdder,
        trainers: Trainers,
        icons: Icons,
    ) -> None:
        super().__init__()
        self._document = document
        self._checks = checks
        self._launcher = launcher
        self._adder = adder
        self._trainers = trainers
        self._queues = False
        self._go: Callable[[tuple[str, ...]], None] = lambda _accepted: None
        self._dangers: tuple[Finding, ...] = ()
        self._yeses: tuple[str, ...] = ()
        self._make_actions(icons)
        self.banner = Banner(icons, "bad", name="launch-banner")
        self._close = Button(_("Close"), "link", name="close-launch-banner")
        self._close.clicked.connect(self.clear)
        self._show_queue = Button(_("Show the queue"), compact=True, name="launch-show-queue")
        self._show_queue.clicked.connect(self.queue_wanted)
        self.banner.set_buttons(self._show_queue, self._close)
        self.banner.hide()
        self.ask = Ask("", "", _("Launch all the same"), _("Not now"), name="ask-dangers")
        self.ask.hide()
        self.ask.yes.connect(self._accepted)
        self.ask.no.connect(self.clear)
        self.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.S)
        layout.addWidget(self.banner)
        layout.addWidget(self.ask)
        launcher.changed.connect(self.show_state)
        launcher.launched.connect(self._launched)
        launcher.refused.connect(self._refused)
        launcher.failed.connect(self._failed)
        adder.changed.connect(self.show_state)
        adder.added.connect(self._added)
        adder.refused.connect(self._not_added)
        adder.failed.connect(lambda origin, error: self._failed(error) if origin is None else None)
        document.opened.connect(self.clear)
        document.changed.connect(self._changed)
        self.show_state()

    def _make_actions(self, icons: Icons) -> None:
        self.buttons = QWidget()
        self.buttons.setObjectName("launch-actions")
        self.practise = Button(_("Practise on the CPU"), name="practise-plan", shortcut="Alt+P")
        self.practise.set_tip(
            _("Trains with the small practice trainer: it shows how all works; its LoRA is of no use")
        )
        self.practise.clicked.connect(lambda: self._launch(practice=True))
        self.cancel = Button(_("Cancel"), name="cancel-launch")
        self.cancel.clicked.connect(self._call_off)
        self.launch = Button(_("Launch safely"), "primary", name="launch-safely", shortcut="Alt+L")
        self.launch.clicked.connect(lambda: self._launch(practice=False))
        self.enqueue = Button(_("Add to queue"), name="add-to-queue", shortcut="Alt+Q")
        self.enqueue.set_tip(
            _("Trains it in its turn, without anybody there; it is checked again before it starts")
        )
        self.enqueue.clicked.connect(self._enqueue)
        actions = (self.practise, self.cancel, self.enqueue, self.launch)
        self.buttons.setLayout(FlowLayout(*actions, spacing=Space.M, to_right=True))

    def show_state(self) -> None:
        """Show whether the plan can be launched now, and with which trainer."""
        starting, trainer = self._launcher.starting, self._trainers.current
        self.launch.setText(_("Starting …") if starting else _("Launch safely"))
        self.launch.setEnabled(not starting)
        self.cancel.setVisible(starting)
        adding = self._adder.left > 0
        self.enqueue.setText(_("Adding …") if adding else _("Add to queue"))
        self.enqueue.setEnabled(not starting and not adding)
        if not starting:
            self.cancel.setEnabled(True)
        blocked = bool(self._stops()) or (trainer is None and not self._plan_names_trainer())
        style(self.launch, blocked=blocked and not starting)
        self.launch.set_tip(self._tip(trainer is None))
        self.practise.setVisible(not starting and (trainer is None or not trainer.facts.torch))

    def clear(self) -> None:
        """Take all messages away."""
        self.banner.hide()
        self.ask.hide()
        self.hide()

    def _changed(self, _targets: object) -> None:
        self.clear()

    def _plan_names_trainer(self) -> bool:
        checked = self._checks.checked
        return checked is not None and checked.trainer is not None

    def _tip(self, no_trainer: bool) -> str:
        stops = self._stops()
        if stops:
            return headline(stops)
        if no_trainer and not self._plan_names_trainer():
            return _("There is no trainer yet")
        return _("Checks all once more, starts the trainer under supervision, and opens the run")

    def _stops(self) -> list[Finding]:
        report = self._checks.report
        return [each for each in report.findings if each.severity == "stop"] if report else []

    def _launch(self, *, practice: bool) -> None:
        """Launch, or say what is in the way."""
        self._queues = False
        stops = [] if practice else self._stops()
        self._begin(
            lambda ids: self._launcher.launch(self._document, ids, practice), stops, practice=practice
        )

    def _enqueue(self) -> None:
        """Put it into the queue, or say what would be in the way whenever its turn comes."""
        self._queues = True
        stops = [each for each in self._stops() if each.id not in PASSING]
        self._begin(lambda ids: self._adder.add_open(self._document, ids), stops, practice=False)

    def _begin(
        self, go: Callable[[tuple[str, ...]], None], stops: Sequence[Finding], *, practice: bool
    ) -> None:
        self.clear()
        self._go, self._yeses = go, ()
        if stops:
            self._show_stops(stops)
            return
        if not practice and self._trainers.current is None and self._trainers.busy:
            self._say_wait()
            return
        report = self._checks.report
        dangers = [each for each in report.findings if each.severity == "danger"] if report else []
        if self._queues:
            dangers = [each for each in dangers if each.id not in PASSING]
        if dangers:
            self._ask_about(dangers)
        else:
            go(())

    def _call_off(self) -> None:
        if not self._launcher.cancel():
            self.cancel.setEnabled(False)  # it begins; the run's page stops it

    def _show_stops(self, stops: Sequence[Finding]) -> None:
        self.banner.show_words(headline(stops), titles_of(stops), "bad")
        self._show_banner()
        self.stops_wanted.emit()

    def _say_wait(self) -> None:
        self.banner.show_words(
            _("The trainer is still being looked at."), _("Press again in a moment."), "accent"
        )
        self._show_banner()

    def _ask_about(self, dangers: Sequence[Finding]) -> None:
        self._dangers = tuple(dangers)
        question = launch_question(dangers)
        if self._queues:
            text = ngettext(
                "One thing is likely to go wrong. Add it to the queue all the same?",
                "{count} things are likely to go wrong. Add it to the queue all the same?",
                len(dangers),
            )
            question = text.format(count=len(dangers))
        self.ask.accept.setText(_("Add all the same") if self._queues else _("Launch all the same"))
        self.show()
        self.ask.ask(question, danger_lines(dangers))
        self.stops_wanted.emit()
        self.ask.refuse.setFocus()

    def _accepted(self) -> None:
        """Go on with all that was said yes to: the last look may have found more than the first."""
        self._yeses = tuple(dict.fromkeys((*self._yeses, *(each.id for each in self._dangers))))
        self._go(self._yeses)

    def _refused(self, findings: Sequence[Finding]) -> None:
        """The last look before the launch saw more than the page: a file is gone, say."""
        if all(each.severity == "danger" for each in findings):
            self._ask_about(findings)
        else:
            stops = [each for each in findings if each.severity == "stop"]
            self._show_stops(stops or findings)
        self._checks.check_again()

    def _failed(self, error: PreflightError) -> None:
        title = _("Nothing was put into the queue.") if self._queues else _("Nothing was started.")
        self.banner.show_words(title, str(error), "bad")
        self._show_banner()
        self.stops_wanted.emit()

    def _added(self, added: Added) -> None:
        """Say which number the open plan has now."""
        if added.origin is not None:
            return
        text = _("“{name}” is number {number} in the queue.")
        title = text.format(name=added.item.name, number=added.item.number)
        passing = _("As things are now it would be refused:") + "\n" + titles_of(added.passing)
        self.banner.show_words(title, passing if added.passing else "", "warn" if added.passing else "good")
        self._show_banner(queue=True)

    def _not_added(self, refusal: Refusal) -> None:
        if refusal.origin is None:
            self._refused(refusal.findings)

    def _show_banner(self, *, queue: bool = False) -> None:
        self._show_queue.setVisible(queue)
        self.banner.show()
        self.show()

    def _launched(self, run: object) -> None:
        self.clear()
        self.launched.emit(run)
