"""After a run has ended: what happened, from where it can go on, and what to try, one thing at a time.

Everything is read from the run's folder. Each try's plan is made and checked here; one that would be
refused is not offered. Sources: knowledge N16 and N19 (the loss), S9, T15 (memory).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from gui.engine.errors import CannotContinue, PreflightError, RunRefused
from gui.engine.paths import Home
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.runs.clean_points import CLEAN
from gui.engine.runs.disk import system_free_bytes
from gui.engine.runs.folder import RunFolder, home_of
from gui.engine.runs.rates import is_mad
from gui.engine.runs.records import Manifest
from gui.engine.runs.recovery_case import Case, case_of
from gui.engine.runs.recovery_images import bad_images
from gui.engine.runs.recovery_loss import loss_by_hand, loss_hopeless, loss_ways
from gui.engine.runs.recovery_models import Recovery, RecoveryTry, Way
from gui.engine.runs.recovery_plans import TryMaker
from gui.engine.runs.recovery_ways import (
    diagnosed_by_hand,
    diagnosed_ways,
    disk_by_hand,
    go_on_ways,
    gpu_by_hand,
    image_by_hand,
    image_ways,
    memory_by_hand,
    memory_hopeless,
    memory_try_ways,
)
from gui.engine.runs.retry_record import read_retry
from gui.engine.runs.smaller_plan import SmallerPlan, smaller_plan
from gui.engine.runs.start import read_status
from gui.engine.texts import _


def recovery_of(
    run: RunFolder, *, others_stay: bool = False, free_bytes: Callable[[Path], int] = system_free_bytes
) -> Recovery:
    """Return how a run can be recovered.

    Args:
        run: Its folder.
        others_stay: Whether other programs keep what they hold of the GPU's memory.
        free_bytes: Says how much room there is below a folder.

    Raises:
        CannotRead: Its record is damaged.
        NewerDocument: A newer version of this program made it.
    """
    status = read_status(run)
    if status is None or status.verdict is None:
        return Recovery(run=run.name, kind="alive", happened=_("The run has not ended yet."))
    case = case_of(run, status, status.verdict)
    if case.kind == "fine":
        return Recovery(run=run.name, kind="fine", happened=case.happened)
    manifest = Manifest.read(run.manifest)
    home = home_of(run) or Home.find()
    maker = TryMaker(run, manifest, home, case.points)
    smaller = smaller_plan(run, others_stay=others_stay) if case.kind == "memory" else None
    images = bad_images(run, maker.checker, home) if case.kind == "image" else ()
    retry = read_retry(run)
    tries, left_out = _made(maker, _ways(case, maker, home, smaller, images))
    return Recovery(
        run=run.name,
        kind=case.kind,
        happened=case.happened,
        causes=case.causes,
        point=case.points[0] if case.points else None,
        point_words=_point_words(case),
        tries=tries,
        by_hand=tuple(_by_hand(case, smaller, images, free_bytes)),
        hopeless=tuple(_hopeless(case, smaller)),
        left_out=left_out,
        tried_by=retry.next or "" if retry else "",
    )


def still_offered(run: RunFolder, shown: RecoveryTry) -> RecoveryTry:
    """Return a try that was offered a while ago as it is now: files come and go, and names are taken.

    Args:
        run: The run that it follows.
        shown: What was offered, and chosen.

    Raises:
        RunRefused: It would be another one by now, or there is none.
        CannotRead: The run's record is damaged.
    """
    now = recovery_of(run).try_of(shown.id)
    if now is None or _sense(now) != _sense(shown):
        raise RunRefused(_("what the run has saved is not what it was when this was offered."))
    return now


def _sense(each: RecoveryTry) -> dict[str, Any]:
    """Return what a try does; how its files are called is no part of that."""
    return {target: value for target, value in each.changes.items() if target != "output_name"}


def recovery_or_none(run: RunFolder) -> Recovery | None:
    """Return the same, None also where something cannot be read: for what must not fail."""
    try:
        return recovery_of(run)
    except PreflightError:
        return None


def _ways(
    case: Case, maker: TryMaker, home: Home, smaller: SmallerPlan | None, images: tuple[Path, ...]
) -> Iterable[Way]:
    if case.kind == "loss":
        return loss_ways(case, maker.before.plan, PresetLibrary(home.presets))
    if case.kind == "memory":
        return memory_try_ways(case, smaller)
    found: list[Way] = []
    if case.kind == "image":
        found = list(image_ways(case, images))
    elif case.kind == "other":
        found = list(diagnosed_ways(case))
    return found or go_on_ways(case)  # images that were in the way may be set aside by now


def _made(maker: TryMaker, ways: Iterable[Way]) -> tuple[tuple[RecoveryTry, ...], tuple[str, ...]]:
    tries, left_out = [], []
    for way in ways:
        try:
            tries.append(maker.make(way))
        except (CannotContinue, RunRefused) as refusal:
            left_out.append(str(refusal))
    return tuple(each for each in tries if each is not None), tuple(left_out)


def _point_words(case: Case) -> str:
    lost = _("{file} was clean, but is gone or another one now: put it back to go on from there.")
    told = [lost.format(file=each.path.name) for each in case.lost[:1]]
    return " ".join((_point_itself(case), *told))


def _point_itself(case: Case) -> str:
    if case.points and case.ran_away is not None:
        text = _("{point} What was saved later was saved while the loss was running away.")
        return text.format(point=case.points[0].sentence)
    if case.points:
        return case.points[0].sentence
    if case.ran_away is not None and not case.lost:
        return _("All that was saved was saved while the loss was running away: it begins anew.")
    finite = any(file.judgement == CLEAN for file in case.status.files)
    if finite and case.kind == "loss" and is_mad(case.settings):
        return _("Files are finite, but such a rate has spoilt what it trained: it begins anew.")
    return _("There is no clean point to go on from: it begins anew.")


def _by_hand(
    case: Case, smaller: SmallerPlan | None, images: tuple[Path, ...], free_bytes: Callable[[Path], int]
) -> Iterable[str]:
    if case.kind == "loss":
        return loss_by_hand(case)
    if case.kind == "memory":
        return memory_by_hand(case, smaller)
    if case.kind == "image":
        return image_by_hand(case, images)
    if case.kind == "disk":
        return disk_by_hand(case, free_bytes)
    if case.kind == "gpu":
        return gpu_by_hand()
    return diagnosed_by_hand(case) if case.kind == "other" else ()


def _hopeless(case: Case, smaller: SmallerPlan | None) -> Iterable[str]:
    if case.kind == "loss":
        return loss_hopeless(case)
    return memory_hopeless(smaller) if case.kind == "memory" else ()
