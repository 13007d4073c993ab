"""Reads what a run has written, piece by piece: the part of watching that runs in a thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import ValidationError

from gui.engine.documents import reason_of
from gui.engine.errors import NewerDocument, PreflightError
from gui.engine.runs.alarm import Alarm
from gui.engine.runs.alarms import AlarmWatch
from gui.engine.runs.events import RunEvent
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.follow import Follower, LineTail
from gui.engine.runs.loss_advice import LossAdvice, LossAdviser, adviser_of
from gui.engine.runs.memory_hook import MemoryRow, memory_rows
from gui.engine.runs.metrics import METRIC_ROW, AnyRow
from gui.engine.runs.status import RunStatus
from gui.engine.texts import _
from gui.engine.trainer.events import Progress, Step, TrainerEvent

PIECE_BYTES = 32 * 1024
"""So much is read of a file at once: some two hundred rows, a few milliseconds of work."""


class Happening(NamedTuple):
    """Something that happened.

    Attributes:
        event: What.
        step: The step that the run was at, None before the first.
    """

    event: TrainerEvent | RunEvent
    step: int | None


@dataclass(frozen=True)
class Piece:
    """What one look has found.

    Attributes:
        status: The status, None where it is as before.
        events: What happened, without single steps and moves of bars.
        rows: Figures over time.
        memory: What the trainer's torch said of its memory.
        alarms: What must be told loudly now, None where it is as before.
        advice: What the loss curve tells, None where it is as before.
        more: Whether there is more to read at once.
        trouble: Why the run cannot be read, "" where it can, None where nobody looked.
        gone: Whether the folder is not there.
    """

    status: RunStatus | None = None
    events: tuple[Happening, ...] = ()
    rows: tuple[AnyRow, ...] = ()
    memory: tuple[MemoryRow, ...] = ()
    alarms: tuple[Alarm, ...] | None = None
    advice: tuple[LossAdvice, ...] | None = None
    more: bool = False
    trouble: str | None = None
    gone: bool = False

    @property
    def empty(self) -> bool:
        """Whether there is nothing to tell."""
        told = self.events or self.rows or self.memory
        return self.status is None and self.alarms is None and self.advice is None and not told


class RunReader:
    """Reads one run from its beginning; what is broken in it is passed over.

    Args:
        run: The folder.
    """

    def __init__(self, run: RunFolder) -> None:
        self._run = run
        self._follower = Follower(run)
        self._rows = LineTail(run.metrics)
        self._memory = LineTail(run.memory)
        self._mark: tuple[int, int, int] | None = None
        self._step: int | None = None
        self._watch = AlarmWatch(run)
        self._alarms: tuple[Alarm, ...] = ()
        self._late = False
        self._adviser: LossAdviser | None = None
        self._advice: tuple[LossAdvice, ...] = ()
        self.status: RunStatus | None = None

    def look(self) -> Piece:
        """Read the next piece."""
        gone = False
        status: RunStatus | None = None
        try:
            status, trouble = self._new_status()
        except FileNotFoundError:
            self._mark = None
            # It may just have been made, or be written anew by its supervisor.
            gone = not self._run.exists()
            text = _("The folder of this run is no longer there: {folder}")
            trouble = text.format(folder=self._run.path) if gone else None
        try:
            events = tuple(self._events())
            rows = tuple(self._metric_rows())
            memory = tuple(memory_rows(self._memory, PIECE_BYTES))
        except OSError as error:
            return Piece(status=status, trouble=reason_of(error), gone=gone)
        more = not (self._follower.at_end() and self._rows.at_end() and self._memory.at_end())
        alarms = self._new_alarms(events, told=status is not None, more=more)
        advice = self._new_advice(rows, told=status is not None, more=more)
        return Piece(status, events, rows, memory, alarms, advice, more, trouble, gone)

    def close(self) -> None:
        """Let go of the files."""
        self._follower.close()
        self._rows.close()
        self._memory.close()

    def _new_status(self) -> tuple[RunStatus | None, str | None]:
        """Return the status where it is another one than before, and why it cannot be read.

        Raises:
            FileNotFoundError: There is none.
        """
        try:
            facts = self._run.status.stat()
            mark = (facts.st_mtime_ns, facts.st_size, facts.st_ino)
            if mark == self._mark:
                return None, None
            status = RunStatus.read(self._run.status)
        except FileNotFoundError:
            raise
        except NewerDocument as error:
            self._mark = mark
            return None, str(error)
        except PreflightError as error:
            self._mark = mark
            text = _("What this run is doing cannot be read: {reason}")
            return None, text.format(reason=error)
        except OSError as error:
            return None, reason_of(error)
        self._mark = mark
        changed = status != self.status
        self.status = status
        return (status if changed else None), ""

    def _new_alarms(self, events: Sequence[Happening], *, told: bool, more: bool) -> tuple[Alarm, ...] | None:
        """Return the alarms where they are others than before; not while older events are still to come."""
        self._watch.take(happening.event for happening in events)
        self._late = self._late or told or bool(events)
        if more or self.status is None or not self._late:
            return None
        self._late = False
        # Whether somebody looks after the run is seen to beside this, and mended.
        found = self._watch.alarms(self.status, supervised=True)
        if found == self._alarms:
            return None
        self._alarms = found
        return found

    def _new_advice(self, rows: Sequence[AnyRow], *, told: bool, more: bool) -> tuple[LossAdvice, ...] | None:
        """Return what the loss curve tells where that is other than before."""
        if rows:
            self._adviser = self._adviser or adviser_of(self._run)
            self._adviser.add(rows)
        if more or self._adviser is None or not (rows or told):
            return None
        found = tuple(self._adviser.advice(self.status.total if self.status else None))
        if found == self._advice:
            return None
        self._advice = found
        return found

    def _events(self) -> Iterator[Happening]:
        for event in self._follower.events(PIECE_BYTES):
            if isinstance(event, Step):
                self._step = event.step
            elif not isinstance(event, Progress):
                yield Happening(event, self._step)

    def _metric_rows(self) -> Iterator[AnyRow]:
        for line in self._rows.read(PIECE_BYTES):
            try:
                yield METRIC_ROW.validate_json(line)
            except ValidationError:
                continue
