"""Starts one item of the queue, as a person would: with the whole preflight, right now."""

from __future__ import annotations

import os

from gui.engine.errors import CannotWrite, PlanNotRunnable, PreflightError, QueueRefused, RunRefused
from gui.engine.hardware.gpu import GpuMonitor
from gui.engine.paths import Home
from gui.engine.plan.plan_file import PlanFile
from gui.engine.preflight.launch_look import LaunchLook
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.preparing import look_before_launch, preparation_for
from gui.engine.runs.queue_items import QueueItem
from gui.engine.runs.queue_memory import what_is_missing
from gui.engine.runs.queue_plans import plan_of_item, trainer_of_item
from gui.engine.runs.queue_store import QueueStore
from gui.engine.runs.start import start_supervisor
from gui.engine.texts import _
from gui.engine.token_store import TokenStore
from gui.engine.trainer.choosing import Trainer

MOST_ATTEMPTS = 3
"""So often in a row a supervisor may fail to start before the item is given up."""


class ItemStarter:
    """Turns items into runs, and notes in the queue what came of it.

    Args:
        store: The queue.
        tokens: Keeps the trainer's tokens; asked at each start, so that none is in a file.
        gpus: Looks at the GPUs.
    """

    def __init__(self, store: QueueStore, tokens: TokenStore, gpus: GpuMonitor) -> None:
        self._store = store
        self._tokens = tokens
        self._gpus = gpus
        self._needed: dict[int, float | None] = {}

    @property
    def _home(self) -> Home:
        return self._store.home

    def start(self, item: QueueItem) -> None:
        """Launch an item, or note why it waits or was refused.

        Raises:
            CannotWrite: The queue cannot be written; nothing was started then.
        """
        try:
            plan_file = plan_of_item(self._store, item)
            trainer = trainer_of_item(self._home, item)
            look = look_before_launch(self._home, trainer, plan_file.base)
            if item.when_free and self._waits(item, plan_file, look):
                return
            self._launch(item, plan_file, trainer, look)
        except QueueRefused:  # somebody has taken it out of the queue, or put it off
            return
        except PlanNotRunnable as error:
            words = "; ".join(finding.title for finding in error.findings)
            self._store.conclude(item.number, "refused", words, tuple(error.findings))
        except PreflightError as error:
            if isinstance(error, CannotWrite) and error.path.parent == self._home.queue:
                raise
            self._store.conclude(item.number, "refused", str(error))

    def _launch(self, item: QueueItem, plan_file: PlanFile, trainer: Trainer, look: LaunchLook) -> None:
        preparation = preparation_for(self._home, trainer, look, self._gpus)
        prepared = preparation.prepare(
            plan_file,
            item.accepted,
            self._tokens_of(plan_file, trainer),
            more={"queue_item": item.number, "plan_file": item.plan_file},
            announce=lambda run: self._claim(item, run),
        )
        try:
            start_supervisor(prepared.run, prepared.order)
        except RunRefused as error:
            # It may be on its way all the same: the next look tells, and lets it wait again if not.
            self._store.note(item.number, attempts=item.attempts + 1, sentence=str(error))

    def _claim(self, item: QueueItem, run: RunFolder) -> None:
        """Note the run's folder while nothing is in it, so that nobody can launch the item twice.

        Raises:
            QueueRefused: The item is not what it was: it was removed, put off or is running.
        """

        def claimed(now: QueueItem) -> QueueItem:
            if now != item:
                raise QueueRefused(_("Number {number} was changed.").format(number=item.number))
            return now.model_copy(update={"state": "running", "run": run.name, "sentence": ""})

        self._store.change(item.number, claimed)

    def _waits(self, item: QueueItem, plan_file: PlanFile, look: LaunchLook) -> bool:
        """Whether the GPU's memory is not free yet; the item tells then what it waits for."""
        if item.number not in self._needed:
            expected = look.expect(plan_file)
            peak = expected.forecast.peak if expected else None
            self._needed[item.number] = peak.likely if peak else None
        words = what_is_missing(self._gpus, item.gpus, self._needed[item.number])
        if words and words != item.sentence:
            self._store.note(item.number, sentence=words)
        return bool(words)

    def _tokens_of(self, plan_file: PlanFile, trainer: Trainer) -> dict[str, str]:
        said = {**os.environ, **plan_file.plan.launch.env}
        return {} if trainer.install.practice else self._tokens.for_run(said)
