"""All that recovery needs to know of a run that is over, and which kind of end it had."""

from __future__ import annotations

from dataclasses import dataclass

from gui.engine.runs.alarm import Alarm
from gui.engine.runs.alarms import alarms
from gui.engine.runs.clean_points import CleanPoint, clean_points, lost_points
from gui.engine.runs.end_alarms import MEMORY_DIAGNOSES
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.launched import LaunchedSettings, launched_settings
from gui.engine.runs.metrics import read_metrics
from gui.engine.runs.rates import is_mad
from gui.engine.runs.recovery_models import RecoveryKind
from gui.engine.runs.run_course import course_of
from gui.engine.runs.runaway import ran_away_at
from gui.engine.runs.status import RunStatus, Verdict
from gui.engine.texts import _

IMAGES = ("image-bad", "image-huge")
"""Diagnoses of files that are to be taken out of the dataset."""

GPU_LOST = "cuda-hardware"

_UNSEEN = ("rebooted", "vanished", "outside")
_BY_USER = ("user", "after-save")


@dataclass(frozen=True)
class Case:
    """A run that is over.

    Attributes:
        run: Its folder.
        status: As its supervisor left it.
        verdict: How it ended.
        kind: Of the end.
        settings: What it was launched with.
        alarm: What was told of its end, or of its loss; None where nothing was.
        points: From where it can go on, the newest first; none from when the loss ran away already.
        ran_away: The step of the whole training from which on it did, None where it did not.
        lost: Newer points that would be there if their files were.
    """

    run: RunFolder
    status: RunStatus
    verdict: Verdict
    kind: RecoveryKind
    settings: LaunchedSettings
    alarm: Alarm | None
    points: tuple[CleanPoint, ...]
    ran_away: int | None = None
    lost: tuple[CleanPoint, ...] = ()

    @property
    def causes(self) -> tuple[str, ...]:
        """Ids of the likely causes, the likeliest first."""
        return tuple(cause.id for cause in self.verdict.causes)

    @property
    def happened(self) -> str:
        """What happened, in one sentence."""
        if self.alarm is not None and self.kind == "loss":
            return self.alarm.title
        return self.verdict.sentence or _("How it ended is not known.")


def case_of(run: RunFolder, status: RunStatus, verdict: Verdict) -> Case:
    """Gather what is known of a run that is over.

    Raises:
        NewerDocument: A newer version of this program made it.
    """
    told = alarms(run, status)
    kind = _kind_of(verdict, told)
    settings = launched_settings(run)
    mad = kind == "loss" and is_mad(settings)  # what such a rate has touched is no place to go on from
    hopeless = kind == "fine" or mad
    points, lost = ([], []) if hopeless else (clean_points(run), lost_points(run))
    ran_away = _ran_away(run, status) if kind == "loss" and (points or lost) else None
    points, lost = (
        [each for each in some if ran_away is None or each.step < ran_away] for some in (points, lost)
    )
    return Case(
        run=run,
        status=status,
        verdict=verdict,
        kind=kind,
        settings=settings,
        alarm=told[0] if told else None,
        points=tuple(points),
        ran_away=ran_away,
        lost=tuple(each for each in lost if not points or each.step > points[0].step),
    )


def _ran_away(run: RunFolder, status: RunStatus) -> int | None:
    """Return the step of the whole training at which the loss began to run away."""
    broke = status.first_nonfinite_step
    found = None if broke is None else ran_away_at(read_metrics(run.metrics), broke)
    return None if found is None else course_of(run).done(found)


def _kind_of(verdict: Verdict, told: tuple[Alarm, ...]) -> RecoveryKind:
    first = verdict.causes[0].id if verdict.causes else ""
    ids = {alarm.id for alarm in told}
    kinds: tuple[tuple[bool, RecoveryKind], ...] = (
        (verdict.verdict == "finished", "fine"),
        ("loss-nonfinite" in ids, "loss"),
        (verdict.reason == "disk-full", "disk"),
        (first in MEMORY_DIAGNOSES, "memory"),
        (first == GPU_LOST or "gpu-lost" in ids, "gpu"),
        (first in IMAGES, "image"),
        (verdict.reason in _UNSEEN, "power"),
        (verdict.reason in _BY_USER, "stopped"),
    )
    return next((kind for applies, kind in kinds if applies), "other")
