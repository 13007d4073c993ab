"""The life of the scheduler: at most one a home, without a window, for as long as there is work.

Whoever looks at the queue starts it where none lives: after a restart of the machine, after it was killed.
It leaves by itself when nothing runs and nothing will start; whoever then adds to the queue starts it again.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from gui.engine.documents import reason_of
from gui.engine.errors import AlreadySupervised, QueueRefused
from gui.engine.hardware.gpu import machine_gpus
from gui.engine.runs.abandoned import clear_abandoned
from gui.engine.runs.awake import keep_awake
from gui.engine.runs.detached import has_taken_over, last_words, start_detached
from gui.engine.runs.lock import LOOKED_AT_SECONDS, SupervisorLock, is_held
from gui.engine.runs.queue_scheduler import Scheduler, has_work
from gui.engine.runs.queue_start import ItemStarter
from gui.engine.runs.queue_store import QueueStore
from gui.engine.texts import _
from gui.engine.token_store import TokenStore

TICK_SECONDS = 0.5


def schedule(store: QueueStore, *, rest: Callable[[float], None] = time.sleep) -> bool:
    """Be the scheduler of a home until there is nothing more to do.

    The machine is kept awake meanwhile: it could not start anything at its hour while asleep.

    Args:
        store: The queue.
        rest: Sleeps.

    Returns:
        False when another one lives; one is enough.

    Raises:
        CannotWrite: The folder cannot be written.
        NewerDocument: A newer version of this program has set the queue.
    """
    if not has_work(store.read()):  # before the lock, which is taken for a scheduler that works
        return True
    lock = SupervisorLock(store.lock)
    try:
        lock.take(LOOKED_AT_SECONDS)
    except AlreadySupervised:
        return False
    try:
        clear_abandoned(store.home)
        with keep_awake():
            scheduler = Scheduler(store, ItemStarter(store, TokenStore(store.home), machine_gpus()))
            while lock.is_in_place():
                if scheduler.look() or not _leave(store, lock):
                    rest(TICK_SECONDS)
    finally:
        lock.release()
    return True


def _leave(store: QueueStore, lock: SupervisorLock) -> bool:
    """Give up the lock unless somebody has just added something, who then saw it held."""
    with store.one_at_a_time():
        if has_work(store.read()):
            return False
        lock.release()
        return True


def ensure_scheduler(store: QueueStore, *, wait: bool = True) -> bool:
    """Start a scheduler where there is work and none lives; return whether one was started.

    Args:
        store: The queue.
        wait: Whether to see that it works.

    Raises:
        QueueRefused: It could not be started.
        NewerDocument: A newer version of this program has set the queue.
    """
    if is_held(store.lock) or not has_work(store.read()):
        return False
    home = store.home
    try:
        process = start_detached(["schedule"], name="scheduler", cwd=home.queue, log=store.log, home=home)
        if process.stdin is not None:
            process.stdin.close()
    except OSError as error:
        raise _refusal(reason_of(error)) from error
    if wait and not has_taken_over(process, store.lock):
        raise _refusal(last_words(store.log))
    return True


def _refusal(reason: str) -> QueueRefused:
    return QueueRefused(_("The queue's scheduler could not be started: {reason}").format(reason=reason))
