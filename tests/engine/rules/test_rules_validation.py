"""Images held out for validation."""

import pytest
from table import assert_fixes_mend, findings, make_plan, make_view

SDXL, FULL = "sdxl_train_network.py", "sdxl_train.py"
A = {"image_dir": "/a"}
PAIRED = {**A, "conditioning_data_dir": "/c"}
META = {**A, "metadata_file": "/m.json"}
SPLIT = {"validation_split": 0.2}
SEEDED = {**SPLIT, "validation_seed": 1}

FIRES = [
    ("validation-split", "stop", SDXL, {"validation_split": 1.0}),
    ("validation-split", "warning", SDXL, {"validation_split": 20.0}),
    ("validation-split", "warning", SDXL, {"validation_split": -0.1}),
    ("validation-seed", "warning", SDXL, SPLIT),
    ("validation-seed", "warning", SDXL, {"datasets": [{**SPLIT, "subsets": [A]}]}),
    ("validation-unused", "warning", FULL, SEEDED),
    ("validation-meta", "warning", SDXL, {**SEEDED, "subsets": [META]}),
    ("validation-control", "stop", SDXL, {**SEEDED, "subsets": [PAIRED]}),
    ("validation-control", "stop", "train_control_net.py", {**SEEDED, "subsets": [PAIRED]}),
]


@pytest.mark.parametrize(("identity", "severity", "script", "dataset"), FIRES)
def test_that_the_rule_fires_and_its_fixes_mend(identity, severity, script, dataset) -> None:
    view = make_view(make_plan({}, dataset), script)
    assert [finding.severity for finding in findings(identity, view)] == [severity]
    assert_fixes_mend(identity, view)


SILENT = [
    ("validation-split", SDXL, SPLIT, {}),
    ("validation-split", SDXL, {"validation_split": 0.0}, {}),
    ("validation-seed", SDXL, SEEDED, {}),
    ("validation-seed", SDXL, {}, {}),
    ("validation-seed", SDXL, SPLIT, {"dataset_config": "/x.toml"}),
    ("validation-unused", SDXL, SEEDED, {}),
    ("validation-unused", FULL, {}, {}),
    ("validation-meta", SDXL, SEEDED, {}),
    ("validation-control", SDXL, SEEDED, {}),
]


@pytest.mark.parametrize(("identity", "script", "dataset", "arguments"), SILENT)
def test_that_the_rule_keeps_silent(identity, script, dataset, arguments) -> None:
    assert not findings(identity, make_view(make_plan(arguments, dataset), script))
