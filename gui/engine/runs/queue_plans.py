"""What an item of the queue trains, and with which trainer."""

from __future__ import annotations

from gui.engine.paths import Home
from gui.engine.plan.changes import apply_changes
from gui.engine.plan.plan_file import PlanFile
from gui.engine.runs.queue_items import QueueItem
from gui.engine.runs.queue_store import QueueStore
from gui.engine.trainer.choosing import Trainer, named_install, open_trainer
from gui.engine.trainer.installs import missing_part


def plan_of_item(store: QueueStore, item: QueueItem) -> PlanFile:
    """Return an item's plan, on the GPUs that it was given.

    Raises:
        CannotRead: It is gone or damaged.
    """
    return on_gpus(store.plan(item.number), item.gpus)


def on_gpus(plan_file: PlanFile, gpus: tuple[int, ...]) -> PlanFile:
    """Return a plan that trains on other GPUs; without any the trainer chooses."""
    if gpus == plan_file.plan.launch.gpu_ids:
        return plan_file
    plan = apply_changes(plan_file.plan, {"launch.gpu_ids": list(gpus) or None})
    return PlanFile(plan, path=plan_file.path)


def trainer_of_item(home: Home, item: QueueItem) -> Trainer:
    """Return an item's trainer, asked what it is.

    Raises:
        TrainerNotFound: It is not there any more.
        InterpreterNotFound: Its Python is not.
        TrainerBroken: It cannot train.
    """
    install = named_install(item.trainer, item.python)
    missing = missing_part(install)
    if missing is not None:
        raise missing
    return open_trainer(home, install)
