"""What preflight says about the plan that is open, kept up to date while it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from gui.engine.errors import PreflightError
from gui.engine.findings import Finding, Severity
from gui.engine.hardware.gpu import GpuMonitor, machine_gpus
from gui.engine.paths import Home
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.preflight.facts import Facts
from gui.window.bridges.files_seen import FilesSeen
from gui.window.bridges.lane import Answer, Lane
from gui.window.bridges.plan_trainer import PlanTrainers
from gui.window.bridges.tasks import TaskHandle, Tasks, UnexpectedFault

if TYPE_CHECKING:
    from gui.engine.hardware.memory.tables import TracedStep
    from gui.engine.preflight.check import Checker
    from gui.engine.preflight.report import CheckReport
    from gui.engine.trainer.installs import TrainerInstall
    from gui.window.bridges.plan_check import Checked, Files, PlanCheck
    from gui.window.bridges.trainers import Trainers
    from gui.window.models.plan_document import PlanDocument

GATHER_MS = 15
"""Changes that come together are checked together."""

LOOK_MS = 45
"""A look at the files may take this long; then the answer without them comes first."""

MOST_TRACED = 20
"""So many exact forecasts are remembered while the window is open."""

FRESH_SECONDS = 3.0
"""What was seen of the files counts for so long while other values change."""


class Checks(QObject):
    """Checks the open plan whenever it changes; never in the GUI thread, and never shows what is stale.

    It begins when somebody first asks for the report: the first page shows without it, and without the
    many modules that rules are. They are imported in the thread that checks.

    What the machine has is asked once, and again only by `refresh_machine`. Until its answer the GPUs
    count as unknown. A folder that answers slowly holds nothing up: what can be said without it is said.

    Args:
        document: The open plan.
        trainers: The trainer that would run it.
        tasks: For what is asked once.
        home: Holds the user's presets.
        gpus: Looks at the GPUs.
    """

    changed = Signal()
    """Another report, or `busy` or `looking` is other than before."""

    def __init__(
        self,
        document: PlanDocument,
        trainers: Trainers,
        tasks: Tasks,
        home: Home,
        *,
        gpus: GpuMonitor | None = None,
    ) -> None:
        super().__init__()
        self._document = document
        self._trainers = trainers
        self._tasks = tasks
        self._home = home
        self._library = PresetLibrary(home.presets)
        self._plan_trainers = PlanTrainers(home)
        self._gpus = gpus or machine_gpus()
        self._seen = FilesSeen()
        self._traced: tuple[tuple[TrainerInstall, TracedStep], ...] = ()
        self._machine = Facts()
        self._checked: Checked | None = None
        self._problem: PreflightError | None = None
        self._number = 0
        self._answered = 0
        self._awake = False
        self._look_again = True
        self._looks = Lane("check files")
        self._judges = Lane("check")
        self._looks.answered.connect(self._complete)
        self._judges.answered.connect(self._meanwhile)
        self._gather = self._timer(GATHER_MS, self._begin)
        self._patience = self._timer(LOOK_MS, self._without_files)
        document.changed.connect(self._plan_changed)
        document.opened.connect(self._opened)
        trainers.changed.connect(self.check_again)

    def _wake(self) -> None:
        if not self._awake:
            self._awake = True
            self.refresh_machine()
            self.check_again()

    def _timer(self, milliseconds: int, then: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(milliseconds)
        timer.timeout.connect(then)
        return timer

    @property
    def report(self) -> CheckReport | None:
        """The newest answer; None before the first."""
        checked = self.checked
        return checked.report if checked else None

    @property
    def checked(self) -> Checked | None:
        """The newest answer with what it was about."""
        self._wake()
        return self._checked

    @property
    def busy(self) -> bool:
        """Whether a newer answer than the one shown is on its way."""
        return self._answered != self._number

    @property
    def looking(self) -> bool:
        """Whether the answer shown waits for a look at the files."""
        return self.busy and self._checked is not None and not self._checked.files_known

    @property
    def problem(self) -> PreflightError | None:
        """Why there is no answer to the newest plan."""
        return self._problem

    @property
    def machine(self) -> Facts:
        """What is known of this machine."""
        return self._machine

    @property
    def home(self) -> Home:
        """Where runs are kept."""
        return self._home

    def at(self, target: str) -> list[Finding]:
        """Return the findings about one argument or place, the worst first.

        Args:
            target: In the words of fixes; what lies below it counts too, what lies around it does not.
        """
        return self.among((target,))

    def among(self, targets: Iterable[str]) -> list[Finding]:
        """Return the findings about any of several places, the worst first."""
        wanted = tuple(targets)
        findings = self.report.findings if self.report else ()
        return [finding for finding in findings if _concerns(finding, wanted)]

    def worst(self, targets: Iterable[str]) -> Severity | None:
        """Return how bad the worst finding about some places is; None where all is well."""
        return next((each.severity for each in self.among(targets)), None)

    def checker(self) -> Checker:
        """Return what checks what becomes of the plan by fixes; for a thread."""
        return self.snapshot().checker()

    def check_again(self) -> None:
        """Look at the plan's files again, and check."""
        self._look_again = True
        self._next()

    def refresh_machine(self) -> None:
        """Ask again what this machine has, and check by it."""
        self._awake = True
        self._tasks.run(self._ask_machine, self._machine_known, self._failed, key="checks-machine")

    def use_traced(self, install: TrainerInstall, traced: TracedStep) -> None:
        """Forecast memory by a training that was traced for the plan.

        Args:
            install: The trainer in which it was; it tells nothing of another one.
            traced: What came of it.
        """
        self._traced = (*self._traced, (install, traced))[-MOST_TRACED:]
        self._next()

    def close(self) -> None:
        """Check no more."""
        self._gather.stop()
        self._patience.stop()
        self._looks.close()
        self._judges.close()

    def _ask_machine(self, _handle: TaskHandle) -> Facts:
        from gui.engine.preflight.collect import Collector
        from gui.engine.runs.neighbours import living_runs

        return Collector(gpus=self._gpus, runs=living_runs).machine()

    def _machine_known(self, machine: Facts) -> None:
        if machine != self._machine:
            self._machine = machine
            self._next()

    def _opened(self) -> None:
        self._checked = None
        self._problem = None
        self.check_again()

    def _plan_changed(self, _targets: object) -> None:
        self._next()

    def _next(self) -> None:
        if not self._awake:
            return
        was_busy = self.busy
        self._number += 1
        if not self._gather.isActive():
            self._gather.start()
        if not was_busy:
            self.changed.emit()

    def snapshot(self) -> PlanCheck:
        """Return the plan as it is now, with what is known; for a thread."""
        return self._maker()()

    def _maker(self) -> Callable[[], PlanCheck]:
        """Take what is so now; what is returned makes the check of it, in any thread."""
        parts: dict[str, Any] = {
            "plan": self._document.plan,
            "base": self._document.base,
            "trainers": self._plan_trainers,
            "current": self._trainers.current,
            "bundled": self._trainers.catalogue,
            "gpus": self._gpus,
            "machine": self._machine,
            "library": self._library,
            "seen": self._seen,
            "traced": self._traced,
            "home": self._home,
        }

        def make() -> PlanCheck:
            from gui.engine.hardware.memory.learning import learned
            from gui.window.bridges.plan_check import PlanCheck

            return PlanCheck(**parts, learned=partial(learned, parts["home"]))

        return make

    def _begin(self) -> None:
        files: Files = "look-where-new"
        if self._look_again or self._seen.age_seconds > FRESH_SECONDS:
            files = "look"
        self._ask(self._looks, files)
        self._patience.start()

    def _without_files(self) -> None:
        if self.busy:
            self._ask(self._judges, "recall")

    def _ask(self, lane: Lane, files: Files) -> None:
        make, number = self._maker(), self._number
        lane.ask(lambda: (number, make().check(files)))

    def _complete(self, answer: Answer) -> None:
        if answer.error is not None:
            self._failed(answer.error)
            return
        number, checked = answer.value
        if number == self._number:
            self._patience.stop()
            self._look_again = False
            self._show(number, checked)

    def _meanwhile(self, answer: Answer) -> None:
        if answer.error is not None or not self.busy:
            return  # whatever is wrong comes from the other lane too
        number, checked = answer.value
        if number == self._number:
            self._checked = checked
            self.changed.emit()

    def _show(self, number: int, checked: Checked) -> None:
        self._answered = number
        self._checked = checked
        self._problem = None
        self.changed.emit()

    def _failed(self, error: Exception) -> None:
        self._answered = self._number
        self._problem = error if isinstance(error, PreflightError) else UnexpectedFault(error)
        self.changed.emit()


def _concerns(finding: Finding, targets: tuple[str, ...]) -> bool:
    return any(
        place == target or place.startswith(f"{target}.") for place in finding.arguments for target in targets
    )
