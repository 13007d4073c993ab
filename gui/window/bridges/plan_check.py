"""One check of one plan, in a thread: with a look at its files, or with what was seen there before."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from gui.engine.hardware.gpu import GpuMonitor
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.paths import PATH_ARGUMENTS, PATH_OR_HUB_ARGUMENTS
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.preflight.check import Checker
from gui.engine.preflight.collect import Collector, trainer_fact
from gui.engine.preflight.disk import DiskForecast, forecast_disk
from gui.engine.preflight.facts import DatasetFact, Facts, SubsetFact
from gui.engine.preflight.report import CheckReport
from gui.engine.preflight.view import SubsetView, View
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.choosing import Trainer
from gui.window.bridges.plan_trainer import PlanTrainers

SubsetKey = tuple[str, str]
"""Folder and caption extension: what decides about the facts of a subset."""

Files = Literal["look", "look-where-new", "recall"]
"""What to do about a plan's files: look at them, only where nothing is known of them yet, or not at all."""


@dataclass(frozen=True)
class Checked:
    """A plan and what was found about it.

    Attributes:
        plan: As the user wrote it.
        report: The answer.
        view: What the rules saw; None when nothing tells which script would run.
        disk: What the run would write.
        trainer: That would run; None when there is none.
        files_known: Whether nothing about the plan's files was left open.
    """

    plan: TrainingPlan
    report: CheckReport
    view: View | None
    disk: DiskForecast | None
    trainer: Trainer | None
    files_known: bool

    @property
    def effective(self) -> TrainingPlan:
        """The plan as the trainer would understand it, presets filled in."""
        return self.view.plan if self.view else self.plan

    @property
    def free_gib(self) -> float | None:
        """Room on the disk that is written to, GiB."""
        return self.view.facts.disk_free_gib if self.view else None


class FilesSeen:
    """What was last seen at the paths of plans, for answers that do not wait for the disk."""

    def __init__(self) -> None:
        self._facts = Facts()
        self._subsets: dict[SubsetKey, SubsetFact] = {}
        self._places: tuple[Any, ...] = ()
        self._looked_at = 0.0

    @property
    def age_seconds(self) -> float:
        """How long ago the last look was."""
        return time.monotonic() - self._looked_at

    def keep(self, view: View, facts: Facts) -> None:
        """Remember what a look has found."""
        known = facts.dataset.subsets if facts.dataset else ()
        fits = len(known) == len(view.subsets)
        self._subsets = dict(zip(map(_key, view.subsets), known, strict=True)) if fits else {}
        self._facts = facts
        self._places = _places(view)
        self._looked_at = time.monotonic()

    def knows(self, view: View) -> bool:
        """Return whether everything that a plan names was looked at before."""
        return (
            self._places == _places(view)
            and all(_key(subset) in self._subsets or not subset.own for subset in view.subsets)
            and all(path in self._facts.paths for path in _paths(view.plan))
        )

    def recall(self, view: View, machine: Facts) -> Facts:
        """Return what is still true for a plan that may have changed since; the rest is unknown."""
        facts = self._facts
        same = self._places == _places(view)
        return machine.model_copy(
            update={
                "paths": facts.paths,
                "dataset": self._dataset(view, facts.dataset),
                "disk_free_gib": facts.disk_free_gib if same else None,
                "existing_outputs": facts.existing_outputs if same else (),
            }
        )

    def _dataset(self, view: View, known: DatasetFact | None) -> DatasetFact | None:
        if known is None or not any(subset.own for subset in view.subsets):
            return None
        subsets = self._subsets
        facts = [subsets.get(_key(each), SubsetFact(image_dir=_key(each)[0])) for each in view.subsets]
        training = [fact for fact, each in zip(facts, view.subsets, strict=True) if not each.flag("is_reg")]
        counts = [fact.images for fact in training if fact.images is not None]
        images = sum(counts) if len(counts) == len(training) else None
        return known.model_copy(update={"subsets": tuple(facts), "images": images})


def _key(subset: SubsetView) -> SubsetKey:
    return str(subset.value("image_dir") or ""), str(subset.value("caption_extension") or "")


def _places(view: View) -> tuple[Any, ...]:
    own = view.own or view.plan
    return view.value("output_dir"), view.value("output_name"), own.arguments.get("train_data_dir")


def _paths(plan: TrainingPlan) -> Iterator[str]:
    """All paths that a collector looks at beside folders of images."""
    for name in (PATH_ARGUMENTS | PATH_OR_HUB_ARGUMENTS) & plan.arguments.keys():
        value = plan.arguments[name]
        for text in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(text, str) and Path(text).is_absolute():
                yield text


@dataclass
class _Looking(Collector):
    """Looks at the plan's files, and tells what it saw."""

    seen: FilesSeen = field(default_factory=FilesSeen)
    files: Files = "look"
    view: View | None = None
    known: bool = True

    def of_plan(self, view: View, machine: Facts, base: Path) -> Facts:
        known = self.seen.knows(view)
        self.known = known or self.files != "recall"
        if self.files == "look" or (self.files == "look-where-new" and not known):
            facts = super().of_plan(view, machine, base)
            self.seen.keep(view, facts)
        else:
            facts = self.seen.recall(view, machine)
        self.view = replace(view, facts=facts)
        return facts


@dataclass(frozen=True)
class PlanCheck:
    """All that a check needs, so that it can be done in a thread while the user goes on.

    Attributes:
        plan: The plan.
        base: The folder against which its relative paths are meant.
        trainers: Open the trainer that the plan may name.
        current: The window's own trainer.
        bundled: The arguments that count without a trainer.
        gpus: Looks at the GPUs.
        machine: What is true whatever plan and trainer.
        library: The presets that the plan may name.
        seen: What earlier looks have found.
    """

    plan: TrainingPlan
    base: Path
    trainers: PlanTrainers
    current: Trainer | None
    bundled: Catalogue
    gpus: GpuMonitor
    machine: Facts
    library: PresetLibrary
    seen: FilesSeen

    def check(self, files: Files) -> Checked:
        """Return what is found.

        Raises:
            PreflightError: The plan names a trainer of its own that cannot be used.
        """
        find = self.trainers.known if files == "recall" else self.trainers.of
        trainer = find(self.plan, self.base, self.current)
        collector = self._collector(trainer, files)
        report = self._checker(trainer, collector).report(self.plan)
        view = collector.view
        disk = forecast_disk(view) if view else None
        return Checked(self.plan, report, view, disk, trainer, collector.known)

    def checker(self) -> Checker:
        """Return what checks the plan and what may become of it; known files are not looked at again."""
        trainer = self.trainers.known(self.plan, self.base, self.current)
        return self._checker(trainer, self._collector(trainer, "look-where-new"))

    def _collector(self, trainer: Trainer | None, files: Files) -> _Looking:
        facts = trainer.facts if trainer else None
        practice = trainer is not None and trainer.install.practice
        return _Looking(facts, practice, self.gpus, seen=self.seen, files=files)

    def _checker(self, trainer: Trainer | None, collector: Collector) -> Checker:
        machine = self.machine
        if trainer is not None:
            fact = trainer_fact(trainer.facts, practice=trainer.install.practice)
            machine = machine.model_copy(update={"trainer": fact})
        catalogue = trainer.catalogue if trainer else self.bundled
        return Checker(self.base, catalogue, machine, collector=collector, library=self.library)
