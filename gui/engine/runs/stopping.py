"""Stops a run in steps, and tells of each: a save may end first, then nothing is left alive."""

from __future__ import annotations

import time
from collections.abc import Callable

from gui.engine.runs.events import Stopping, StopReason, StopStage
from gui.engine.runs.ledger import Ledger
from gui.engine.runs.process_tree import StopReport, StopSteps, Tree
from gui.engine.runs.status import StopNow
from gui.engine.texts import _

SAVE_PATIENCE_SECONDS = 15.0
"""A save that was begun may end: killing it leaves a cut file under the final name."""

LOOK_SECONDS = 0.05


class Stopper:
    """Carries one stop through.

    Args:
        ledger: Where it is written down.
        tree: The run's processes.
        pump: Reads what the trainer says meanwhile.
        saving: Names the file that is being saved now, None when none is.
        steps: How patient to be with the processes.
    """

    def __init__(
        self,
        ledger: Ledger,
        tree: Tree,
        pump: Callable[[], object],
        saving: Callable[[], str | None],
        steps: StopSteps | None = None,
    ) -> None:
        self._ledger = ledger
        self._tree = tree
        self._pump = pump
        self._saving = saving
        self._steps = steps or StopSteps()
        self._asked = False

    def stop(self, reason: StopReason, seen_at: float) -> StopReport:
        """Stop the run.

        Args:
            reason: Who wants it.
            seen_at: When what caused it was read, on the ledger's clock.
        """
        self._asked = False
        self._ledger.board.move_to("stopping")
        self._tell("announced", reason, _announcement(reason))
        if not self._tree.paused():
            self._let_save_end(reason)

        def meanwhile() -> None:
            self._tell_asked(reason, seen_at)
            self._pump()
            self._ledger.flush()

        report = self._tree.stop(self._steps, meanwhile)
        self._tell_outcome(report, reason)
        return report

    def _let_save_end(self, reason: StopReason) -> None:
        name = self._saving()
        if name is None:
            return
        self._tell("saving", reason, _("{file} is being saved: that may end first.").format(file=name))
        until = self._ledger.now() + SAVE_PATIENCE_SECONDS
        while self._saving() is not None and self._ledger.now() < until and self._tree.alive():
            time.sleep(LOOK_SECONDS)
            self._pump()
            self._ledger.flush()

    def _tell_asked(self, reason: StopReason, seen_at: float) -> None:
        """Note once that the processes have been signalled; called right after they were."""
        if self._asked:
            return
        self._asked = True
        latency = round(self._ledger.now() - seen_at, 3)
        sentence = _("The trainer was told to stop, {seconds:.1f} s after the cause was seen.").format(
            seconds=latency
        )
        self._tell("asked", reason, sentence, latency_seconds=latency)

    def _tell_outcome(self, report: StopReport, reason: StopReason) -> None:
        if any(step.act == "kill" for step in report.steps):
            self._tell("killed", reason, _("It did not go, so it was ended by force."))
        if report.complete:
            self._tell("gone", reason, _("Nothing of the training is running any more."))
            return
        pids = ", ".join(map(str, report.survivors))
        self._ledger.notice(
            "survivors",
            _(
                "Some processes do not end even by force ({pids}), as happens when a GPU driver hangs; "
                "restarting the machine ends them."
            ).format(pids=pids),
        )

    def _tell(
        self, stage: StopStage, reason: StopReason, sentence: str, *, latency_seconds: float | None = None
    ) -> None:
        event = Stopping(stage=stage, reason=reason, sentence=sentence, latency_seconds=latency_seconds)
        self._ledger.say(event)
        self._ledger.board.put(stop=StopNow(reason=reason, stage=stage, sentence=sentence))
        self._ledger.flush(at_once=stage in ("saving", "gone"))


def _announcement(reason: StopReason) -> str:
    return {
        "guard": _("The guard stops the training: the loss is not a number."),
        "user": _("The training is stopped, as asked."),
        "after-save": _("The save is complete: the training is stopped, as asked."),
    }[reason]
