"""Checks a plan before it waits in the queue, as it will be checked at its turn."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gui.engine.findings import Finding
from gui.engine.plan.plan_file import PlanFile
from gui.engine.runs.preparing import look_before_launch
from gui.engine.runs.queue_foresight import Foresight, foresee
from gui.engine.runs.queue_items import QueueItem
from gui.engine.runs.queue_plans import on_gpus, plan_of_item, trainer_of_item
from gui.engine.runs.queue_store import QueueStore
from gui.engine.texts import _
from gui.engine.trainer.choosing import Trainer


def look_ahead(
    store: QueueStore,
    plan_file: PlanFile,
    trainer: Trainer,
    accepted: Sequence[str],
    *,
    gpus: tuple[int, ...] = (),
    given: Sequence[Finding] = (),
) -> Foresight:
    """Check a plan that is to be put into the queue as it will be checked at its turn.

    Args:
        store: The queue.
        plan_file: The plan.
        trainer: Is to train it.
        accepted: Ids of the dangers that the user says yes to.
        gpus: On which it is to train; empty takes the plan's own.
        given: What was found before, such as in the file that the plan was imported from.
    """
    placed = on_gpus(plan_file, gpus or plan_file.plan.launch.gpu_ids)
    found = look_before_launch(store.home, trainer, placed.base, given).judge(placed)
    return foresee([*found, *_same_names(store, placed, 0)], accepted)


def look_again(store: QueueStore, item: QueueItem, accepted: Sequence[str]) -> Foresight:
    """Check an item that is over, and is to wait for its turn again.

    Args:
        store: The queue.
        item: Which.
        accepted: Ids of more dangers that the user says yes to.

    Raises:
        CannotRead: Its plan is gone or damaged.
        TrainerNotFound: Its trainer is not there any more.
        InterpreterNotFound: The trainer's Python is not.
    """
    plan_file, trainer = plan_of_item(store, item), trainer_of_item(store.home, item)
    found = look_before_launch(store.home, trainer, plan_file.base).judge(plan_file)
    names = _same_names(store, plan_file, item.number)
    return foresee([*found, *names], (*item.accepted, *accepted))


def _same_names(store: QueueStore, plan_file: PlanFile, number: int) -> Iterator[Finding]:
    """Yield that another item saves under the same names: at its turn the files of the first are there.

    So it has the id of what preflight would say then, and a yes to the one is a yes to the other.
    """
    saves = _saves(plan_file.plan.arguments, plan_file.base)
    queue = store.read()
    for item in (*queue.running, *queue.waiting):
        if saves is None or item.number == number or _saves_of(store, item) != saves:
            continue
        text = _("Number {number} in the queue, {name}, saves under the same names.")
        yield Finding(
            id="output-exists",
            severity="danger",
            title=text.format(number=item.number, name=item.name),
            detail=_("The one that is trained later overwrites what the other has saved."),
            arguments=("output_name", "output_dir"),
            where="output_dir",
        )
        return


def _saves_of(store: QueueStore, item: QueueItem) -> tuple[str, str] | None:
    try:
        arguments = tomllib.loads(store.plan_text(item.number) or "").get("arguments")
    except (ValueError, RecursionError):
        return None
    return _saves(arguments, store.home.queue) if isinstance(arguments, dict) else None


def _saves(arguments: Mapping[str, Any], base: Path) -> tuple[str, str] | None:
    """Return where a plan saves and under which name; None for one that goes on in the same files."""
    folder, name = arguments.get("output_dir"), arguments.get("output_name") or ""
    if not isinstance(folder, str) or not isinstance(name, str) or arguments.get("resume"):
        return None
    return os.path.normcase(os.path.realpath(base / folder)), os.path.normcase(name)
