"""What the tests of rules share: a view from a few words, and the three questions to each rule.

A rule must fire where it should, keep silent where it should, and after each of its fixes be gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gui.engine.findings import Finding
from gui.engine.plan.changes import ACTION, apply_changes
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.facts import Facts
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules import ALL_RULES
from gui.engine.preflight.view import View
from gui.engine.trainer.catalogue import Catalogue

CATALOGUE = Catalogue.bundled()
SUBSET = {"image_dir": "/images/mira", "num_repeats": 10}


def make_plan(
    arguments: dict[str, Any] | None = None, dataset: dict[str, Any] | None = None, **more: Any
) -> TrainingPlan:
    """Return a plan: arguments, dataset options (one subset unless given), and the rest."""
    data = {"resolution": [1024, 1024], "subsets": [SUBSET], **(dataset or {})}
    return TrainingPlan.model_validate({"arguments": arguments or {}, "dataset": data, **more})


def make_view(plan: TrainingPlan, script: str = "sdxl_train_network.py", **facts: Any) -> View:
    """Return what a rule sees of a plan under a script, with the facts given."""
    return View(plan, Facts.model_validate(facts), script, CATALOGUE.script(script))


def rule(identity: str) -> Rule:
    """Return the one rule with this id."""
    (found,) = [rule for rule in ALL_RULES if rule.id == identity]
    return found


def findings(identity: str, view: View) -> list[Finding]:
    """Return what the rule finds."""
    found = list(rule(identity).check(view))
    assert all(finding.id == identity for finding in found)
    assert all(finding.title and finding.sources for finding in found)
    return found


def assert_fixes_mend(identity: str, view: View, fixes: Sequence[str] | None = None) -> None:
    """Every fix of every finding makes that finding go away."""
    found = findings(identity, view)
    assert found
    assert any(finding.fixes for finding in found) or fixes == ()
    for finding in found:
        for fix in finding.fixes:
            if ACTION in fix.changes:
                continue
            plan = apply_changes(view.plan, fix.changes)
            after = findings(identity, View(plan, view.facts, view.script, view.arguments))
            assert finding.where not in [other.where for other in after], (finding.id, fix.id)
