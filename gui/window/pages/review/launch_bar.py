"""Launch safely: the button, the yes that dangers need, and what keeps a run from starting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gui.engine.errors import PreflightError
from gui.engine.findings import Finding
from gui.engine.texts import _, ngettext
from gui.window.bridges.checks import Checks
from gui.window.bridges.launcher import Launcher
from gui.window.models.plan_document import PlanDocument
from gui.window.pages.review.words import headline
from gui.window.theme.icons import Icons
from gui.window.theme.space import Space
from gui.window.widgets.ask import Ask
from gui.window.widgets.banner import Banner
from gui.window.widgets.buttons import Button
from gui.window.widgets.styled import style

if TYPE_CHECKING:
    from gui.window.bridges.trainers import Trainers

MOST_NAMED = 8


class LaunchBar(QWidget):
    """The messages of a launch; its buttons are in ``buttons``, which may stand elsewhere.

    Args:
        document: Is launched.
        checks: Know whether it can be.
        launcher: Launches.
        trainers: The trainer that is used.
        icons: Draw pictures.
    """

    stops_wanted = Signal()
    """The user has to see what stops the run."""
    launched = Signal(object)
    """`RunFolder`."""

    def __init__(
        self,
        document: PlanDocument,
        checks: Checks,
        launcher: Launcher,
        trainers: Trainers,
        icons: Icons,
    ) -> None:
        super().__init__()
        self._document = document
        self._checks = checks
        self._launcher = launcher
        self._trainers = trainers
        self._practice = False
        self._dangers: tuple[Finding, ...] = ()
        self._make_actions(icons)
        self.banner = Banner(icons, "bad", name="launch-banner")
        self._close = Button(_("Close"), "link", name="close-launch-banner")
        self._close.clicked.connect(self.clear)
        self.banner.set_buttons(self._close)
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
        self.practise.clicked.connect(lambda: self._start(practice=True))
        self.cancel = Button(_("Cancel"), name="cancel-launch")
        self.cancel.clicked.connect(self._call_off)
        self.launch = Button(_("Launch safely"), "primary", name="launch-safely", shortcut="Alt+L")
        self.launch.clicked.connect(lambda: self._start(practice=False))
        layout = QHBoxLayout(self.buttons)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(Space.M)
        for button in (self.practise, self.cancel, self.launch):
            layout.addWidget(button)

    def show_state(self) -> None:
        """Show whether the plan can be launched now, and with which trainer."""
        starting, trainer = self._launcher.starting, self._trainers.current
        self.launch.setText(_("Starting …") if starting else _("Launch safely"))
        self.launch.setEnabled(not starting)
        self.cancel.setVisible(starting)
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

    def _start(self, *, practice: bool) -> None:
        """Launch, or say what is in the way."""
        self.clear()
        self._practice = practice
        report = self._checks.report
        stops = self._stops()
        if stops and not practice:
            self._show_stops(stops)
            return
        if not practice and self._trainers.current is None and self._trainers.busy:
            self._say_wait()
            return
        dangers = [each for each in report.findings if each.severity == "danger"] if report else []
        if dangers:
            self._ask_about(dangers)
        else:
            self._launcher.launch(self._document, (), practice)

    def _call_off(self) -> None:
        if not self._launcher.cancel():
            self.cancel.setEnabled(False)  # it begins; the run's page stops it

    def _show_stops(self, stops: Sequence[Finding]) -> None:
        self.banner.show_words(headline(stops), _titles(stops), "bad")
        self.banner.show()
        self.show()
        self.stops_wanted.emit()

    def _say_wait(self) -> None:
        self.banner.show_words(
            _("The trainer is still being looked at."), _("Launch again in a moment."), "accent"
        )
        self.banner.show()
        self.show()

    def _ask_about(self, dangers: Sequence[Finding]) -> None:
        self._dangers = tuple(dangers)
        text = ngettext(
            "One thing is likely to go wrong. Launch all the same?",
            "{count} things are likely to go wrong. Launch all the same?",
            len(dangers),
        )
        note = _("Your yes is kept in the run's record.")
        self.show()
        self.ask.ask(text.format(count=len(dangers)), f"{_titles(dangers)}\n{note}")
        self.stops_wanted.emit()
        self.ask.refuse.setFocus()

    def _accepted(self) -> None:
        ids = tuple(dict.fromkeys(each.id for each in self._dangers))
        self._launcher.launch(self._document, ids, self._practice)

    def _refused(self, findings: Sequence[Finding]) -> None:
        """The last look before the launch saw more than the page: a file is gone, say."""
        if all(each.severity == "danger" for each in findings):
            self._ask_about(findings)
        else:
            stops = [each for each in findings if each.severity == "stop"]
            self._show_stops(stops or findings)
        self._checks.check_again()

    def _failed(self, error: PreflightError) -> None:
        self.banner.show_words(_("Nothing was started."), str(error), "bad")
        self.banner.show()
        self.show()
        self.stops_wanted.emit()

    def _launched(self, run: object) -> None:
        self.clear()
        self.launched.emit(run)


def _titles(findings: Sequence[Finding]) -> str:
    titles = list(dict.fromkeys(f"• {each.title}" for each in findings))
    more = len(titles) - MOST_NAMED
    return "\n".join(titles[:MOST_NAMED] + ([_("and {count} more").format(count=more)] if more > 0 else []))
