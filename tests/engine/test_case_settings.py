"""Settings with which real people lost real nights give the findings that would have saved them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from gui.engine.findings import RANKS, Finding
from gui.engine.importers.reading import read_setup
from gui.engine.preflight.check import Checker
from gui.engine.preflight.facts import Facts
from gui.engine.preflight.rules import ALL_RULES
from gui.engine.trainer.catalogue import Catalogue

SETTINGS = Path(__file__).parents[1] / "data" / "case_settings"
EXPECTED = tomllib.loads((SETTINGS / "expected.toml").read_text("utf-8"))
FILES = sorted(path.name for path in SETTINGS.iterdir() if path.name != "expected.toml")
CATALOGUE = Catalogue.bundled()


def found_in(name: str) -> tuple[Finding, ...]:
    """Return what preflight finds in the settings, on the machine that the case tells of."""
    case = EXPECTED[name]
    setup = read_setup(SETTINGS / name, case.get("script"), CATALOGUE)
    facts = Facts.model_validate(case.get("machine", {}))
    checker = Checker(SETTINGS, CATALOGUE, facts, files_known=False)
    return checker.report(setup.file.plan, setup.findings).findings


def test_that_each_of_the_settings_says_what_it_must_give() -> None:
    assert len(FILES) == 27
    assert sorted(EXPECTED) == FILES


@pytest.mark.parametrize("name", FILES)
def test_that_the_settings_give_what_would_have_saved_the_night(name: str) -> None:
    found = found_in(name)
    for wanted in EXPECTED[name]["expect"]:
        ids = set(wanted["id"].split("|"))
        ranks = [RANKS[each.severity] for each in found if each.id in ids]
        assert ranks, (wanted, sorted({each.id for each in found}))
        assert min(ranks) <= RANKS[wanted["at_least"]]


@pytest.mark.parametrize("name", FILES)
def test_that_each_stop_is_expected_or_justified(name: str) -> None:
    case = EXPECTED[name]
    stops = {each.id for each in found_in(name) if each.severity == "stop"}
    wanted = {identity for each in case["expect"] for identity in each["id"].split("|")}
    justified = {each["id"] for each in case.get("also_stops", ()) if each["why"]}
    assert stops - wanted == justified
    assert not (case.get("no_stop") and stops)


def test_that_ids_of_rules_are_unique() -> None:
    ids = [rule.id for rule in ALL_RULES]
    assert len(ids) == len(set(ids))
