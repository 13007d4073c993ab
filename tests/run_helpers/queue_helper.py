"""What is true about a queue: the states of its items, what was launched of it, and who schedules it."""

from __future__ import annotations

from run_helper import wait_until

from gui.engine.paths import Home
from gui.engine.runs.events import Launching, read_events
from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.runs.lock import is_held
from gui.engine.runs.queue_store import QueueStore
from gui.engine.runs.records import Manifest


def states(store: QueueStore) -> list[str]:
    """Return the states of all items, in their order."""
    return [item.state for item in store.read().items]


def scheduler_of(store: QueueStore) -> int:
    """Return the process that schedules, as soon as there is one."""
    wait_until(lambda: is_held(store.lock) and store.lock.read_text("ascii").strip())
    return int(store.lock.read_text("ascii"))


def launches(home: Home) -> list[int | None]:
    """Return the numbers of the items that were launched, once for each launch."""
    runs = [RunFolder(home.runs / name) for name in run_names(home)]
    return sorted(
        Manifest.read(run.manifest).queue_item or 0
        for run in runs
        for event in read_events(run.events)
        if isinstance(event, Launching)
    )
