"""The Run page's ways on after an end: works them out, shows them, and does what is chosen."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from gui.engine.runs.folder import RunFolder
from gui.engine.runs.recovery_chain import ChainRun
from gui.engine.runs.recovery_models import Recovery, RecoveryTry
from gui.engine.runs.status import RunStatus
from gui.window.bridges.recoverer import Recoverer
from gui.window.bridges.tasks import Tasks
from gui.window.pages.run.chain_card import ChainCard
from gui.window.pages.run.recovery_card import RecoveryButtons, RecoveryCard, has_ways


class RecoveryDesk(QObject):
    """Both cards, and what stands behind them.

    Attributes:
        card: The tries.
        chain: The tree of those that were made.
        ways: Buttons for whoever tells how the run ended; None where nothing leads on.

    Args:
        tasks: Where files are read and plans are checked.
    """

    changed = Signal()
    """``ways`` is another."""
    plan_ready = Signal(object, object)
    """`RunFolder`, and what a plan of it changes: target to value."""
    run_wanted = Signal(object)
    """`RunFolder` of another run of the chain, to be opened."""
    launched = Signal(object)
    """`RunFolder` of a try that was launched."""

    def __init__(self, tasks: Tasks) -> None:
        super().__init__()
        self.card, self.chain = RecoveryCard(), ChainCard()
        self.ways: RecoveryButtons | None = None
        self._run: RunFolder | None = None
        self._recoverer = Recoverer(tasks)
        self._recoverer.found.connect(self._take)
        self._recoverer.chained.connect(self._take_chain)
        self._recoverer.plan_ready.connect(self._open_plan)
        self._recoverer.launched.connect(self.launched)
        self._recoverer.refused.connect(self.card.say_refused)
        self._recoverer.doubted.connect(self.card.ask_about)
        self._recoverer.busy.connect(self.card.set_busy)
        self.card.plan_wanted.connect(self._recoverer.open_plan)
        self.card.launch_wanted.connect(self._recoverer.launch)
        self.chain.open_wanted.connect(self._open_run)

    def begin(self, run: RunFolder) -> None:
        """Begin with another run."""
        self._run = run
        self._recoverer.begin(run)

    def look(self, status: RunStatus) -> None:
        """Look for ways on once the run is over."""
        self._recoverer.look(status)

    def _take(self, recovery: Recovery | None) -> None:
        shown = recovery if has_ways(recovery) else None
        self.card.show_recovery(shown)
        if self.ways is not None and self.ways.recovery == shown:
            return
        self.ways = RecoveryButtons(shown, self.card) if shown is not None else None
        self.changed.emit()

    def _take_chain(self, chain: ChainRun | None) -> None:
        self.chain.show_chain(chain, self._run.name if self._run is not None else "")

    def _open_plan(self, run: RunFolder, chosen: RecoveryTry) -> None:
        follows = {"run": run.name, "try": chosen.id}
        self.plan_ready.emit(run, {**chosen.changes, "plan.follows": follows})

    def _open_run(self, name: str) -> None:
        if self._run is not None:
            self.run_wanted.emit(RunFolder(self._run.path.parent / name))
