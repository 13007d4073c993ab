"""Tries a run again by itself when the GPU's memory ran out, as often as its plan allows (S10).

The supervisor that judged the run does it as its last act, while it still holds the run: so nobody else
can. Each try is a run of its own. A supervisor that dies in the middle leaves ``retry.json`` behind, and
no second one begins another try: rather one too few than one too many.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gui.engine.errors import CannotWrite, PlanNotRunnable, PreflightError, RunRefused
from gui.engine.findings import Finding, Fix
from gui.engine.paths import Home
from gui.engine.plan.changes import apply_changes, changes_in_words
from gui.engine.plan.plan_file import PlanFile
from gui.engine.preflight.check import Checker
from gui.engine.preflight.checking import checker_for
from gui.engine.preflight.launch_look import LaunchLook
from gui.engine.preflight.own_dataset import fix_taken_over
from gui.engine.runs.folder import RunFolder, home_of
from gui.engine.runs.neighbours import living_runs
from gui.engine.runs.prepare import Preparation, Prepared
from gui.engine.runs.records import LaunchOrder, Manifest, RetryRecord
from gui.engine.runs.retry_record import Retry
from gui.engine.runs.reuse import plan_of_run
from gui.engine.runs.smaller_plan import ran_out, smaller_plan
from gui.engine.runs.start import read_status, start_supervisor
from gui.engine.texts import _
from gui.engine.token_store import TokenStore
from gui.engine.trainer.choosing import open_trainer
from gui.engine.trainer.installs import install_at
from gui.engine.trainer.launch_environment import TOKEN_VARIABLES

ABOUT_MEMORY = ("vram", "vram-preflight", "sample-vram")
"""Findings about the GPU's memory."""


def try_again(run: RunFolder, manifest: Manifest, order: LaunchOrder | None) -> RunFolder | None:
    """Start the next try of a run that was just judged, where there is to be one.

    Args:
        run: The run; whoever calls holds its lock.
        manifest: What it was made of.
        order: With what it was launched; None where another supervisor did that.

    Returns:
        The next run; None where there is none. Why is in ``retry.json`` then.
    """
    home = home_of(run)
    wanted = manifest.retry.left > 0 and manifest.rehearsal is None and home is not None
    if not wanted or home is None or not ran_out(read_status(run)) or not _claim(run.retry):
        return None
    try:
        prepared, changes = _prepare(run, home, manifest, order)
        start_supervisor(prepared.run, prepared.order)
    except PlanNotRunnable as error:
        _note(run, Retry(sentence=_refused("; ".join(finding.title for finding in error.findings))))
        return None
    except PreflightError as error:
        _note(run, Retry(sentence=_refused(str(error))))
        return None
    text = _("It is tried again with {changes}: {name}.")
    sentence = text.format(changes=changes_in_words(changes), name=prepared.run.name)
    _note(run, Retry(next=prepared.run.name, changes=changes, sentence=sentence))
    return prepared.run


def _refused(reason: str) -> str:
    return _("It is not tried again: {reason}").format(reason=reason)


def _nothing_fits() -> RunRefused:
    return RunRefused(_("no change of the plan alone makes it fit."))


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


def _prepare(
    run: RunFolder, home: Home, manifest: Manifest, order: LaunchOrder | None
) -> tuple[Prepared, dict[str, Any]]:
    found = smaller_plan(run, others_stay=True)
    if found is None or not found.advised.fits or not found.changes or found.by_hand:
        raise _nothing_fits()
    trainer = open_trainer(home, install_at(manifest.trainer, manifest.trainer_python))
    before = plan_of_run(run)
    checker = checker_for(run.path, trainer, home, runs=living_runs)
    changes = _whole(checker, before, found.changes)
    plan_file = PlanFile(apply_changes(before.plan, changes))
    look = LaunchLook(checker)
    preparation = Preparation(
        home,
        trainer.install,
        trainer.facts,
        trainer.catalogue,
        judge=lambda file: [each for each in look.judge(file) if not _is_superseded(each)],
        expect=look.expect,
    )
    earlier = manifest.retry
    record = RetryRecord(left=earlier.left - 1, before=(*earlier.before, run.name), changes=changes)
    prepared = preparation.prepare(
        plan_file,
        manifest.accepted,
        _tokens(home, order),
        more={"retry": record, "plan_file": manifest.plan_file},
    )
    return prepared, changes


def _is_superseded(finding: Finding) -> bool:
    """Whether a finding rests on the forecast, which what was measured has replaced."""
    return finding.id in ABOUT_MEMORY and finding.severity != "stop"


def _whole(checker: Checker, before: PlanFile, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return changes with all that belongs to them, as a fix of the same would have it."""
    view, problems = checker.view(before.plan)
    if view is None:
        raise PlanNotRunnable(problems)
    fix = fix_taken_over(Fix(id="fit", label="", changes=dict(changes), safe=False), before.plan, view)
    if fix is None:
        raise _nothing_fits()
    return dict(fix.changes)


def _tokens(home: Home, order: LaunchOrder | None) -> dict[str, str]:
    """Return the tokens for the next trainer: the last one's, else those that are kept."""
    if order is None:
        return TokenStore(home).for_run(os.environ)
    return {name: order.environment[name] for name in TOKEN_VARIABLES if order.environment.get(name)}
