"""What is asked of a running training: stop, stop after the next save, pause, go on, accept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gui.engine.runs.desk import Act
from gui.engine.runs.events import Paused, RequestKind, Resumed, StopReason
from gui.engine.runs.ledger import Ledger
from gui.engine.runs.processes import Tree
from gui.engine.runs.savedesk import SaveDesk
from gui.engine.runs.status import StopNow
from gui.engine.runs.watch import TrainerWatch
from gui.engine.texts import _

STATE_PATIENCE_SECONDS = 60.0
"""The state is saved after the model, where the plan asks for it; a stop waits for it so long."""


@dataclass(frozen=True)
class Wanted:
    """A stop that is to be carried out.

    Attributes:
        reason: Who wants it.
        seen_at: When what caused it was read, in seconds since boot.
    """

    reason: StopReason
    seen_at: float


@dataclass
class _Promise:
    """A stop after the next save: what was complete when it was given, and since when a new model is."""

    before: frozenset[Path]
    since: float | None = None


class Wishes:
    """Answers requests and remembers what is still to be done.

    Args:
        ledger: Where it is written down.
        watch: What the trainer says.
        saves: What it has saved.
        save_state: Whether a state follows each model.

    Attributes:
        tree: The run's processes, None while there are none.
        stop_begun: Whether a stop was carried out, whether or not all processes obeyed.
    """

    def __init__(self, ledger: Ledger, watch: TrainerWatch, saves: SaveDesk, *, save_state: bool) -> None:
        self._ledger = ledger
        self._watch = watch
        self._saves = saves
        self._save_state = save_state
        self._promise: _Promise | None = None
        self.tree: Tree | None = None
        self.stop_begun = False
        self._wanted: Wanted | None = None

    def acts(self) -> dict[RequestKind, Act]:
        """Return what to do for each kind of request."""
        return {
            "stop": self._stop,
            "stop-after-save": self._stop_after_save,
            "pause": self._pause,
            "resume": self._resume,
            "accept": self._accept,
        }

    def want_stop(self, reason: StopReason, seen_at: float | None = None) -> None:
        """Have the run stopped; the first reason counts, and only a user may repeat it."""
        if self._wanted is None and (reason == "user" or not self.stop_begun):
            self._wanted = Wanted(reason, self._ledger.now() if seen_at is None else seen_at)

    def take_wanted(self) -> Wanted | None:
        """Return the stop that is to be carried out now, if any; it counts as begun."""
        wanted, self._wanted = self._wanted, None
        self.stop_begun = self.stop_begun or wanted is not None
        return wanted

    @property
    def _is_stopping(self) -> bool:
        return self._wanted is not None or self.stop_begun

    def promise_stop_after_save(self, before: Iterable[Path] | None = None) -> None:
        """Have the run stopped once the next model, and its state where there is one, are complete.

        Args:
            before: What was complete when it was asked; None for what is complete now.
        """
        now = set().union(*self._saves.complete.values()) if before is None else before
        self._promise = _Promise(frozenset(now))
        sentence = _("The training will be stopped after the next save.")
        self._ledger.board.put(stop=StopNow(reason="after-save", sentence=sentence))

    def look(self) -> None:
        """See whether what a promised stop waits for is there."""
        promise, now = self._promise, self._ledger.now()
        if promise is None or self._saves.complete["model"] <= promise.before:
            return
        if promise.since is None:
            promise.since = now
        state_is_there = not self._saves.complete["state"] <= promise.before
        if not self._save_state or state_is_there or now - promise.since > STATE_PATIENCE_SECONDS:
            self._promise = None
            self.want_stop("after-save")

    def _stop(self) -> tuple[bool, str]:
        if self._wanted is not None:
            return True, _("The training is being stopped already.")
        if self.tree is not None and not self.tree.alive():
            return True, _("Nothing of the training is running any more.")
        self.want_stop("user")
        return True, _("The training is being stopped.")

    def _stop_after_save(self) -> tuple[bool, str]:
        if self._is_stopping:
            return False, _("The training is being stopped already.")
        self.promise_stop_after_save()
        if self.tree is not None and self.tree.paused():
            return True, _(
                "The training will be stopped after the next save. It is paused now, and saves nothing "
                "until it goes on."
            )
        return True, _("The training will be stopped after the next save.")

    def _pause(self) -> tuple[bool, str]:
        tree = self.tree
        if tree is None or self._is_stopping:
            return False, _("There is nothing to pause now.")
        if tree.paused():
            return False, _("The training is paused already.")
        report = tree.pause()
        if report.others:
            tree.resume()
            return False, _("Not all processes of the training could be paused; it goes on.")
        if report.processes == 0:
            return False, _("There is nothing to pause now.")
        self._ledger.say(Paused())
        self._ledger.board.move_to("paused")
        return True, _("The training is paused. It keeps its memory, on the GPU too.")

    def _resume(self) -> tuple[bool, str]:
        tree = self.tree
        if tree is None or not tree.paused():
            return False, _("The training is not paused.")
        tree.resume()
        self._ledger.say(Resumed())
        self._ledger.board.move_to("running")
        return True, _("The training goes on.")

    def _accept(self) -> tuple[bool, str]:
        if self._watch.accept():
            self._ledger.board.changed = True
            return True, _("The guard will not stop this training for its loss.")
        return False, _("There is nothing to accept now.")
