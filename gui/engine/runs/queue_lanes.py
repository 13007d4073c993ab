"""Which items of the queue may start: in a row on each GPU, next to each other on different ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gui.engine.runs.queue_hours import has_come
from gui.engine.runs.queue_items import Queue, QueueItem
from gui.engine.texts import _

CPU = "cpu"
FIRST_GPU = "0"


def lanes_of(gpus: Sequence[int], *, practice: bool) -> frozenset[str]:
    """Return the lanes that a training takes: its GPUs by number, or ``cpu``.

    Args:
        gpus: As its plan or the queue names them. Without any the trainer takes the first one, and the
            practice trainer none.
        practice: Whether it is the practice trainer.
    """
    if gpus:
        return frozenset(map(str, gpus))
    return frozenset({CPU if practice else FIRST_GPU})


def lanes_of_item(item: QueueItem) -> frozenset[str]:
    """Return the lanes that an item takes."""
    return lanes_of(item.gpus, practice=item.practice)


def lane_words(lanes: Collection[str]) -> str:
    """Return how lanes are called: ``GPU 0``, ``GPU 0 + 1``, ``CPU``."""
    if set(lanes) == {CPU}:
        return _("CPU")
    return _("GPU {numbers}").format(numbers=" + ".join(sorted(lanes, key=_in_order)))


def _in_order(lane: str) -> tuple[int, str]:
    return int(lane) if lane.isdecimal() else 1 << 30, lane


def is_ready(item: QueueItem, queue: Queue, now: float) -> bool:
    """Whether nothing keeps an item from starting once it is the first on its GPUs.

    Args:
        item: One that waits.
        queue: As it is now.
        now: Seconds since 1970.
    """
    return not lanes_of_item(item) & queue.board.held.keys() and has_come(item.not_before, now)


def startable(queue: Queue, busy: Collection[str], now: float) -> list[QueueItem]:
    """Return the items whose turn it is, at most one a lane.

    One whose hour has not come lets those behind it pass. One that needs several GPUs keeps them once
    it is the first on each, so that smaller ones do not pass it for ever.

    Args:
        queue: As it is now.
        busy: Lanes in which something runs.
        now: Seconds since 1970.
    """
    if queue.board.paused:
        return []
    taken, found = set(busy), []
    for item in queue.waiting:
        if not is_ready(item, queue, now):
            continue
        lanes = lanes_of_item(item)
        if not lanes & taken:
            found.append(item)
        taken |= lanes
    return found
