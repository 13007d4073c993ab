"""Changes of when and where an item of the queue starts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from gui.engine.errors import QueueRefused
from gui.engine.runs.queue_items import QueueItem
from gui.engine.texts import _


def started_on(gpus: tuple[int, ...]) -> Callable[[QueueItem], QueueItem]:
    """Return the change to other GPUs; empty leaves the choice to the trainer."""
    return lambda item: _changed(item, gpus=gpus)


def started_at(moment: datetime | None) -> Callable[[QueueItem], QueueItem]:
    """Return the change to another hour; None is at once."""
    return lambda item: _changed(item, not_before=moment)


def started_when_free(wanted: bool) -> Callable[[QueueItem], QueueItem]:
    """Return the change of whether the GPU's memory is waited for."""
    return lambda item: _changed(item, when_free=wanted)


def _changed(item: QueueItem, **changes: object) -> QueueItem:
    """Return an item with changes, which come too late once it was started.

    Raises:
        QueueRefused: It was.
    """
    if item.state != "waiting":
        raise QueueRefused(_("Number {number} does not wait any more.").format(number=item.number))
    return item.model_copy(update={"sentence": "", **changes})
