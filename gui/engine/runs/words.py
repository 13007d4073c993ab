"""What a run says to a person: the same words in the terminal and in the window."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal, NamedTuple

from gui.engine.runs.events import (
    Adopted,
    Answered,
    DiskWarned,
    FileSeen,
    Guarded,
    Judged,
    Kept,
    Launched,
    Notice,
    Paused,
    Resumed,
    RunEvent,
    Stopping,
    Troubled,
    VerdictGiven,
)
from gui.engine.runs.figures import figure, size
from gui.engine.runs.status import RunStatus, VerdictWord
from gui.engine.texts import _
from gui.engine.trainer.events import Epoch, Error, LossNonfinite, Phase, PhaseName, TrainerEvent, Warned
from gui.engine.trainer.output.sentences import phase_words

Tone = Literal["plain", "good", "warn", "bad"]

MOST_CHARACTERS = 200
"""Of a warning or error of the trainer so much is shown, of its first line."""

_GRAVE_NOTICES = ("gpu-lost:", "folder", "survivors", "fault:")
"""How the ids of those notices begin that tell of something broken."""

_GUARD_TONES: dict[str, Tone] = {"stop": "bad", "recovered": "good"}

_MILD_NOTICES = ("awake", "no-gpu")


class Words(NamedTuple):
    """Something to read.

    Attributes:
        tone: How it is meant, for a mark and a colour; never told by colour alone.
        text: A sentence, or a word or two for a chip.
    """

    tone: Tone
    text: str


class Timeline:
    """Gives the words of events in turn, and leaves out what was told before.

    Training and saving take turns a hundred times; that each began is told once.
    """

    def __init__(self) -> None:
        self._phases: set[PhaseName] = set()

    def take(self, event: TrainerEvent | RunEvent) -> Words | None:
        """Return what the next event says; None for one that needs no words."""
        if isinstance(event, Phase):
            if event.phase in self._phases:
                return None
            self._phases.add(event.phase)
        return event_words(event)


def event_words(event: TrainerEvent | RunEvent) -> Words | None:
    """Return what an event says; None for one that a person need not know of."""
    tone = _tone_of(event)
    text = _text_of(event)
    return Words(tone, text) if text else None


def _tone_of(event: TrainerEvent | RunEvent) -> Tone:
    tone: Tone = "plain"
    match event:
        case Guarded():
            tone = _GUARD_TONES.get(event.action, "warn")
        case Stopping():
            tone = _stop_tone(event)
        case Judged():
            tone = _judgement_tone(event.judgement)
        case DiskWarned():
            tone = "bad" if event.full else "warn"
        case Notice():
            tone = _notice_tone(event.id)
        case VerdictGiven():
            tone = verdict_words(event.verdict, event.reason).tone
        case Troubled():
            tone = "good" if event.over else "warn"
        case Answered() | Warned():
            tone = "warn"
        case LossNonfinite() | Error():
            tone = "bad"
    return tone


def _text_of(event: TrainerEvent | RunEvent) -> str:
    text = ""
    match event:
        case Notice() | Guarded() | Stopping() | Judged() | DiskWarned() | Adopted() | VerdictGiven():
            text = event.sentence
        case Troubled():
            text = event.sentence
        case Answered(done=False):
            text = event.sentence
        case Paused():
            text = _("Paused.")
        case Resumed():
            text = _("Going on.")
        case Launched():
            text = _("The trainer runs (process {pid}).").format(pid=event.trainer_pid)
        case Kept():
            text = _("{file} is kept as {copy}.").format(file=Path(event.path).name, copy=event.kept_as)
        case FileSeen(complete=True):
            text = _file_text(event)
        case _:
            text = _trainer_text(event)
    return text


def _trainer_text(event: TrainerEvent | RunEvent) -> str:
    text = ""
    match event:
        case Phase():
            text = _phase_began(event.phase)
        case Epoch():
            text = _("Epoch {epoch} of {epochs}.").format(epoch=event.epoch, epochs=event.total)
        case LossNonfinite(source="bar"):
            value = figure(event.value if event.value is not None else math.nan)
            text = _("The loss is {value} at step {step}.").format(value=value, step=event.step)
        case Warned(count=1):
            text = _("Warning: {message}").format(message=_short(event.message))
        case Error(wrapper=False):
            kind = f"{event.type}: " if event.type else ""
            text = _("Error: {message}").format(message=kind + _short(event.message))
    return text


def _phase_began(phase: PhaseName) -> str:
    return {
        "loading": _("Loading the models."),
        "caching-latents": _("Caching latents."),
        "caching-text": _("Caching text encoder outputs."),
        "training": _("The training began."),
        "validating": _("The first validation began."),
        "sampling": _("The first samples are drawn."),
        "saving": _("The first save began."),
        "done": _("The trainer says that it is done."),
    }[phase]


def _stop_tone(event: Stopping) -> Tone:
    if event.stage == "killed" or event.reason == "guard":
        return "bad"
    return "warn" if event.stage == "announced" else "plain"


def _judgement_tone(judgement: str) -> Tone:
    if judgement == "clean":
        return "good"
    return "warn" if judgement in ("grown", "not-checked") else "bad"


def _notice_tone(identity: str) -> Tone:
    if identity.startswith(_GRAVE_NOTICES):
        return "bad"
    return "plain" if identity in _MILD_NOTICES else "warn"


def _file_text(event: FileSeen) -> str:
    text = {
        "model": _("Saved {file} ({size})."),
        "state": _("Saved the state {file} ({size})."),
        "sample": _("Sample {file}."),
    }[event.kind]
    return text.format(file=Path(event.path).name, size=size(event.size))


def _short(text: str) -> str:
    first = text.strip().splitlines()[0] if text.strip() else ""
    return first if len(first) <= MOST_CHARACTERS else first[: MOST_CHARACTERS - 1] + "…"


def state_words(status: RunStatus) -> Words:
    """Return what a run is doing, or how it ended, in a word or two."""
    if status.verdict is not None:
        return verdict_words(status.verdict.verdict, status.verdict.reason)
    if status.state != "running":
        tones: dict[str, Tone] = {"paused": "warn", "stopping": "warn"}
        words = {
            "starting": _("starting"),
            "paused": _("paused"),
            "stopping": _("stopping"),
            "checking": _("looking at the files"),
            "ended": _("over"),
        }[status.state]
        return Words(tones.get(status.state, "plain"), words)
    words = phase_words(status.phase or "loading")
    if status.bar is not None and status.bar.total and status.phase != "training":
        words = f"{words} {status.bar.done}/{status.bar.total}"
    return Words("plain", words)


def verdict_words(verdict: VerdictWord | str, reason: str = "") -> Words:
    """Return how a run ended, in a word or two.

    Args:
        verdict: Its word; one that only a newer version of this program knows is given as it is.
        reason: What decided it, where that is known.
    """
    special = _special_ends().get((verdict, reason))
    if special is not None:
        return special
    words = {
        "finished": Words("good", _("finished")),
        "nothing-trained": Words("bad", _("nothing was trained")),
        "suspect": Words("warn", _("suspect")),
        "failed": Words("bad", _("failed")),
        "stopped": Words("warn", _("stopped")),
        "unknown": Words("warn", _("unknown")),
    }
    return words.get(verdict, Words("warn", verdict))


def _special_ends() -> dict[tuple[str, str], Words]:
    return {
        ("stopped", "guard"): Words("bad", _("stopped by the guard")),
        ("stopped", "user"): Words("warn", _("stopped by you")),
        ("stopped", "after-save"): Words("warn", _("stopped after a save")),
        ("stopped", "outside"): Words("warn", _("ended from outside")),
        ("suspect", "weights-nonfinite"): Words("bad", _("the last file is ruined")),
        ("suspect", "loss-nonfinite"): Words("bad", _("the loss is not a number")),
        ("failed", "not-started"): Words("bad", _("not started")),
        ("failed", "rebooted"): Words("bad", _("the machine was restarted")),
        ("failed", "disk-full"): Words("bad", _("the disk was full")),
        ("failed", "vanished"): Words("bad", _("vanished")),
    }
