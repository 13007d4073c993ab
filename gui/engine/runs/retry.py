"""Tries a run again by itself, as often as its plan allows: after memory ran out or a loss broke down (S10).

The supervisor that judged the run does it as its last act, while it still holds the run: so nobody else
can. Each try is a run of its own. A supervisor that dies in the middle leaves ``retry.json`` behind, and
no second one begins another try: rather one too few than one too many.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from gui.engine.errors import CannotWrite, PlanNotRunnable, PreflightError, RunRefused
from gui.engine.paths import Home
from gui.engine.preflight.checking import checker_for
from gui.engine.preflight.launch_look import LaunchLook
from gui.engine.runs.folder import RunFolder, home_of
from gui.engine.runs.neighbours import living_runs
from gui.engine.runs.prepare import Preparation, Prepared
from gui.engine.runs.records import LaunchOrder, Manifest, RetryRecord
from gui.engine.runs.recovery import recovery_of
from gui.engine.runs.recovery_chain import followed
from gui.engine.runs.recovery_models import Recovery, RecoveryTry
from gui.engine.runs.recovery_plans import plan_of_try, trainer_of_run
from gui.engine.runs.retry_record import Retry, tries_left
from gui.engine.runs.start import read_status, start_supervisor
from gui.engine.texts import _
from gui.engine.token_store import TokenStore
from gui.engine.trainer.launch_environment import TOKEN_VARIABLES


def try_again(run: RunFolder, manifest: Manifest, order: LaunchOrder | None) -> RunFolder | None:
    """Start the next try of a run that was just judged, where there is to be one.

    Args:
        run: The run; whoever calls holds its lock.
        manifest: What it was made of.
        order: With what it was launched; None where another supervisor did that.

    Returns:
        The next run; None where there is none. Why is in ``retry.json`` then.
    """
    home, left = home_of(run), tries_left(read_status(run), manifest.retry)
    if left is None or manifest.rehearsal is not None or home is None or not _claim(run.retry):
        return None
    try:
        chosen = _first(recovery_of(run, others_stay=True))
        prepared = prepare_try(run, manifest, home, chosen, _tokens(home, order), by_itself=left)
        start_supervisor(prepared.run, prepared.order)
    except PlanNotRunnable as error:
        _note(run, Retry(sentence=_refused("; ".join(finding.title for finding in error.findings))))
        return None
    except PreflightError as error:
        _note(run, Retry(sentence=_refused(str(error))))
        return None
    text = _("It is tried again – {change}: {name}.")
    sentence = text.format(change=chosen.title, name=prepared.run.name)
    _note(run, Retry(next=prepared.run.name, changes=chosen.changes, sentence=sentence))
    return prepared.run


def prepare_try(
    run: RunFolder,
    manifest: Manifest,
    home: Home,
    chosen: RecoveryTry,
    tokens: Mapping[str, str],
    *,
    accepted: Sequence[str] = (),
    by_itself: RetryRecord | None = None,
) -> Prepared:
    """Make the run of a try, with the trainer and the yeses of the run that it follows.

    Args:
        run: That run.
        manifest: What it was made of.
        home: Where runs are kept.
        chosen: The try.
        tokens: For the trainer's environment.
        accepted: Ids of dangers that the user says yes to, beside those of that run.
        by_itself: How many tries may follow without asking, where nobody asked for this one.

    Raises:
        PlanNotRunnable: The plan is refused after all.
        PreflightError: The trainer is gone, a disk is full, or the like.
    """
    trainer = trainer_of_run(manifest, home)
    plan_file = plan_of_try(run, chosen)
    look = LaunchLook(checker_for(run.path, trainer, home, runs=living_runs), superseded=chosen.superseded)
    preparation = Preparation(
        home, trainer.install, trainer.facts, trainer.catalogue, judge=look.judge, expect=look.expect
    )
    more: dict[str, object] = {"plan_file": manifest.plan_file}
    if by_itself is not None:
        more |= {"retry": by_itself, "follows": followed(home, plan_file.plan, by_itself=True)}
    yeses = tuple(dict.fromkeys((*manifest.accepted, *accepted)))
    return preparation.prepare(plan_file, yeses, tokens, more=more)


def _first(recovery: Recovery) -> RecoveryTry:
    """Return the try to make.

    Raises:
        RunRefused: There is none that could be made without asking.
    """
    chosen = next((each for each in recovery.tries if each.by_itself), None)
    if chosen is not None:
        return chosen
    reasons = (*recovery.hopeless, *recovery.left_out)
    raise RunRefused(reasons[0] if reasons else _("nothing in the plan alone would help."))


def _refused(reason: str) -> str:
    return _("It is not tried again: {reason}").format(reason=reason)


def _claim(path: Path) -> bool:
    """Take the one right to try again; return False where somebody has it."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(Retry().model_dump_json(by_alias=True))
    except OSError:  # it is there, or the disk is full
        return False
    return True


def _note(run: RunFolder, retry: Retry) -> None:
    try:
        retry.write(run.retry)
    except CannotWrite:  # on a full disk the next run is there all the same
        return


def _tokens(home: Home, order: LaunchOrder | None) -> dict[str, str]:
    """Return the tokens for the next trainer: the last one's, else those that are kept."""
    if order is None:
        return TokenStore(home).for_run(os.environ)
    return {name: order.environment[name] for name in TOKEN_VARIABLES if order.environment.get(name)}
