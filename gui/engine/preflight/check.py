"""The whole preflight of one plan: what the parser would say, what the rules say, steps, forecast."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gui.engine.errors import PlanNotRunnable, ScriptNotUsable
from gui.engine.findings import Finding, Fix, verdict_of, worst_first
from gui.engine.hardware.memory.learning import MemoryLearning
from gui.engine.hardware.memory.tables import TracedStep
from gui.engine.hardware.visible import lasting_names
from gui.engine.plan.model import SCHEMA, TrainingPlan
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.preflight.collect import Collector
from gui.engine.preflight.estimate import forecast_of
from gui.engine.preflight.facts import Facts
from gui.engine.preflight.own_dataset import taken_over
from gui.engine.preflight.report import CheckReport, Forecast, Steps
from gui.engine.preflight.resume_outlook import resume_report
from gui.engine.preflight.rule import Rule, run_rules
from gui.engine.preflight.rules import ALL_RULES
from gui.engine.preflight.steps import forecast_steps
from gui.engine.preflight.tokens import check_tokens, without_tokens
from gui.engine.preflight.view import View
from gui.engine.texts import _
from gui.engine.trainer.accelerate_launch import judge_launch
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.launch_environment import judge_environment
from gui.engine.trainer.resolving import resolve

TOLD_BETTER: Mapping[str, tuple[str, ...]] = {
    "dataset-file": ("toml-utf8", "toml-esc"),
    "no-data": ("data-leaf", "data-name"),
}
"""What is found while a plan is read, and the rules that tell the same with its place and a way out."""


@dataclass(frozen=True)
class Checker:
    """Checks plans against one trainer and one set of facts.

    Attributes:
        base: The folder against which a plan's relative paths are meant.
        catalogue: The trainer's arguments.
        facts: What is known.
        files_known: Whether ``facts`` are about this machine's own files.
        collector: Looks at the plan's own files and folders; None leaves them unknown.
        rules: The rules.
        library: The presets that plans may name; None takes the program's own.
        learned: Tells what measured runs say of a GPU's memory, by its lasting name.
        traced: Trainings that were traced for a plan: family and row.
    """

    base: Path
    catalogue: Catalogue
    facts: Facts
    files_known: bool = True
    collector: Collector | None = None
    rules: Sequence[Rule] = ALL_RULES
    library: PresetLibrary | None = None
    learned: Callable[[str], MemoryLearning] | None = None
    traced: Sequence[TracedStep] = ()

    def view(self, plan: TrainingPlan) -> tuple[View | None, list[Finding]]:
        """Return what rules see of a plan (None when no script can be told), and what is wrong already."""
        try:
            resolved = resolve(
                plan,
                self.base,
                self.catalogue,
                files_known=self.files_known,
                library=self.library,
                trainer_root=self._trainer_root(),
            )
        except PlanNotRunnable as refusal:
            return None, list(refusal.findings)
        except ScriptNotUsable as refusal:
            return None, [_no_script(refusal)]
        script = resolved.script
        view = View(
            resolved.effective,
            self.facts,
            script.name,
            script,
            plan,
            dataset_file=resolved.dataset_file,
            traced=tuple(self.traced),
        )
        if self.collector is not None:
            view = replace(view, facts=self.collector.of_plan(view, self.facts, self.base))
        if self.learned is not None and view.gpu is not None and view.gpu.uuid:
            view = replace(view, learning=self.learned(view.gpu.uuid))
        return view, list(resolved.findings)

    def findings(self, plan: TrainingPlan) -> list[Finding]:
        """Return all findings of a plan, the worst first."""
        return self._judge(plan)[1]

    def report(self, plan: TrainingPlan, more: Iterable[Finding] = ()) -> CheckReport:
        """Return the whole answer.

        Args:
            plan: The plan.
            more: What was found before, such as in the file that the plan was imported from.
        """
        return self.judged(plan, more)[0]

    def judged(self, plan: TrainingPlan, more: Iterable[Finding] = ()) -> tuple[CheckReport, View | None]:
        """Return the whole answer with what rules saw of the plan; arguments as of ``report``."""
        view, own = self._judge(plan)
        findings = _once([*more, *own])
        report = CheckReport(
            verdict=verdict_of(findings),
            script=view.script if view else "",
            family=plan.family,
            findings=tuple(findings),
            steps=_steps(view) if view else None,
            forecast=forecast_of(view) if view else Forecast(),
            resume=resume_report(view) if view else None,
        )
        return report, view

    def _judge(self, plan: TrainingPlan) -> tuple[View | None, list[Finding]]:
        view, findings = self.view(plan)
        findings += [*_newer(plan), *self._launch(plan), *check_tokens(plan)]
        if view is not None:
            ruled = run_rules(self.rules, view)
            told = {finding.id for finding in ruled}
            findings = [each for each in findings if told.isdisjoint(TOLD_BETTER.get(each.id, ()))]
            findings += ruled
        if view is not None:
            findings = [taken_over(finding, plan, view) for finding in findings]
        return view, _once(without_tokens(findings, plan))

    def _trainer_root(self) -> Path | None:
        trainer = self.collector.trainer if self.collector else None
        return Path(trainer.root) if trainer else None

    def _launch(self, plan: TrainingPlan) -> Iterator[Finding]:
        trainer = self.collector.trainer if self.collector else None
        yield from judge_launch(plan.launch, trainer)
        yield from judge_environment(plan.launch, lasting_names(self.facts.gpu or ()))


def _newer(plan: TrainingPlan) -> Iterator[Finding]:
    if plan.schema_ > SCHEMA:
        yield Finding(
            id="plan-newer",
            severity="stop",
            title=_("A newer version of Kohya Preflight wrote this plan."),
            detail=_("What was added since is not understood here: update the program to run the plan."),
            arguments=("plan.schema",),
        )


def _steps(view: View) -> Steps | None:
    known = forecast_steps(view)
    return known.steps() if known else None


def _no_script(refusal: ScriptNotUsable) -> Finding:
    return Finding(
        id="script-exists",
        severity="stop",
        title=str(refusal),
        arguments=("plan.script",),
        fixes=(
            Fix(
                id="family-script",
                label=_("let family and kind choose the script"),
                changes={"plan.script": None},
                safe=False,
            ),
        ),
        sources=("ENV-12",),
    )


def _once(findings: Iterable[Finding]) -> list[Finding]:
    """The worst first; a finding of the same id, place and title is said once."""
    seen: dict[tuple[str, str | None, str], Finding] = {}
    for finding in findings:
        seen.setdefault((finding.id, finding.where, finding.title), finding)
    return worst_first(seen.values())
