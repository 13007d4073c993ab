"""Prints the queue, for people and for programs."""

from __future__ import annotations

from datetime import datetime

from gui.cli.progress import plain
from gui.engine.runs.lock import is_held
from gui.engine.runs.queue_items import FailurePolicy, Queue, QueueItem
from gui.engine.runs.queue_lanes import lane_words, lanes_of_item
from gui.engine.runs.queue_store import QueueStore
from gui.engine.runs.queue_words import policy_words, queue_sentence, sentence_of, state_words
from gui.engine.runs.records import Versioned
from gui.engine.texts import _
from gui.engine.trainer.output.records import cells

WIDEST_NAME = 40
"""Cells of the terminal; a longer name would push everything else out of sight."""


class QueueListing(Versioned):
    """``queue --json``.

    Attributes:
        scheduled: Whether a scheduler lives.
        paused: Whether nothing is started.
        on_failure: What happens after a failure.
        held: Lanes in which nothing is started, and why.
        problems: Items that cannot be read.
        items: In their order.
    """

    scheduled: bool
    paused: bool
    on_failure: FailurePolicy
    held: dict[str, str]
    problems: tuple[str, ...]
    items: tuple[QueueItem, ...]


def print_queue(store: QueueStore, *, json: bool) -> None:
    """Print the queue as it is now."""
    queue = store.read()
    if json:
        print(_listing(store, queue).model_dump_json(by_alias=True, indent=2))
        return
    if not queue.items:
        print(_("The queue is empty. Put plans into it: kohya-preflight queue add PLAN …"))
    now = datetime.now()
    width = min(WIDEST_NAME, max((cells(item.name) for item in queue.items), default=0))
    for item in queue.items:
        print(plain(f"{item.number:>3}  {_fitted(item.name, width)}  {_facts(item, queue, now)}"))
    for line in filter(
        None, (*queue.problems, queue_sentence(queue), policy_words(queue) if queue.items else "")
    ):
        print(line)


def _fitted(name: str, width: int) -> str:
    """Return a name that takes so many cells of the terminal."""
    shown = name
    while cells(shown) > width:
        name = name[:-1]
        shown = f"{name}…"
    return shown + " " * (width - cells(shown))


def _listing(store: QueueStore, queue: Queue) -> QueueListing:
    board = queue.board
    return QueueListing(
        scheduled=is_held(store.lock),
        paused=board.paused,
        on_failure=board.on_failure,
        held=board.held,
        problems=queue.problems,
        items=queue.items,
    )


def _facts(item: QueueItem, queue: Queue, now: datetime) -> str:
    parts = [lane_words(lanes_of_item(item)), state_words(item).text]
    parts += [_("practice")] if item.practice else []
    parts += [item.run] if item.run else []
    return " · ".join([*parts, *filter(None, [sentence_of(item, queue, now)])])
