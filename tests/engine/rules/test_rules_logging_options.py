"""Trackers."""

import pytest
from table import assert_fixes_mend, findings, make_plan, make_view

WANDB = {"log_with": "wandb"}
NONE, ALL = {"trainer": {"packages": {}}}, {"trainer": {"packages": {"wandb": "1", "tensorboard": "2"}}}

FIRES = [
    ("wandb", "stop", WANDB, NONE),
    ("wandb", "stop", {"log_with": "all"}, NONE),
    ("wandb", "hint", WANDB, ALL),
    ("wandb", "hint", WANDB, {}),
    ("tensorboard", "warning", {"log_with": "tensorboard"}, NONE),
    ("wandb-name", "hint", {"wandb_run_name": "x", "log_tracker_config": "/t.toml"}, {}),
]


@pytest.mark.parametrize(("identity", "severity", "arguments", "facts"), FIRES)
def test_that_the_rule_fires_and_its_fixes_mend(identity, severity, arguments, facts) -> None:
    view = make_view(make_plan(arguments), **facts)
    assert [finding.severity for finding in findings(identity, view)] == [severity]
    assert_fixes_mend(identity, view)


SILENT = [
    ("wandb", {}, NONE, {}),
    ("wandb", {**WANDB, "wandb_api_key": "secret"}, ALL, {}),
    ("wandb", WANDB, ALL, {"launch": {"env": {"WANDB_MODE": "offline"}}}),
    ("tensorboard", {"log_with": "tensorboard"}, ALL, {}),
    ("tensorboard", {"log_with": "tensorboard"}, {}, {}),
    ("tensorboard", {}, NONE, {}),
    ("wandb-name", {"wandb_run_name": "x"}, {}, {}),
]


@pytest.mark.parametrize(("identity", "arguments", "facts", "plan"), SILENT)
def test_that_the_rule_keeps_silent(identity, arguments, facts, plan) -> None:
    assert not findings(identity, make_view(make_plan(arguments, **plan), **facts))
