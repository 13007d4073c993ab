"""Works out how a run that has ended can be recovered, and launches what is chosen; off the GUI thread."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, Signal

from gui.engine.errors import PlanNotRunnable, PreflightError, RunRefused
from gui.engine.runs.folder import RunFolder, home_of
from gui.engine.runs.status import RunStatus
from gui.engine.texts import _
from gui.engine.token_store import TokenStore
from gui.window.bridges.tasks import Tasks

if TYPE_CHECKING:
    from gui.engine.runs.recovery_chain import ChainRun
    from gui.engine.runs.recovery_models import Recovery, RecoveryTry

LOOK_KEY, DO_KEY = "run-recovery", "run-recovery-do"

T = TypeVar("T")


class Recoverer(QObject):
    """Looks once a run is over; what it found belongs to that run until another is begun.

    Args:
        tasks: Where files are read and plans are checked.
    """

    found = Signal(object)
    """`Recovery`, or None where there is none to be had."""
    chained = Signal(object)
    """`ChainRun`: the tree of tries that the run belongs to."""
    plan_ready = Signal(object, object)
    """`RunFolder` and the `RecoveryTry` whose plan is to be opened; what must be done before is done."""
    launched = Signal(object)
    """`RunFolder` of the try that runs now."""
    refused = Signal(str)
    """Why nothing was started."""
    doubted = Signal(object, object, object)
    """`RecoveryTry` that was not started, dangers that need a yes first, and ids of those that have one."""
    busy = Signal(bool)

    def __init__(self, tasks: Tasks) -> None:
        super().__init__()
        self._tasks = tasks
        self._run: RunFolder | None = None
        self._asked = self._doing = False

    def begin(self, run: RunFolder) -> None:
        """Begin with another run."""
        self._run, self._asked, self._doing = run, False, False
        self._tasks.cancel(LOOK_KEY)
        self.found.emit(None)
        self.chained.emit(None)

    def look(self, status: RunStatus) -> None:
        """Look for ways on, and for the tries that were made, once it is over."""
        run = self._run
        if run is None or self._asked or status.verdict is None:
            return
        self._asked = True
        self._tasks.run(lambda _handle: _look(run), self._take, self._nothing, key=LOOK_KEY)

    def open_plan(self, chosen: RecoveryTry) -> None:
        """Do what comes before a try, then let its plan be opened."""
        self._do(lambda run: _prepare(run, chosen), self.plan_ready.emit, self._refuse)

    def launch(self, chosen: RecoveryTry, accepted: tuple[str, ...] = ()) -> None:
        """Launch a try at once, through the same checks as any launch.

        Args:
            chosen: Which.
            accepted: Ids of dangers that the user says yes to, beside those of the run that it follows.
        """

        def failed(run: RunFolder, error: PreflightError) -> None:
            dangers = tuple(error.findings) if isinstance(error, PlanNotRunnable) else ()
            if dangers and all(finding.severity == "danger" for finding in dangers):
                self.doubted.emit(chosen, dangers, accepted)
            else:
                self._refuse(run, error)

        self._do(
            lambda run: _launch(run, chosen, accepted), lambda _run, made: self.launched.emit(made), failed
        )

    def _take(self, seen: tuple[Recovery | None, ChainRun | None]) -> None:
        recovery, chain = seen
        self.found.emit(recovery)
        self.chained.emit(chain)

    def _do(
        self,
        work: Callable[[RunFolder], T],
        then: Callable[[RunFolder, T], object],
        otherwise: Callable[[RunFolder, PreflightError], None],
    ) -> None:
        """Do one thing at a time; what comes of it is told while its run is still the one that is shown."""
        run = self._run
        if run is None or self._doing:
            return

        def done(result: T) -> None:
            if self._ended(run):
                then(run, result)

        def failed(error: PreflightError) -> None:
            if self._ended(run):
                otherwise(run, error)

        self._doing = True
        self.busy.emit(True)
        self._tasks.run(lambda _handle: work(run), done, failed, key=DO_KEY)

    def _ended(self, run: RunFolder) -> bool:
        """Take clicks again; return whether it is the run that is still shown."""
        if run != self._run:
            return False
        self._doing = False
        self.busy.emit(False)
        return True

    def _refuse(self, run: RunFolder, error: PreflightError) -> None:
        """Say why nothing was started, and show what can be tried as things are now."""
        words = _refusal(error)
        self.refused.emit(words)

        def take(seen: tuple[Recovery | None, ChainRun | None]) -> None:
            self._take(seen)
            self.refused.emit(words)

        self._tasks.run(lambda _handle: _look(run), take, self._nothing, key=LOOK_KEY)

    def _nothing(self, _error: PreflightError) -> None:
        """What cannot be read offers nothing; the page tells of the trouble."""


def _look(run: RunFolder) -> tuple[Recovery | None, ChainRun | None]:
    """Return the ways on and the tries so far, that of the supervisor itself included."""
    from gui.engine.runs.recovery import recovery_or_none  # heavy, and not for the first paint
    from gui.engine.runs.recovery_chain import chain_of
    from gui.engine.runs.retry_record import await_retry

    await_retry(run)
    home = home_of(run)
    return recovery_or_none(run), None if home is None else chain_of(home, run)


def _refusal(error: PreflightError) -> str:
    if isinstance(error, PlanNotRunnable):
        titles = " ".join(finding.title for finding in error.findings)
        text = _("Nothing was started: {reasons} Open it as a plan to see the ways out.")
        return text.format(reasons=titles)
    return _("Nothing was started: {reason}").format(reason=error)


def _prepare(run: RunFolder, shown: RecoveryTry) -> RecoveryTry:
    """Return a try as it is by now; images that it leaves out are moved: the click on it was the yes to that.

    Raises:
        RunRefused: It is not what it was when it was shown.
    """
    from gui.engine.runs.recovery import still_offered

    chosen = still_offered(run, shown)
    _set_images_aside(run, chosen)
    return chosen


def _set_images_aside(run: RunFolder, chosen: RecoveryTry) -> None:
    from gui.engine.runs.records import Manifest
    from gui.engine.runs.recovery_images import put_bad_aside
    from gui.engine.runs.recovery_plans import run_checker

    home = home_of(run)
    if chosen.set_aside and home is not None:
        checker = run_checker(run, Manifest.read(run.manifest), home)
        put_bad_aside(run, checker, chosen.set_aside)


def _launch(run: RunFolder, shown: RecoveryTry, accepted: tuple[str, ...]) -> RunFolder:
    from gui.engine.runs.records import Manifest
    from gui.engine.runs.retry import prepare_try
    from gui.engine.runs.start import start_supervisor

    home = home_of(run)
    if home is None:
        raise RunRefused(_("the run lies outside of the folder of runs; open its plan instead."))
    chosen, manifest = _prepare(run, shown), Manifest.read(run.manifest)
    tokens = {} if manifest.practice else TokenStore(home).for_run(os.environ)
    prepared = prepare_try(run, manifest, home, chosen, tokens, accepted=accepted)
    start_supervisor(prepared.run, prepared.order)
    return prepared.run
