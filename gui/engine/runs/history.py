"""What a supervisor before this one did with a run: read from its events when a run is adopted."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from gui.engine.documents import iterate_json_lines
from gui.engine.runs.events import (
    RUN_WORDS,
    Answered,
    DiskWarned,
    FileSeen,
    Guarded,
    Judged,
    Kept,
    Launching,
    Notice,
    Stopping,
    StopReason,
    VerdictGiven,
    parse_event,
)
from gui.engine.trainer.events import LossNonfinite

_WORDS = RUN_WORDS | {"loss-nonfinite"}

Repeatable = Guarded | FileSeen | Judged | Kept | Notice | LossNonfinite
"""What a new supervisor finds out again, since it looks at everything afresh."""


@dataclass
class History:
    """What was done and said already.

    Attributes:
        begun: Whether anything was written at all.
        launching: Whether the trainer was started, or was about to be.
        answered: Numbers of the requests that were answered.
        accepted: Whether the user said to go on whatever the loss is.
        after_save: What was complete when a stop after the next save was promised; None without a promise.
        stop: The reason of a stop that was begun.
        complete: Models and states that were seen complete.
        said: What need not be said again, by ``key_of``.
        disk_full: The folder whose disk was full.
        verdict: Whether the run was judged.
    """

    begun: bool = False
    launching: bool = False
    answered: set[int] = field(default_factory=set)
    accepted: bool = False
    after_save: frozenset[Path] | None = None
    complete: set[Path] = field(default_factory=set)
    stop: StopReason | None = None
    said: set[tuple[object, ...]] = field(default_factory=set)
    disk_full: str | None = None
    verdict: bool = False


def read_history(path: Path) -> History:
    """Read what was done from ``events.jsonl``."""
    history = History()
    if not path.is_file():
        return history
    for row in iterate_json_lines(path):
        history.begun = True
        # The trainer's own events are by far the most, and of no interest here.
        event = parse_event(row) if row.get("event") in _WORDS else None
        match event:
            case Launching():
                history.launching = True
            case Answered():
                _take_answer(history, event)
            case Stopping():
                history.stop = event.reason
            case DiskWarned():
                history.disk_full = event.path if event.full else history.disk_full
            case VerdictGiven():
                history.verdict = True
            case Guarded() | FileSeen() | Judged() | Kept() | Notice() | LossNonfinite():
                history.said.add(key_of(event))
                if isinstance(event, FileSeen) and event.complete:
                    history.complete.add(Path(event.path))
            case _:
                pass
    return history


def key_of(event: Repeatable) -> tuple[object, ...]:
    """Return what makes an event the same as one said before."""
    if isinstance(event, Guarded):
        return (event.event, event.action, event.step)
    if isinstance(event, FileSeen):
        return (event.event, event.path, event.complete, event.size)
    if isinstance(event, Judged):
        return (event.event, event.path, event.judgement)
    if isinstance(event, Kept):
        return (event.event, event.path)
    if isinstance(event, LossNonfinite):
        return (event.event, event.step, event.source)
    return (event.event, event.id)


def _take_answer(history: History, event: Answered) -> None:
    history.answered.add(event.number)
    if not event.done:
        return
    if event.request == "accept":
        history.accepted = True
    elif event.request == "stop-after-save":
        history.after_save = frozenset(history.complete)
