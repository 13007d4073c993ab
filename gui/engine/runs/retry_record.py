"""What became of trying a run again by itself: a note in its folder, for whoever watches it."""

from __future__ import annotations

import time
from typing import Any

from pydantic import Field

from gui.engine.errors import CannotRead, NewerDocument
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.lock import is_held
from gui.engine.runs.records import Manifest, RetryRecord, Versioned
from gui.engine.runs.smaller_plan import ran_out
from gui.engine.runs.start import read_status
from gui.engine.runs.status import RunStatus
from gui.engine.texts import _

_ABOUT_THE_LOSS = ("guard", "loss-nonfinite", "weights-nonfinite")


PATIENCE_SECONDS = 300.0
LOOK_SECONDS = 0.2


class Retry(Versioned):
    """What became of trying a run again: ``retry.json``.

    Attributes:
        next: The run that tries it again; None while it is made ready, or where there is none.
        changes: What is different in it.
        sentence: That in words, or why there is none.
    """

    next: str | None = None
    changes: dict[str, Any] = Field(default_factory=dict)
    sentence: str = ""


def read_retry(run: RunFolder) -> Retry | None:
    """Return what became of trying a run again; None where that was not to be done, or not yet."""
    try:
        return Retry.read(run.retry)
    except (CannotRead, NewerDocument):
        return None


def told_of_trying(run: RunFolder, status: RunStatus) -> Retry | None:
    """Return what is told of trying a run again: what became of it, or why nothing did.

    Args:
        run: Its folder.
        status: Of the run.

    Returns:
        None where nobody expects a try.
    """
    noted = read_retry(run)
    if (
        noted is not None and not noted.sentence and not is_held(run.lock)
    ):  # the machine went off, for instance
        return noted.model_copy(update={"sentence": _("It was to be tried again, but that was cut off.")})
    if noted is not None or tries_left(status, RetryRecord(left=1, recoveries=1)) is None:
        return noted
    try:
        manifest = Manifest.read(run.manifest)
    except (CannotRead, NewerDocument):
        return None
    was_tried = manifest.follows is not None and manifest.follows.by_itself
    if not was_tried or tries_left(status, manifest.retry) is not None:
        return None
    return Retry(sentence=_("It is not tried again: that was the last time that the plan allows."))


def tries_left(status: RunStatus | None, record: RetryRecord) -> RetryRecord | None:
    """Return what is left after one more try of a run by itself; None where none is to be made.

    Args:
        status: Of the run, which is over.
        record: What its plan allowed.
    """
    verdict = status.verdict if status else None
    if ran_out(status) and record.left > 0:
        return record.model_copy(update={"left": record.left - 1})
    if verdict is not None and verdict.reason in _ABOUT_THE_LOSS and record.recoveries > 0:
        return record.model_copy(update={"recoveries": record.recoveries - 1})
    return None


def await_retry(run: RunFolder, *, patience_seconds: float = PATIENCE_SECONDS) -> Retry | None:
    """Wait until the supervisor of a judged run has tried it again by itself, where it may.

    Args:
        run: Its folder.
        patience_seconds: How long that may take.

    Returns:
        What became of it; None where that was not to be done.
    """
    try:
        left = tries_left(read_status(run), Manifest.read(run.manifest).retry)
    except (CannotRead, NewerDocument):
        return None
    until = time.monotonic() + patience_seconds
    while left is not None and is_held(run.lock) and time.monotonic() < until:
        time.sleep(LOOK_SECONDS)
    return read_retry(run)
