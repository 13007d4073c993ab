"""Settings that are said twice, files of settings, and runs that train nothing."""

import pytest
from table import assert_fixes_mend, findings, make_plan, make_view

from gui.engine.preflight.view import View

FIRES = [
    ("dup-arg", "warning", {"train_batch_size": 4}, {"batch_size": 2}, None),
    ("dup-arg", "hint", {"resolution": "1024,1024"}, {}, None),
    ("debug-dataset", "stop", {"debug_dataset": True}, {}, None),
    ("dataset-file", "stop", {"dataset_config": "/data/set.yaml"}, {}, ()),
]


@pytest.mark.parametrize(("identity", "severity", "arguments", "dataset", "fixes"), FIRES)
def test_that_the_rule_fires_and_its_fixes_mend(identity, severity, arguments, dataset, fixes) -> None:
    view = make_view(make_plan(arguments, dataset))
    assert [finding.severity for finding in findings(identity, view)] == [severity]
    assert_fixes_mend(identity, view, fixes)


SILENT = [
    ("dup-arg", {"train_batch_size": 4}, {}),
    ("dup-arg", {}, {"batch_size": 2}),
    ("dup-arg", {"train_batch_size": 4, "dataset_config": "/x.toml"}, {"batch_size": 2}),
    ("debug-dataset", {}, {}),
    ("dataset-file", {"dataset_config": "/data/set.TOML"}, {}),
    ("dataset-file", {}, {}),
]


@pytest.mark.parametrize(("identity", "arguments", "dataset"), SILENT)
def test_that_the_rule_keeps_silent(identity, arguments, dataset) -> None:
    assert not findings(identity, make_view(make_plan(arguments, dataset)))


def test_that_what_the_user_wrote_is_compared_not_what_was_made_of_it() -> None:
    own = make_plan({"train_batch_size": 4}, {"batch_size": 2})
    effective = make_plan({}, {"batch_size": 2})
    view = make_view(effective)
    assert findings("dup-arg", View(effective, view.facts, view.script, view.arguments, own))
