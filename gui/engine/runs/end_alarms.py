"""The alarm for a run that ended badly: memory, disk, a trainer that vanished, any other failure."""

from __future__ import annotations

from gui.engine.errors import PreflightError
from gui.engine.runs.alarm import Alarm, AlarmId, clean_facts
from gui.engine.runs.diagnoses import known_diagnoses
from gui.engine.runs.launched import LaunchedSettings
from gui.engine.runs.status import RunStatus, Verdict
from gui.engine.runs.triage import memory_ways
from gui.engine.texts import _

MEMORY_DIAGNOSES = frozenset(
    {"cuda-oom", "oom-host-commit", "host-memory", "host-sigkill", "host-crash-c0000005"}
)

_ABOUT_THE_LOSS = ("weights-nonfinite", "loss-nonfinite")
_GONE = ("vanished", "rebooted", "outside")


def end_alarm(status: RunStatus, settings: LaunchedSettings, at: float | None) -> Alarm | None:
    """Return the alarm for how a run ended; None where it ended well, as asked, or for its loss.

    Args:
        status: Of the run.
        settings: What it was launched with.
        at: When it was judged, in seconds since the trainer started.
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
        text=verdict.sentence,
        step=verdict.step,
        last_clean=clean,
        last_clean_step=clean_step,
        last_clean_words=clean_words if verdict.step else "",
        causes=tuple(cause.title for cause in verdict.causes[:3]),
        next_steps=_next_steps(identity, verdict, settings, clean.name if clean else ""),
        at=at,
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


def _next_steps(
    identity: AlarmId, verdict: Verdict, settings: LaunchedSettings, clean: str
) -> tuple[str, ...]:
    steps: tuple[str, ...] = ()
    if identity == "oom" and verdict.causes[0].id == "cuda-oom":
        steps = memory_ways(settings)
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
