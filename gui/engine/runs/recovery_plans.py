"""Makes the plans of tries, checks each, and launches them: by hand, by a click, or by itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from gui.engine.errors import CannotContinue, PreflightError, RunRefused
from gui.engine.findings import Finding, Fix
from gui.engine.paths import Home
from gui.engine.plan.changes import apply_changes, differences
from gui.engine.plan.model import Follows, TrainingPlan
from gui.engine.plan.plan_file import PlanFile
from gui.engine.preflight.check import Checker
from gui.engine.preflight.checking import checker_for
from gui.engine.preflight.own_dataset import fix_taken_over
from gui.engine.runs.clean_points import CleanPoint
from gui.engine.runs.continuing import continuation
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.neighbours import living_runs
from gui.engine.runs.records import CommandRecord, Manifest
from gui.engine.runs.recovery_models import ChangeRow, RecoveryTry, Way
from gui.engine.runs.reuse import plan_of_run
from gui.engine.runs.save_names import DEFAULT_LAST_NAME
from gui.engine.runs.saves import collisions
from gui.engine.texts import _
from gui.engine.trainer.choosing import Trainer, open_trainer
from gui.engine.trainer.installs import install_at

_ADDED = re.compile(r"-try\d+$")


class TryMaker:
    """Makes the tries of one run.

    Attributes:
        before: The run's own plan.

    Args:
        run: Its folder.
        manifest: What it was made of.
        home: Holds presets and what is known of trainers.
        points: From where it can go on, the newest first.

    Raises:
        CannotRead: The run's plan is missing or broken.
    """

    def __init__(self, run: RunFolder, manifest: Manifest, home: Home, points: Sequence[CleanPoint]) -> None:
        self.before = plan_of_run(run)
        self._run = run
        self._points = points
        self.checker = run_checker(run, manifest, home)

    def make(self, way: Way) -> RecoveryTry | None:
        """Return the try of a way; None where it changes nothing, or has nothing to begin with.

        Raises:
            CannotContinue: Nothing can go on from its point.
            RunRefused: Its plan would be refused at the launch.
        """
        points, own = self._points_of(way), self._whole(way.changes)
        pointless = not way.unchanged and (own is None or not self._differs(own))
        if own is None or pointless or (way.start == "older" and not points):
            return None
        if not points and way.start == "weights" and self._resumes:
            raise RunRefused(_brings_back(way.change))
        refusals: list[CannotContinue | RunRefused] = []
        for point in points or (None,):
            try:
                return self._made(way, own, point)
            except (CannotContinue, RunRefused) as refusal:
                refusals.append(refusal)
        raise refusals[0]

    def _made(self, way: Way, own: dict[str, Any], point: CleanPoint | None) -> RecoveryTry:
        """Return the try of a way from a point, or from the beginning.

        Raises:
            CannotContinue: Nothing can go on from there.
            RunRefused: Its plan would be refused at the launch.
        """
        going_on = continuation(self._run, point.path) if point else None
        changes = {**own, **(going_on.changes if going_on else self._own_name())}
        plan = apply_changes(self.before.plan, changes)
        new = [each for each in self.checker.findings(plan) if _key(each) not in self._known]
        stops = [each.title for each in new if each.severity == "stop"]
        if stops:
            text = _("{change} would not be launched: {reasons}")
            raise RunRefused(text.format(change=way.change, reasons=" ".join(stops)))
        dangers = [each.title for each in new if each.severity == "danger" and each.id not in way.superseded]
        return RecoveryTry(
            id=way.id,
            title=self._title(way.change, point),
            effect=way.effect,
            changes=changes,
            rows=tuple(_rows(self.before.plan, plan, own)),
            point=point,
            continues=going_on.sentence if going_on else "",
            set_aside=way.set_aside,
            cautions=tuple(dangers),
            superseded=way.superseded,
            by_itself=not way.set_aside and not way.unchanged,
        )

    @cached_property
    def _known(self) -> frozenset[tuple[str, str | None]]:
        """What the run's own plan has against it already."""
        return frozenset(_key(each) for each in self.checker.findings(self.before.plan))

    @property
    def _resumes(self) -> bool:
        """Whether the run itself went on from a state."""
        return bool(self.before.plan.arguments.get("resume"))

    def _title(self, change: str, point: CleanPoint | None) -> str:
        if point is not None:
            return _("{change}, from step {step}").format(change=change, step=f"{point.step:,}")
        if self._resumes or self.before.plan.arguments.get("network_weights"):
            return _("{change}, from where this run began").format(change=change)
        return _("{change}, from the beginning").format(change=change)

    def _points_of(self, way: Way) -> tuple[CleanPoint, ...]:
        """Return where a way begins; after a state, of which more can be wrong, the newest weights."""
        points = self._points
        if way.start == "beginning":
            return ()
        if way.start == "older":
            return tuple(point for point in points if point.step < points[0].step)[:1]
        weights = tuple(point for point in points if point.kind == "weights")[:1]
        return tuple(dict.fromkeys((*points[:1], *weights))) if way.start == "point" else weights

    def _whole(self, changes: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return changes with all that belongs to them, as a fix has them; None where they cannot be made."""
        if not changes:
            return {}
        view, _findings = self.checker.view(self.before.plan)
        own = Fix(id="try", label="", changes=dict(changes), safe=False)
        fix = own if view is None else fix_taken_over(own, self.before.plan, view)
        return None if fix is None else dict(fix.changes)

    def _differs(self, changes: Mapping[str, Any]) -> bool:
        return bool(differences(self.before.plan, apply_changes(self.before.plan, changes)))

    def _own_name(self) -> dict[str, Any]:
        """Return a name for the files of a new beginning, where the run has left some of its own."""
        try:
            command = CommandRecord.read(self._run.command)
        except PreflightError:
            return {}
        own = command.output_name or DEFAULT_LAST_NAME
        if command.output_dir is None or not collisions(command.output_dir, command.output_name):
            return {}
        stem, number = _ADDED.sub("", own), 2
        while collisions(command.output_dir, f"{stem}-try{number}"):
            number += 1
        return {"output_name": f"{stem}-try{number}"}


def run_checker(run: RunFolder, manifest: Manifest, home: Home) -> Checker:
    """Return what checks plans as the run's own was: against its trainer, or the bundled arguments."""
    try:
        trainer: Trainer | None = trainer_of_run(manifest, home)
    except PreflightError:  # it is gone or broken, which a launch says
        trainer = None
    return checker_for(run.path, trainer, home, runs=living_runs)


def trainer_of_run(manifest: Manifest, home: Home) -> Trainer:
    """Return the trainer that a run was launched with.

    Raises:
        TrainerNotFound: It is gone.
        InterpreterNotFound: Its Python is.
        TrainerBroken: It cannot train any more.
    """
    return open_trainer(home, install_at(manifest.trainer, manifest.trainer_python))


def plan_of_try(run: RunFolder, each: RecoveryTry) -> PlanFile:
    """Return the plan of a try, under the run's own name, not saved anywhere yet.

    Args:
        run: The run that it follows.
        each: Which of its tries.

    Raises:
        CannotRead: The run's record is missing or broken.
    """
    before = plan_of_run(run)
    plan = apply_changes(before.plan, each.changes)
    follows = Follows(run=run.name, way=each.id)
    return PlanFile(plan.model_copy(update={"follows": follows}))


def _brings_back(change: str) -> str:
    text = _(
        "{change} would have no effect: the state that this run went on from brings its own learning rate "
        "and optimizer back. Go on from the weights of an earlier run instead."
    )
    return text.format(change=change)


def _rows(before: TrainingPlan, after: TrainingPlan, first: Mapping[str, Any]) -> list[ChangeRow]:
    """Return the differences between two plans, those that a try is about first."""
    made = [
        ChangeRow(target=each.target, before=each.before, after=each.after)
        for each in differences(before, after)
    ]
    return sorted(made, key=lambda row: row.target not in first)


def _key(finding: Finding) -> tuple[str, str | None]:
    return finding.id, finding.where
