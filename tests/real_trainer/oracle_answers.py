"""Asks both, the trainer and this program, about plans."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agreement_draft import Draft, Unlooked
from agreement_words import words_of
from oracle_plans import Drawn, make, material

from gui.engine.findings import Finding
from gui.engine.preflight.check import Checker
from gui.engine.preflight.collect import Collector, trainer_fact
from gui.engine.preflight.facts import Facts
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.facts import TrainerFacts
from gui.engine.trainer.inherited import clean_environment

DRIVER = Path(__file__).with_name("oracle_trainer.py")


@dataclass(frozen=True)
class Case:
    """One plan, what we say and what the trainer says.

    Attributes:
        drawn: What was drawn.
        draft: The plan.
        words: Its command line.
        findings: What we say.
        answer: What the trainer did: see ``oracle_trainer.py``.
    """

    drawn: Drawn
    draft: Draft
    words: list[str]
    findings: list[Finding]
    answer: dict[str, Any]

    @property
    def refusal(self) -> str | None:
        """What ended the training; None where it trained."""
        return self.answer["refusal"]

    @property
    def stops(self) -> set[str]:
        """The ids of our stop findings."""
        return {found.id for found in self.findings if found.severity == "stop"}

    def words_about_it(self) -> str:
        """Describe it in a few lines."""
        ours = [found.title for found in self.findings if found.severity == "stop"]
        return (
            f"{self.draft.script.name} {self.drawn.way[0]} {self.drawn.names} {self.drawn.changes}\n"
            f"  we: {ours or 'go'}\n  trainer: {self.refusal or 'trained'} ({self.answer['where']})"
        )


@dataclass
class Oracle:
    """Asks both about plans.

    Attributes:
        trainer: The real trainer.
        facts: What the probe says of it.
        folder: An empty folder.
        workers: So many trainings run at a time.
    """

    trainer: Any
    facts: TrainerFacts
    folder: Path
    workers: int = field(default_factory=lambda: min(4, os.cpu_count() or 1))

    def ask(self, drawn: Iterable[Drawn]) -> list[Case]:
        """Return all plans with both answers, in the order in which they were drawn."""
        catalogue = Catalogue.from_facts(self.facts)
        template = self.folder / "template"
        material(template)
        ours = list(self._ours(list(drawn), catalogue, template))
        jobs = [
            {"script": draft.script.name.removesuffix(".py"), "words": words}
            for _drawn, draft, words, _findings in ours
        ]
        answers = self._trainers(jobs)
        return [Case(*each, answer) for each, answer in zip(ours, answers, strict=True)]

    def _ours(
        self, drawn: list[Drawn], catalogue: Catalogue, template: Path
    ) -> Iterator[tuple[Drawn, Draft, list[str], list[Finding]]]:
        collector = Collector(self.facts, models=Unlooked())
        # Both sides compute as if there were a GPU.
        machine = Facts(
            trainer=trainer_fact(self.facts.model_copy(update={"backend": "cuda", "cuda": "12.8"}))
        )
        for number, one in enumerate(drawn):
            place = self.folder / str(number)
            draft = make(one, catalogue, template, place)
            words = words_of(draft, self.trainer, catalogue, place)
            checker = Checker(place, catalogue, machine, collector=collector)
            yield one, draft, words, checker.findings(draft.plan())

    def _trainers(self, jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        answers = self.folder / "answers"
        answers.mkdir()
        asked = self.folder / "jobs.json"
        asked.write_text(json.dumps(jobs), "utf-8")
        done = subprocess.run(
            [
                *(self.trainer.python, DRIVER, asked, answers),
                *(self.trainer.inputs / "tokenizers", str(self.workers)),
            ],
            cwd=self.trainer.root,
            env=clean_environment()
            | {"PYTHONUTF8": "1", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        crashed = {"refusal": "crash", "where": None, "steps": 0, "ended": False, "tail": ""}
        found = [answers / f"{number}.json" for number in range(len(jobs))]
        return [json.loads(file.read_text("utf-8")) if file.exists() else crashed for file in found]


def false_passes(cases: Iterable[Case]) -> list[Case]:
    """Return the plans that the trainer refuses and we do not stop."""
    return [case for case in cases if case.refusal is not None and not case.stops]


def false_stops(cases: Iterable[Case], not_asked: Iterable[str]) -> list[Case]:
    """Return the plans that the trainer trains and we stop, but for what was plainly not asked for."""
    known = frozenset(not_asked)
    return [case for case in cases if case.refusal is None and case.stops - known]


def reached(cases: Iterable[Case]) -> dict[str, Counter[str]]:
    """Return for each constraint that was drawn alone how often the trainer refused and trained."""
    counted: dict[str, Counter[str]] = {}
    for case in cases:
        if len(case.drawn.names) == 1:
            row = counted.setdefault(case.drawn.names[0], Counter())
            row["refused" if case.refusal else "trained"] += 1
    return counted
