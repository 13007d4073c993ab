"""One check of one plan, in a thread: with a look at its files, or with what was seen there before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from gui.engine.dataset.doctor import CACHE_FOLDER
from gui.engine.dataset.folder_records import FolderRecords
from gui.engine.hardware.gpu import GpuMonitor
from gui.engine.hardware.memory.learning import MemoryLearning
from gui.engine.hardware.memory.tables import TracedStep
from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.preflight.check import Checker
from gui.engine.preflight.collect import Collector, trainer_fact
from gui.engine.preflight.disk import DiskForecast, forecast_disk
from gui.engine.preflight.estimate import PlanEstimate, estimate_of
from gui.engine.preflight.exact_forecast import ExactQuestion, exact_question, is_exact
from gui.engine.preflight.facts import Facts
from gui.engine.preflight.report import CheckReport
from gui.engine.preflight.view import View
from gui.engine.runs.plan_pace import with_pace
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.choosing import Trainer
from gui.engine.trainer.installs import TrainerInstall
from gui.window.bridges.files_seen import FilesSeen
from gui.window.bridges.plan_trainer import PlanTrainers

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
        estimate: What it would need, and what could be changed about that; None without a view.
        exact: What a trace would have to answer, for a forecast that is exact; None where none can be made.
        is_exact: Whether the forecast rests on such a trace.
    """

    plan: TrainingPlan
    report: CheckReport
    view: View | None
    disk: DiskForecast | None
    trainer: Trainer | None
    files_known: bool
    estimate: PlanEstimate | None = None
    exact: ExactQuestion | None = None
    is_exact: bool = False

    @property
    def effective(self) -> TrainingPlan:
        """The plan as the trainer would understand it, presets filled in."""
        return self.view.plan if self.view else self.plan

    @property
    def free_gib(self) -> float | None:
        """Room on the disk that is written to, GiB."""
        return self.view.facts.disk_free_gib if self.view else None


@dataclass
class _Looking(Collector):
    """Looks at the plan's files, and tells what it saw."""

    seen: FilesSeen = field(default_factory=FilesSeen)
    files: Files = "look"
    known: bool = True

    def of_plan(self, view: View, machine: Facts, base: Path) -> Facts:
        known = self.seen.knows(view)
        self.known = known or self.files != "recall"
        if self.files == "look" or (self.files == "look-where-new" and not known):
            facts = super().of_plan(view, machine, base)
            self.seen.keep(view, facts)
        else:
            facts = self.seen.recall(view, machine)
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
        home: Holds the runs, which tell how fast a step is, and what scans of images found out.
        learned: Tells what runs have taught of a GPU's memory, by its lasting name.
        traced: Trainings that were traced for this plan or one like it, each with the trainer that it was in.
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
    home: Home
    learned: Callable[[str], MemoryLearning]
    traced: tuple[tuple[TrainerInstall, TracedStep], ...] = ()

    def check(self, files: Files) -> Checked:
        """Return what is found.

        Raises:
            PreflightError: The plan names a trainer of its own that cannot be used.
        """
        find = self.trainers.known if files == "recall" else self.trainers.of
        trainer = find(self.plan, self.base, self.current)
        collector = self._collector(trainer, files)
        checker = self._checker(trainer, collector)
        if trainer is not None and files != "recall":
            checker = with_pace(checker, self.plan, trainer, self.home)
        report, view = checker.judged(self.plan)
        if view is None:
            return Checked(self.plan, report, None, None, trainer, collector.known)
        exact = exact_question(view)
        return Checked(
            self.plan,
            report,
            view,
            forecast_disk(view),
            trainer,
            collector.known,
            estimate=estimate_of(view),
            exact=exact if trainer is not None else None,
            is_exact=exact is not None and is_exact(exact, view),
        )

    def checker(self) -> Checker:
        """Return what checks the plan and what may become of it; known files are not looked at again."""
        trainer = self.trainers.known(self.plan, self.base, self.current)
        return self._checker(trainer, self._collector(trainer, "look-where-new"))

    def _collector(self, trainer: Trainer | None, files: Files) -> _Looking:
        facts = trainer.facts if trainer else None
        practice = trainer is not None and trainer.install.practice
        records = FolderRecords(self.home.cache / CACHE_FOLDER)
        return _Looking(facts, practice, self.gpus, records=records, seen=self.seen, files=files)

    def _checker(self, trainer: Trainer | None, collector: Collector) -> Checker:
        machine = self.machine
        if trainer is not None:
            fact = trainer_fact(trainer.facts, practice=trainer.install.practice)
            machine = machine.model_copy(update={"trainer": fact})
        catalogue = trainer.catalogue if trainer else self.bundled
        return Checker(
            self.base,
            catalogue,
            machine,
            collector=collector,
            library=self.library,
            learned=self.learned,
            traced=[step for install, step in self.traced if trainer and install == trainer.install],
        )
