"""What happened to a run beside what its trainer said: the other words of ``events.jsonl``.

Every line of that file is a trainer event or one of these; ``event`` tells which. Sentences in
them are written for the user in the language of the time; everything else is data.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, TypeAdapter, ValidationError

from gui.engine.documents import Document, iterate_json_lines
from gui.engine.trainer.events import (
    Epoch,
    Error,
    Exit,
    LossNonfinite,
    Phase,
    Progress,
    Saved,
    Setting,
    Step,
    TrainerEvent,
    Warned,
)

RequestKind = Literal["stop", "stop-after-save", "pause", "resume", "accept"]
StopReason = Literal["user", "guard", "after-save"]
StopStage = Literal["announced", "saving", "asked", "killed", "gone"]
FileKind = Literal["model", "state", "sample"]
TroubleKind = Literal["stalled", "slowed", "trainer-gone", "memory-full", "memory-spill", "gpu-others"]
"""What a supervisor sees going wrong over time; it may be over again."""


class _RunEvent(Document):
    """``t`` is seconds since the trainer started, None where it is not known or has no meaning."""

    t: float | None = None


class Launching(_RunEvent):
    """The supervisor is about to start the trainer; written before it does, so that nobody does it twice.

    Attributes:
        boot_id: Which boot of the machine.
        boot_seconds: Seconds since that boot.
        practice: Whether it is the practice trainer.
    """

    event: Literal["launching"] = "launching"
    boot_id: str
    boot_seconds: float
    practice: bool = False


class Launched(_RunEvent):
    """The trainer runs; its ``t`` is counted from ``boot_seconds``."""

    event: Literal["launched"] = "launched"
    boot_id: str
    boot_seconds: float
    launcher_pid: int
    trainer_pid: int


class Adopted(_RunEvent):
    """A new supervisor took the run over.

    Attributes:
        pid: The supervisor.
        alive: Whether anything of the trainer still lived.
        sentence: For the user.
    """

    event: Literal["adopted"] = "adopted"
    pid: int
    alive: bool
    sentence: str


class Answered(_RunEvent):
    """A request was answered.

    Attributes:
        number: The request's file.
        request: What was asked; None where it could not be read.
        by: Who asked.
        done: Whether it is or will be done.
        sentence: What happens, or why not.
    """

    event: Literal["request"] = "request"
    number: int
    request: RequestKind | None
    by: str = ""
    done: bool
    sentence: str


class Guarded(_RunEvent):
    """The guard saw a loss that is not finite and decided.

    Attributes:
        action: ``stop``, ``watch`` (until it is confirmed), ``warn``, or ``recovered``.
        step: The step whose loss it is.
        sentence: For the user.
    """

    event: Literal["guard"] = "guard"
    action: Literal["stop", "watch", "warn", "recovered"]
    step: int | None = None
    sentence: str


class Stopping(_RunEvent):
    """A stop came to its next stage.

    Attributes:
        stage: ``announced``; ``saving`` while a save is let finish; ``asked`` when the processes were
            signalled; ``killed`` when they did not go; ``gone`` when nothing is left.
        reason: Who wanted it.
        latency_seconds: At ``asked``: since what caused the stop was read.
        sentence: For the user.
    """

    event: Literal["stopping"] = "stopping"
    stage: StopStage
    reason: StopReason
    latency_seconds: float | None = None
    sentence: str


class Paused(_RunEvent):
    """All processes of the trainer were halted."""

    event: Literal["paused"] = "paused"


class Resumed(_RunEvent):
    """All processes of the trainer go on."""

    event: Literal["resumed"] = "resumed"


class FileSeen(_RunEvent):
    """A file or state of the trainer appeared, or is complete now.

    Attributes:
        path: Where, absolute.
        kind: What it is.
        complete: Whether all of it is there.
        size: Bytes so far.
        step: The step that the run was at.
    """

    event: Literal["file"] = "file"
    path: str
    kind: FileKind
    complete: bool
    size: int
    step: int | None = None


class Judged(_RunEvent):
    """The weights of a saved model were looked at.

    Attributes:
        path: Where, absolute.
        judgement: ``clean``, ``incomplete``, ``nonfinite``, ``grown``, ``after-nonfinite``, ``not-checked``.
        factor: How much it has grown against the one before, where that is told.
        sentence: For the user.
    """

    event: Literal["judged"] = "judged"
    path: str
    judgement: str
    factor: float | None = None
    sentence: str


class Kept(_RunEvent):
    """The last clean file was linked or copied, so that the trainer cannot remove it.

    Attributes:
        path: The trainer's file.
        kept_as: The link or copy.
        how: Which of them.
    """

    event: Literal["kept"] = "kept"
    path: str
    kept_as: str
    how: str


class DiskWarned(_RunEvent):
    """A disk that the run writes to has little room, or none.

    Attributes:
        path: A folder on that disk.
        free_bytes: Room left.
        full: Whether there is none.
        sentence: For the user.
    """

    event: Literal["disk"] = "disk"
    path: str
    free_bytes: int
    full: bool = False
    sentence: str


class Notice(_RunEvent):
    """A fact about the run that the user should know, such as "no NVIDIA GPU seen"."""

    event: Literal["notice"] = "notice"
    id: str
    sentence: str


class Troubled(_RunEvent):
    """Something goes wrong with a run that goes on, or is over again.

    Attributes:
        id: ``stalled``: nothing is heard from the trainer; ``slowed``: its steps take far longer than
            usual; ``trainer-gone``: the folder that it was started from is gone; ``memory-full``,
            ``memory-spill``: the GPU's memory; ``gpu-others``: other programs hold much of it.
        over: Whether it is over.
        step: The step that the run was at.
        sentence: For the user.
        cause: Why, where that was seen; empty where not.
    """

    event: Literal["trouble"] = "trouble"
    id: TroubleKind
    over: bool = False
    step: int | None = None
    sentence: str
    cause: str = ""


class VerdictGiven(_RunEvent):
    """The run is over, and this is how; the whole verdict is in ``status.json``."""

    event: Literal["verdict"] = "verdict"
    verdict: str
    reason: str = ""
    sentence: str


RunEvent = (
    Launching
    | Launched
    | Adopted
    | Answered
    | Guarded
    | Stopping
    | Paused
    | Resumed
    | FileSeen
    | Judged
    | Kept
    | DiskWarned
    | Notice
    | Troubled
    | VerdictGiven
)
LogEvent = Annotated[
    Phase
    | Progress
    | Epoch
    | Step
    | LossNonfinite
    | Saved
    | Setting
    | Warned
    | Error
    | Exit
    | Launching
    | Launched
    | Adopted
    | Answered
    | Guarded
    | Stopping
    | Paused
    | Resumed
    | FileSeen
    | Judged
    | Kept
    | DiskWarned
    | Notice
    | Troubled
    | VerdictGiven,
    Field(discriminator="event"),
]
RUN_WORDS = frozenset(kind.model_fields["event"].default for kind in get_args(RunEvent))
"""The ``event`` of everything that did not come from the trainer's output."""

LOG_EVENT: TypeAdapter[LogEvent] = TypeAdapter(LogEvent)
"""One line of ``events.jsonl``."""


def parse_event(row: dict[str, Any]) -> TrainerEvent | RunEvent | None:
    """Return the event of one row; None for one that only a newer version of the program knows."""
    try:
        return LOG_EVENT.validate_python(row)
    except ValidationError:
        return None


def read_events(path: Path) -> Iterator[TrainerEvent | RunEvent]:
    """Read ``events.jsonl`` from its beginning; a line still being written is left out."""
    if not path.is_file():
        return
    for row in iterate_json_lines(path):
        event = parse_event(row)
        if event is not None:
            yield event
