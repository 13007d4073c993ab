"""Looks after one run from its launch to its verdict, in a process of its own.

The trainer does not depend on it: it writes to a file and its launcher notes how it ends, so a
supervisor that dies loses nothing, and the next one takes over where it stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from gui.engine.errors import CannotLaunch
from gui.engine.runs.adoption import find_trainer
from gui.engine.runs.desk import RequestDesk
from gui.engine.runs.ending import Ending
from gui.engine.runs.events import Adopted, Launched, Launching
from gui.engine.runs.finishing import finish_run
from gui.engine.runs.leftovers import Leftovers
from gui.engine.runs.memory_hook import with_hook
from gui.engine.runs.processes import Tree, boot_id, launch
from gui.engine.runs.records import LaunchOrder
from gui.engine.runs.setup import Parts
from gui.engine.runs.status import Verdict
from gui.engine.runs.stopping import Stopper
from gui.engine.runs.wishes import Wishes
from gui.engine.texts import _

TICK_SECONDS = 0.05
ALIVE_SECONDS = 0.25


class Supervisor:
    """Runs until the run is judged.

    Args:
        parts: All that it works with.
        keep_folder: Called all the time, to see that the run's folder is there.
    """

    def __init__(self, parts: Parts, keep_folder: Callable[[], None]) -> None:
        self._parts = parts
        self._keep_folder = keep_folder
        self._ledger = parts.ledger
        self._ending = Ending(tally=parts.watch.tally, resumed=parts.command.resumed)
        self._wishes = Wishes(parts.ledger, parts.watch, parts.saves, save_state=parts.command.save_state)
        self._desk = RequestDesk(parts.run, parts.ledger, parts.history.answered, self._wishes.acts())
        self._leftovers = Leftovers(parts.run, parts.ledger, wrapped=parts.command.wrapped)
        self._alive_due = 0.0

    def supervise(self, order: LaunchOrder | None) -> Verdict:
        """Start the trainer, or take it over, and stay until it is gone and judged.

        Args:
            order: What to start; None to take over what another supervisor started.
        """
        tree = self._adopt() if order is None or self._parts.history.launching else self._launch(order)
        self._wishes.tree = tree
        if tree is not None:
            self._ledger.board.move_to("paused" if tree.paused() else "running")
        self._ledger.flush(at_once=True)
        while tree is not None and not self._is_over(tree):
            self._tick(tree)
            time.sleep(0.0 if self._parts.watch.catching_up else TICK_SECONDS)
        self._wishes.tree = None
        return finish_run(self._parts, self._ending, self._desk)

    def _launch(self, order: LaunchOrder) -> Tree | None:
        parts, ledger = self._parts, self._ledger
        ledger.keep_reserve()
        practice = parts.manifest.practice
        ledger.say(Launching(boot_id=boot_id(), boot_seconds=ledger.now(), practice=practice))
        ledger.flush(at_once=True)
        try:
            started = launch(
                order.argv,
                cwd=order.cwd,
                env=with_hook(order.environment) if order.measure_memory else order.environment,
                output_log=parts.run.output_log,
                run_folder=parts.run.path,
                python=order.python,
            )
        except CannotLaunch as error:
            self._ending = replace(self._ending, not_started=str(error))
            return None
        ledger.started = started.started_boottime
        ledger.board.put(trainer_pid=started.trainer.pid)
        ledger.say(
            Launched(
                boot_id=started.trainer.boot_id,
                boot_seconds=started.started_boottime,
                launcher_pid=started.launcher.pid,
                trainer_pid=started.trainer.pid,
            )
        )
        return Tree(parts.run.path, started.launcher, started.trainer)

    def _adopt(self) -> Tree | None:
        """Take over what another supervisor started, alive or ended."""
        ledger, history = self._ledger, self._parts.history
        found = find_trainer(self._parts.run, history)
        ledger.started = found.started
        ledger.board.put(trainer_pid=found.trainer_pid)
        self._ending = replace(
            self._ending,
            not_started=found.not_started,
            rebooted=found.rebooted,
            stop=history.stop,
            disk_full=history.disk_full,
        )
        if found.tree is None:
            return None
        alive = found.tree.alive()
        sentence = (
            _("A new supervisor has taken over; the training was running on.")
            if alive
            else _("The training ended while nobody watched; what it left is being looked at.")
        )
        ledger.say(Adopted(pid=self._parts.pid, alive=alive, sentence=sentence))
        self._parts.watch.guarding = alive
        if history.accepted:
            self._parts.watch.accept()
        if history.stop is not None:
            self._wishes.want_stop(history.stop)
        elif history.after_save is not None:
            self._wishes.promise_stop_after_save(history.after_save)
        return found.tree

    def _tick(self, tree: Tree) -> None:
        self._pump()
        self._parts.isolation.call("folder", self._keep_folder, None)
        self._parts.isolation.call("requests", self._desk.look, None)
        self._wishes.look()
        wanted = self._wishes.take_wanted()
        if wanted is not None and tree.alive():
            self._ending = replace(self._ending, stop=self._ending.stop or wanted.reason)
            Stopper(self._ledger, tree, self._pump, self._save_in_progress).stop(
                wanted.reason, wanted.seen_at
            )
            self._alive_due = 0.0
        self._ledger.flush()

    def _pump(self) -> None:
        """Read, look and measure; stops nothing itself, since it also runs while something stops."""
        parts, call = self._parts, self._parts.isolation.call
        seen_at = self._ledger.now()
        if call("output", parts.watch.pump, None) is not None:
            self._wishes.want_stop("guard", seen_at)
        if parts.watch.catching_up:
            return
        call("files", lambda: parts.saves.look(parts.watch), None)
        tree = self._wishes.tree
        if tree is not None:
            call("measurements", lambda: parts.sampler.look(tree), None)
            call("pace", parts.watchdog.look, None)

    def _save_in_progress(self) -> str | None:
        return self._parts.saves.in_progress(self._parts.watch.saving)

    def _is_over(self, tree: Tree) -> bool:
        """Whether nothing of the trainer is alive, and all that it said before has been read."""
        now = self._ledger.now()
        if now < self._alive_due:
            return False
        self._alive_due = now + ALIVE_SECONDS
        if not tree.alive():
            return not self._parts.watch.catching_up
        self._leftovers.look(tree, self._pump)
        return False
