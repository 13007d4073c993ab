"""Every rule fires where it should, keeps silent near by, and each of its fixes mends what it found.

The cases are data: ``tests/data/rules``, one file for each module of rules, described in its ``README.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from table import CATALOGUE, findings, make_plan

from gui.engine.findings import Finding
from gui.engine.plan.changes import ACTION, apply_changes
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.check import Checker
from gui.engine.preflight.facts import Facts, ModelFact
from gui.engine.preflight.rules import ALL_RULES

DATA = Path(__file__).parents[2] / "data" / "rules"
FILES = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in sorted(DATA.glob("*.yaml"))}
TABLE: dict[str, dict[str, list[dict[str, Any]]]] = {
    identity: parts for file in FILES.values() for identity, parts in file.items()
}
SCRIPT = "sdxl_train_network.py"


@dataclass(frozen=True)
class Case:
    """One row of the table.

    Attributes:
        identity: The rule.
        said: The row.
    """

    identity: str
    said: dict[str, Any]

    @property
    def plan(self) -> TrainingPlan:
        """The plan; it names its script, so that no family is needed."""
        more = {"script": SCRIPT, **self.said.get("plan", {})}
        if "script" in self.said:
            more["script"] = self.said["script"]
        return make_plan(self.said.get("arguments"), self.said.get("dataset"), **more)

    @property
    def facts(self) -> Facts:
        """What is known before any fix."""
        return Facts.model_validate(self.said.get("facts", {}))

    def facts_after(self, plan: TrainingPlan) -> Facts:
        """Return what would be known after a fix: files that are no longer named are not looked at."""
        facts = Facts.model_validate(self.said.get("then", self.said.get("facts", {})))
        return facts.model_copy(update={"model": tuple(_still_named(facts, plan))})


def _still_named(facts: Facts, plan: TrainingPlan) -> list[ModelFact]:
    named = {str(value): name for name, value in plan.arguments.items() if isinstance(value, str)}
    return [
        fact.model_copy(update={"argument": named.get(fact.path, fact.argument)})
        for fact in facts.model
        if not fact.path or fact.path in named or plan.arguments.get(fact.argument) is not None
    ]


def _rows(part: str) -> list[Any]:
    return [
        pytest.param(Case(identity, row), id=f"{identity}-{number}")
        for identity, parts in TABLE.items()
        for number, row in enumerate(parts.get(part, ()))
    ]


def test_that_each_rule_has_a_case_where_it_fires_and_one_where_it_keeps_silent() -> None:
    complete = {identity for identity, parts in TABLE.items() if parts.get("fires") and parts.get("silent")}
    assert {rule.id for rule in ALL_RULES} == complete == set(TABLE)


@pytest.mark.parametrize("case", _rows("silent"))
def test_that_the_rule_keeps_silent(case: Case) -> None:
    assert not _found(case.identity, case.plan, case.facts)


@pytest.mark.parametrize("case", _rows("fires"))
def test_that_the_rule_fires_with_this_weight(case: Case) -> None:
    gives = case.said["gives"]
    found = _found(case.identity, case.plan, case.facts)
    assert [finding.severity for finding in found] == (gives if isinstance(gives, list) else [gives])
    assert any(finding.fixes for finding in found) is (case.said.get("fixes") != "none")


@pytest.mark.parametrize("case", _rows("fires"))
def test_that_each_fix_mends_its_finding_and_brings_no_new_stop(case: Case) -> None:
    before = _stops(case.plan, case.facts)
    for finding in _found(case.identity, case.plan, case.facts):
        for fix in finding.fixes:
            if ACTION in fix.changes:
                continue
            plan = apply_changes(case.plan, fix.changes)
            facts = case.facts_after(plan)
            after = _found(case.identity, plan, facts)
            assert finding.where not in [other.where for other in after], fix.id
            new = _stops(plan, facts) - before
            assert not {identity for identity, _where in new} - set(case.said.get("uncovers", ())), fix.id


def _checker(facts: Facts) -> Checker:
    return Checker(Path("/"), CATALOGUE, facts, files_known=False)


def _found(identity: str, plan: TrainingPlan, facts: Facts) -> list[Finding]:
    """Return what one rule finds in the plan as the trainer would understand it."""
    view, _refused = _checker(facts).view(plan)
    return findings(identity, view) if view else []


def _stops(plan: TrainingPlan, facts: Facts) -> set[tuple[str, str | None]]:
    """Return the stops of the whole preflight."""
    return {(found.id, found.where) for found in _checker(facts).findings(plan) if found.severity == "stop"}
