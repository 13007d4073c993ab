"""Writes down what happens to a run, and survives a full disk while doing so."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

from gui.engine.documents import Document
from gui.engine.errors import CannotWrite
from gui.engine.runs.board import Board
from gui.engine.runs.events import Notice, RunEvent, Troubled, TroubleKind
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.history import Repeatable, key_of
from gui.engine.runs.journal import EventJournal, Lines
from gui.engine.runs.processes import boottime
from gui.engine.runs.status import GuardNow, RunStatus, TroubleNow
from gui.engine.trainer.events import TrainerEvent

STATUS_SECONDS = 0.25
"""Least time between two writes of the status; a viewer looks ten times a second at most."""

RESERVE_BYTES = 1 << 20
"""Kept on the run's disk for the verdict: some hundred kilobytes of events and the status."""


class Ledger:
    """The run folder's writing hand.

    Args:
        run: The folder.
        board: What is true now.
        clock: Seconds since boot.

    Attributes:
        started: When the trainer started, by that clock; None until it has.
        ended: When its last process was gone, by that clock.
        guard: Gives the guard's part of the status.
        said: What need not be said again, by ``history.key_of``.
    """

    def __init__(self, run: RunFolder, board: Board, clock: Callable[[], float] = boottime) -> None:
        self._run = run
        self._clock = clock
        self._journal = EventJournal(run.events)
        self._metrics = Lines(run.metrics)
        self._status_due = 0.0
        self._wrong: str | None = None
        self.board = board
        self.started: float | None = None
        self.ended: float | None = None
        self.said: set[tuple[object, ...]] = set()
        self.guard: Callable[[], GuardNow | None] = lambda: None

    @property
    def journal(self) -> EventJournal:
        """The events."""
        return self._journal

    @property
    def problem(self) -> str | None:
        """Why something could not be written last time, None when all could."""
        return self._journal.problem or self._metrics.problem or self._wrong

    def now(self) -> float:
        """Return seconds since boot."""
        return self._clock()

    def t(self) -> float | None:
        """Return the seconds since the trainer started, None when that is not known."""
        return None if self.started is None else round(self._clock() - self.started, 3)

    def say(self, event: RunEvent | TrainerEvent) -> None:
        """Write down an event that happens now."""
        self._journal.add(event.model_copy(update={"t": self.t()}))

    def say_once(self, event: Repeatable) -> None:
        """Write down an event unless a supervisor before this one did."""
        key = key_of(event)
        if key not in self.said:
            self.said.add(key)
            self.say(event)

    def notice(self, key: str, sentence: str) -> None:
        """Tell the user a fact, once."""
        if self.board.notice(key, sentence):
            self.say_once(Notice(id=key, sentence=sentence))

    def trouble(self, kind: TroubleKind, sentence: str, *, over: bool, cause: str = "") -> None:
        """Tell the user that something goes wrong, or that it is over."""
        step = self.board.fact("step")
        self.say(Troubled(id=kind, over=over, step=step, sentence=sentence, cause=cause))
        trouble = TroubleNow(id=kind, since=self.t(), step=step, sentence=sentence, cause=cause)
        self.board.trouble(trouble, over=over)

    def row(self, row: Document) -> None:
        """Take a row of figures."""
        self._metrics.add(row)

    def flush(self, *, at_once: bool = False) -> None:
        """Write what waits; the status at most four times a second unless it is urgent."""
        self._journal.flush()
        self._metrics.flush()
        now = time.monotonic()
        if not (at_once or (self.board.changed and now >= self._status_due)):
            return
        self._status_due = now + STATUS_SECONDS
        try:
            self.status().write(self._run.status, durable=at_once)
        except CannotWrite as error:
            self._wrong = error.reason
            self.board.changed = True
        else:
            self._wrong = None

    def status(self) -> RunStatus:
        """Make the status as it is now."""
        end = self._clock() if self.ended is None else self.ended
        elapsed = None if self.started is None else round(end - self.started, 1)
        return self.board.status(guard=self.guard(), elapsed_seconds=elapsed)

    def begin_anew(self) -> None:
        """Write into the files that are in their places now: the folder was taken away."""
        self._journal.begin_anew()
        self._metrics.begin_anew()
        self.board.changed = True

    def keep_reserve(self) -> None:
        """Take a little room on the disk for the end."""
        with contextlib.suppress(OSError):
            self._run.reserve.write_bytes(bytes(RESERVE_BYTES))

    def close(self) -> None:
        """Write all that is left, from the reserve where the disk is full, and let go of the files."""
        with contextlib.suppress(OSError):
            self._run.reserve.unlink(missing_ok=True)
        self.flush(at_once=True)
        self._journal.close()
        self._metrics.close()
