"""What is said about the queue and its items: the same on the command line and in the window."""

from __future__ import annotations

import itertools
from datetime import datetime

from gui.engine.runs.queue_hours import hour_words
from gui.engine.runs.queue_items import Queue, QueueItem, QueueState
from gui.engine.runs.queue_lanes import is_ready, lane_words, lanes_of_item
from gui.engine.runs.words import Tone, Words
from gui.engine.texts import _

_TONES: dict[QueueState, Tone] = {"done": "good", "failed": "bad", "refused": "bad", "stopped": "warn"}


def state_words(item: QueueItem) -> Words:
    """Return what became of an item, in a word."""
    texts: dict[QueueState, str] = {
        "waiting": _("waiting"),
        "running": _("running"),
        "done": _("finished"),
        "stopped": _("stopped"),
        "failed": _("failed"),
        "refused": _("refused"),
    }
    return Words(_TONES.get(item.state, "plain"), texts[item.state])


def sentence_of(item: QueueItem, queue: Queue, now: datetime) -> str:
    """Return how an item ended, or what it waits for; empty while all is well.

    Args:
        item: One of the queue's.
        queue: All of it.
        now: Local time.
    """
    if item.state != "waiting":
        return item.sentence
    hour = item.hour_to_come(now)
    if hour is not None:
        return _("It starts not before {hour}.").format(hour=hour_words(hour, now))
    return _why_held(item, queue) or _place_words(item, queue, now)


def _why_held(item: QueueItem, queue: Queue) -> str:
    if queue.board.paused:
        return _("The queue is paused.")
    lanes = lanes_of_item(item)
    held = [queue.board.held[lane] for lane in sorted(lanes) if lane in queue.board.held]
    return _("{lane} is held: {reason}.").format(lane=lane_words(lanes), reason=held[0]) if held else ""


def _place_words(item: QueueItem, queue: Queue, now: datetime) -> str:
    """Return after which one it starts; of the first, what the scheduler has found that it waits for."""
    ahead = _ahead(item, queue, now)
    if ahead is not None:
        return _("It starts after number {number}, {name}.").format(number=ahead.number, name=ahead.name)
    return item.sentence or _("It is next on {lane}.").format(lane=lane_words(lanes_of_item(item)))


def _ahead(item: QueueItem, queue: Queue, now: datetime) -> QueueItem | None:
    """Return what comes right before an item on one of its GPUs, of what it may not pass."""
    lanes, moment = lanes_of_item(item), now.timestamp()
    before = queue.items[: queue.items.index(item)]
    waiting = (other for other in reversed(before) if other.state == "waiting")
    ready = (other for other in waiting if is_ready(other, queue, moment))
    others = itertools.chain(ready, reversed(queue.running))
    return next((other for other in others if lanes_of_item(other) & lanes), None)


def queue_sentence(queue: Queue) -> str:
    """Return how the queue as a whole stands."""
    if queue.board.paused:
        return _("The queue is paused: nothing is started, what runs goes on.")
    if queue.board.held:
        reasons = [
            _("{lane}: {reason}").format(lane=lane_words({lane}), reason=reason)
            for lane, reason in sorted(queue.board.held.items())
        ]
        return _("Nothing is started on {lanes}.").format(lanes="; ".join(reasons))
    return ""


def policy_words(queue: Queue) -> str:
    """Return what happens after a failure."""
    if queue.board.on_failure == "stop":
        return _("After a failure nothing more is started on that GPU.")
    return _("After a failure the next one is started.")
