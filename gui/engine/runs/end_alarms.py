"""The alarm for a run that ended badly: memory, disk, a trainer that vanished, any other failure."""

from __future__ import annotations

from typing import NamedTuple

from gui.engine.errors import PreflightError
from gui.engine.quantities import gib
from gui.engine.runs.alarm import Alarm, AlarmId, clean_facts
from gui.engine.runs.diagnoses import known_diagnoses
from gui.engine.runs.launched import LaunchedSettings
from gui.engine.runs.retry_record import Retry
from gui.engine.runs.smaller_plan import OUT_OF_MEMORY, SmallerPlan
from gui.engine.runs.status import RunStatus, Verdict
from gui.engine.runs.triage import memory_ways
from gui.engine.texts import _
from gui.engine.trainer.shortage import MemoryShortage

MEMORY_DIAGNOSES = frozenset(
    {OUT_OF_MEMORY, "oom-host-commit", "host-memory", "host-sigkill", "host-crash-c0000005"}
)

_ABOUT_THE_LOSS = ("weights-nonfinite", "loss-nonfinite")
_GONE = ("vanished", "rebooted", "outside")


class EndFacts(NamedTuple):
    """What is known of a run's end beside its status.

    Attributes:
        settings: What it was launched with.
        at: When it was judged, in seconds since the trainer started.
        shortage: What the trainer said of memory that ran out.
        smaller: What would fit in its place; None where that is not known.
        retry: What became of trying it again by itself; None where that was not to be done.
    """

    settings: LaunchedSettings
    at: float | None = None
    shortage: MemoryShortage | None = None
    smaller: SmallerPlan | None = None
    retry: Retry | None = None


def end_alarm(status: RunStatus, facts: EndFacts) -> Alarm | None:
    """Return the alarm for how a run ended; None where it ended well, as asked, or for its loss.

    Args:
        status: Of the run.
        facts: What else is known.
    """
    verdict = status.verdict
    if verdict is None or verdict.reason in _ABOUT_THE_LOSS:
        return None
    identity = _id_of(verdict)
    if identity is None:
        return None
    clean, clean_step, clean_words = clean_facts(status)
    return Alarm(
        id=identity,
        tone="warn" if verdict.verdict == "suspect" else "bad",
        title=_title(identity, verdict),
        text=_text(identity, verdict, facts.shortage),
        done=facts.retry.sentence if facts.retry else "",
        step=verdict.step,
        last_clean=clean,
        last_clean_step=clean_step,
        last_clean_words=clean_words if verdict.step else "",
        causes=tuple(cause.title for cause in verdict.causes[:3]),
        next_steps=_next_steps(identity, verdict, facts, clean.name if clean else ""),
        at=facts.at,
    )


def _id_of(verdict: Verdict) -> AlarmId | None:
    if verdict.reason in _GONE:
        return "trainer-gone"
    if verdict.verdict not in ("failed", "suspect", "nothing-trained"):
        return None
    if verdict.reason == "disk-full":
        return "disk-short"
    if verdict.causes and verdict.causes[0].id in MEMORY_DIAGNOSES:
        return "oom"
    return "failed"


def _title(identity: AlarmId, verdict: Verdict) -> str:
    if identity == "oom":
        return verdict.causes[0].title
    if identity == "disk-short":
        return _("The disk was full.")
    if verdict.reason == "rebooted":
        return _("The machine was restarted during the training.")
    if identity == "trainer-gone":
        return _("The trainer is gone, and this program did not stop it.")
    if verdict.reason == "not-started":
        return _("The training was not started.")
    return {
        "nothing-trained": _("Nothing was trained."),
        "suspect": _("The result is in doubt."),
    }.get(verdict.verdict, _("The training failed."))


def _text(identity: AlarmId, verdict: Verdict, shortage: MemoryShortage | None) -> str:
    words = shortage_in_words(shortage) if identity == "oom" and shortage is not None else ""
    return " ".join(filter(None, [verdict.sentence, words]))


def shortage_in_words(shortage: MemoryShortage) -> str:
    """Return what a message about memory says of itself; empty where it holds no numbers."""
    said = []
    if shortage.asked is not None:
        said.append(_("{amount} more were asked for").format(amount=gib(shortage.asked)))
    if shortage.free is not None and shortage.total is not None:
        text = _("{free} of {total} were free")
        said.append(text.format(free=gib(shortage.free), total=gib(shortage.total)))
    if shortage.allocated is not None:
        said.append(_("tensors took {amount}").format(amount=gib(shortage.allocated)))
    if shortage.others is not None:
        said.append(_("other programs held {amount}").format(amount=gib(shortage.others)))
    return ", ".join(said) + "." if said else ""


def _next_steps(identity: AlarmId, verdict: Verdict, facts: EndFacts, clean: str) -> tuple[str, ...]:
    steps: tuple[str, ...] = ()
    if identity == "oom" and verdict.causes[0].id == OUT_OF_MEMORY:
        known = facts.smaller.steps() if facts.smaller else ()
        steps = known or tuple(way.words for way in memory_ways(facts.settings))
    elif identity == "disk-short":
        steps = (_("Make room on the disk, or save less often, and start again."),)
    elif verdict.causes:
        steps = _fixes_of(verdict.causes[0].id)
    elif identity == "trainer-gone":
        steps = (
            _("Look whether somebody, the system or a limit of the machine ended it."),
            _("Start it again; save often, and save the state, to lose less."),
        )
    else:
        steps = (_("Read the end of the log: the trainer’s last words stand there."),)
    if clean:
        steps = (*steps, _("{file} is clean and can be used.").format(file=clean))
    return steps


def _fixes_of(identity: str) -> tuple[str, ...]:
    """Return the ways out that a diagnosis knows; none where a newer version made it."""
    try:
        known = next((each for each in known_diagnoses() if each.id == identity), None)
    except PreflightError:
        return ()
    return tuple(_(fix.label) for fix in known.fixes) if known else ()
