"""Settings with which real people lost real nights give the findings that would have saved them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from gui.engine.importers.arguments_text import read_arguments
from gui.engine.preflight.check import Checker
from gui.engine.preflight.facts import Facts
from gui.engine.preflight.rule import ORDER
from gui.engine.preflight.rules import ALL_RULES
from gui.engine.trainer.catalogue import Catalogue

SETTINGS = Path(__file__).parents[1] / "data" / "case_settings"
EXPECTED = tomllib.loads((SETTINGS / "expected.toml").read_text("utf-8"))
ARGUMENT_LISTS = sorted(name for name in EXPECTED if name.endswith(".txt"))
CATALOGUE = Catalogue.bundled()
NOT_YET = frozenset({"vram"})
"""Ids of rules that come with the forecast of memory."""


@pytest.mark.parametrize("name", ARGUMENT_LISTS)
def test_that_the_settings_give_what_would_have_saved_the_night(name: str) -> None:
    case = EXPECTED[name]
    text = (SETTINGS / name).read_text("utf-8")
    imported = read_arguments(text, case["script"], CATALOGUE, SETTINGS / name)
    facts = Facts.model_validate(case.get("machine", {}))
    checker = Checker(SETTINGS, CATALOGUE, facts, files_known=False)
    found = checker.report(imported.plan, imported.findings).findings
    for wanted in case["expect"]:
        ids = set(wanted["id"].split("|")) - NOT_YET
        if ids:
            ranks = [ORDER[each.severity] for each in found if each.id in ids]
            assert ranks, (wanted, sorted({each.id for each in found}))
            assert min(ranks) <= ORDER[wanted["at_least"]]
    if case.get("no_stop"):
        assert not [each for each in found if each.severity == "stop"]


def test_that_ids_of_rules_are_unique() -> None:
    ids = [rule.id for rule in ALL_RULES]
    assert len(ids) == len(set(ids))
