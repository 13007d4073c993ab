"""Our answer against the trainer’s own: its scripts really train the plans, with small models.

The models are the trainer’s own classes with small sizes and random weights; everything else is what
runs at a user’s: parsing, checks, datasets, caches, networks, optimizers, steps, samples, saves.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest
from oracle_answers import Case, Oracle, false_passes, false_stops, reached
from oracle_constraints_late import CONSTRAINTS
from oracle_plans import several, singles

from gui.engine.trainer.installs import install_at
from gui.engine.trainer.probe import probe

PLANS = int(os.environ.get("KOHYA_PREFLIGHT_ORACLE_PLANS", "120"))
"""So many plans of several constraints at once, beside each constraint alone."""

SCRIPTS_EACH = int(os.environ.get("KOHYA_PREFLIGHT_ORACLE_SCRIPTS", "1")) or None
"""For so many scripts each constraint alone; 0 for all of them, which are thousands of plans."""

SEED = int(os.environ.get("KOHYA_PREFLIGHT_ORACLE_SEED", "5"))
"""Other numbers draw other plans, for a longer look."""

LEAST = 300

REACHED = 0.8
"""Of the constraints so many are refused when they are broken alone; the others do not hold for the script
that was drawn."""

KNOWN = tomllib.loads((Path(__file__).parents[1] / "data" / "oracle.toml").read_text("utf-8"))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(
        not hasattr(os, "fork"), reason="each plan is trained in a fork, which this system lacks"
    ),
]


@pytest.fixture(scope="module")
def cases(real_trainer, tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    facts = probe(install_at(real_trainer.root, real_trainer.python), tmp_path_factory.mktemp("cache"))
    oracle = Oracle(real_trainer, facts, tmp_path_factory.mktemp("oracle"))
    return oracle.ask([*singles(SEED, SCRIPTS_EACH), *several(SEED, PLANS)])


def told(cases: list[Case]) -> str:
    return "\n".join(case.words_about_it() for case in cases)


def test_that_no_plan_that_the_trainer_refuses_passes(cases) -> None:
    assert len(cases) >= LEAST
    assert len([case for case in cases if case.refusal is not None]) >= LEAST / 3
    passed = false_passes(cases)
    assert not passed, f"{len(passed)} of {len(cases)}:\n{told(passed)}"


def test_that_hardly_any_plan_that_the_trainer_trains_is_stopped(cases) -> None:
    trained = [case for case in cases if case.refusal is None]
    assert len(trained) >= LEAST / 3
    stopped = false_stops(cases, KNOWN["not_asked"])
    assert len(stopped) * 50 <= len(trained), f"{len(stopped)} of {len(trained)}:\n{told(stopped)}"


def test_that_the_trainer_really_comes_to_the_constraints(cases, request: pytest.FixtureRequest) -> None:
    counted = reached(cases)
    if request.config.get_verbosity() > 0:
        for name, row in counted.items():
            print(f"{name:40} refused {row['refused']:4} trained {row['trained']:4}")
    refused = [each.name for each in CONSTRAINTS if counted[each.name]["refused"]]
    missed = {each.name for each in CONSTRAINTS} - set(refused)
    assert len(refused) >= REACHED * len(CONSTRAINTS), missed


def test_that_no_rule_fails_on_any_of_them(cases) -> None:
    assert not [case for case in cases if any(found.id == "rule-failed" for found in case.findings)]
