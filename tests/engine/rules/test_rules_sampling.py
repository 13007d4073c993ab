"""Sample images: they need prompts, and one interval."""

import pytest
from table import assert_fixes_mend, findings, make_plan, make_view

EVERY = {"sample_every_n_steps": 100}
PROMPTS = {"sample_prompts": "/p.txt"}
MISSING = {"paths": {"/p.txt": {"kind": "missing"}}}

FIRES = [
    ("sample-prompts", "stop", EVERY, {}),
    ("sample-prompts", "stop", {"sample_at_first": True}, {}),
    ("sample-prompts", "stop", {**EVERY, "sample_prompts": "/p.md"}, {}),
    ("sample-prompts", "stop", {**EVERY, "sample_prompts": "/prompts"}, {}),
    ("sample-prompts", "warning", {**EVERY, **PROMPTS}, MISSING),
    ("sample-both", "warning", {**EVERY, "sample_every_n_epochs": 1}, {}),
    ("sample-zero", "warning", {"sample_every_n_epochs": 0}, {}),
    ("sample-zero", "warning", {"sample_every_n_steps": -1}, {}),
]


@pytest.mark.parametrize(("identity", "severity", "arguments", "facts"), FIRES)
def test_that_the_rule_fires_and_its_fixes_mend(identity, severity, arguments, facts) -> None:
    view = make_view(make_plan(arguments), **facts)
    assert [finding.severity for finding in findings(identity, view)] == [severity]
    assert_fixes_mend(identity, view)


SILENT = [
    ("sample-prompts", {**EVERY, **PROMPTS}, {}),
    ("sample-prompts", {"sample_every_n_steps": 0}, {}),
    ("sample-prompts", PROMPTS, MISSING),
    ("sample-both", {**EVERY, "sample_every_n_epochs": 0}, {}),
    ("sample-zero", EVERY, {}),
    ("sample-zero", {}, {}),
]


@pytest.mark.parametrize(("identity", "arguments", "facts"), SILENT)
def test_that_the_rule_keeps_silent(identity, arguments, facts) -> None:
    assert not findings(identity, make_view(make_plan(arguments), **facts))
