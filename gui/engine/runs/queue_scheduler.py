"""Lets the items of the queue run, one after the other on each GPU."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Collection

from gui.engine.errors import CannotWrite, PreflightError
from gui.engine.plan.plan_file import load_plan
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.listing import RunIndex
from gui.engine.runs.queue_follow import Became, what_became
from gui.engine.runs.queue_items import Queue, QueueItem
from gui.engine.runs.queue_lanes import lane_words, lanes_of, lanes_of_item, startable
from gui.engine.runs.queue_start import MOST_ATTEMPTS, ItemStarter
from gui.engine.runs.queue_store import QueueStore
from gui.engine.runs.rivals import is_alive
from gui.engine.runs.run_entry import RunEntry
from gui.engine.texts import _

ELSEWHERE_SECONDS = 2.0
"""So long a run that was launched by hand is believed to go on."""

AGAIN_SECONDS = 5.0
"""Between two looks whether a GPU's memory is free, or a disk can be written again."""


class Scheduler:
    """Looks at the queue, again and again.

    Args:
        store: The queue.
        starter: Turns items into runs.
        follow: Finds out what became of a run.
        wall: Seconds since 1970, for hours of the day.
        clock: Seconds that nobody can set, for everything else.
        rest: Sleeps.
    """

    def __init__(
        self,
        store: QueueStore,
        starter: ItemStarter,
        *,
        follow: Callable[[RunFolder], Became] = what_became,
        wall: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
        rest: Callable[[float], None] = time.sleep,
    ) -> None:
        self._store = store
        self._starter = starter
        self._what_became = follow
        self._wall = wall
        self._clock = clock
        self._rest = rest
        self._runs = RunIndex(store.home)
        self._again: dict[int, float] = {}
        self._elsewhere: dict[str, str] = {}
        self._elsewhere_due = 0.0

    def look(self) -> bool:
        """Follow what runs, and start what may; return whether there is anything left to wait for."""
        try:
            for item in self._store.read().running:
                self._follow(item)
            for item in self._next(self._store.read()):
                self._start(item)
            return has_work(self._store.read())
        except CannotWrite:  # the disk is full, and there is no place to say so
            self._rest(AGAIN_SECONDS)
            return True

    def _follow(self, item: QueueItem) -> None:
        run = RunFolder(self._store.home.runs / (item.run or ""))
        became = self._what_became(run)
        if became.kind == "over":
            self._store.conclude(item.number, became.state, became.sentence)
        elif became.kind == "tried-again":
            self._store.note(item.number, run=became.next, before=(*item.before, run.name))
        elif became.kind == "never-launched" and item.attempts < MOST_ATTEMPTS:
            self._store.note(item.number, state="waiting", run=None)
        elif became.kind == "never-launched":
            self._store.conclude(item.number, "failed", item.sentence)

    def _next(self, queue: Queue) -> list[QueueItem]:
        busy = frozenset[str]().union(*map(lanes_of_item, queue.running))
        now = self._wall()
        found = startable(queue, busy, now)
        if not any(map(self._may_be_tried, found)):
            return []
        taken = self._taken_elsewhere(queue)
        for item in found:
            lanes = lanes_of_item(item) & taken.keys()
            if lanes:
                self._wait_for(item, taken[min(lanes)], lanes)
        return [item for item in startable(queue, busy | taken.keys(), now) if self._may_be_tried(item)]

    def _may_be_tried(self, item: QueueItem) -> bool:
        return self._clock() >= self._again.get(item.number, 0.0)

    def _wait_for(self, item: QueueItem, run: str, lanes: Collection[str]) -> None:
        """Let an item tell for which run, launched by hand, it waits."""
        text = _("It waits for the run {run}, which was not launched from the queue, on {lane}.")
        words = text.format(run=run, lane=lane_words(lanes))
        if words != item.sentence:
            self._store.note(item.number, sentence=words)

    def _taken_elsewhere(self, queue: Queue) -> dict[str, str]:
        """Return the lanes of runs that were launched by hand, and the runs' names."""
        now = self._clock()
        if now >= self._elsewhere_due or not self._elsewhere:
            self._elsewhere_due = now + ELSEWHERE_SECONDS
            own = {item.run for item in queue.running}
            others = [entry for entry in self._runs.entries() if _lives(entry) and entry.name not in own]
            self._elsewhere = {lane: entry.name for entry in others for lane in _lanes_of_run(entry)}
        return self._elsewhere

    def _start(self, item: QueueItem) -> None:
        self._again[item.number] = self._clock() + AGAIN_SECONDS
        try:
            self._starter.start(item)
        except CannotWrite:
            raise
        except Exception:  # noqa: BLE001 - a fault of ours must not hold up the others
            traceback.print_exc()
            text = _("A fault inside the program; {log} tells more.")
            self._store.conclude(item.number, "failed", text.format(log=self._store.log))


def has_work(queue: Queue) -> bool:
    """Whether a scheduler is needed: something runs, or will start once its time has come."""
    if queue.running:
        return True
    held = queue.board.held.keys()
    return not queue.board.paused and any(not lanes_of_item(item) & held for item in queue.waiting)


def _lives(entry: RunEntry) -> bool:
    """Whether something of a run works; nobody need look after it for that."""
    if entry.state == "ended" or entry.condition == "foreign":
        return False
    return entry.condition == "fine" or is_alive(RunFolder(entry.folder))


def _lanes_of_run(entry: RunEntry) -> frozenset[str]:
    try:
        gpus = load_plan(RunFolder(entry.folder).plan).plan.launch.gpu_ids
    except PreflightError:
        gpus = ()
    return lanes_of(gpus, practice=entry.practice)
