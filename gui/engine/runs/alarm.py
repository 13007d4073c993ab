"""One thing that a person must be told loudly about a run."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from gui.engine.documents import Document
from gui.engine.runs.status import RunStatus
from gui.engine.runs.triage import Moment
from gui.engine.texts import _

AlarmId = Literal[
    "loss-nonfinite",
    "oom",
    "gpu-lost",
    "disk-short",
    "trainer-gone",
    "failed",
    "unattended",
    "memory-spill",
    "stalled",
    "slowed",
    "memory-full",
    "gpu-others",
]

ALARM_ORDER: tuple[AlarmId, ...] = get_args(AlarmId)
"""The gravest first."""


class Alarm(Document):
    """What happened, what was done about it, why it happened, and what to do next.

    Attributes:
        id: Stable.
        tone: ``bad``, or ``warn`` where nothing is lost yet.
        title: One plain sentence.
        text: More about it; may be empty.
        step: The step that it happened at.
        loss_before: The last finite loss, for a loss that broke down.
        done: What was done about it; empty where nothing was.
        asks: Whether the guard waits for ``stop`` or ``accept``.
        last_clean: The newest file that is safe to use, None where there is none.
        last_clean_step: Steps behind it, where known.
        last_clean_words: Which file that is and what it was checked for, or that there is none.
        causes: Likely causes, the likeliest first.
        next_steps: What to do, in order.
        moment: When in the run a loss broke down, as ``runs.triage`` tells moments apart.
        at: Seconds since the trainer started, None where that is not known.
    """

    id: AlarmId
    tone: Literal["warn", "bad"]
    title: str
    text: str = ""
    step: int | None = None
    loss_before: float | None = None
    done: str = ""
    asks: bool = False
    last_clean: Path | None = None
    last_clean_step: int | None = None
    last_clean_words: str = ""
    causes: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    moment: Moment | None = None
    at: float | None = None


def clean_facts(status: RunStatus) -> tuple[Path | None, int | None, str]:
    """Return the newest clean file of a run, the steps behind it, and the words about it."""
    clean = [
        file for file in status.files if file.judgement == "clean" and (file.kept_as or not file.removed)
    ]
    if not clean:
        return None, None, _("No clean file was saved.")
    newest = max(enumerate(clean), key=lambda pair: (pair[1].step or 0, pair[0]))[1]
    path = newest.kept_as if newest.removed and newest.kept_as else newest.path
    words = _("Last clean file: {file} (checked: complete, finite, grown no more than before).")
    return path, newest.step, words.format(file=path.name)
