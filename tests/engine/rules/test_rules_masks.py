"""Masks, conditioning images and metadata files."""

import pytest
from table import assert_fixes_mend, findings, make_plan, make_view

SDXL, FULL = "sdxl_train_network.py", "sdxl_train.py"
A = {"image_dir": "/a"}
PAIRED = {**A, "conditioning_data_dir": "/c"}
META = {**A, "metadata_file": "/m.json"}
MASKED = {"masked_loss": True}

FIRES = [
    ("masked-nothing", "warning", SDXL, MASKED, {"subsets": [A]}),
    ("alpha-ignored", "warning", FULL, {}, {"alpha_mask": True}),
    ("alpha-ignored", "warning", "fine_tune.py", {}, {"subsets": [{**META, "alpha_mask": True}]}),
    ("control-crop", "stop", SDXL, MASKED, {"subsets": [{**PAIRED, "random_crop": True}]}),
    ("control-crop", "stop", "train_control_net.py", {}, {"subsets": [PAIRED], "random_crop": True}),
    ("control-dropout", "danger", SDXL, MASKED, {"subsets": [PAIRED], "caption_dropout_every_n_epochs": 3}),
    ("meta-cache", "stop", FULL, {}, {"subsets": [META]}),
    ("meta-cache", "stop", "fine_tune.py", {}, {"subsets": [META], "color_aug": True}),
]


@pytest.mark.parametrize(("identity", "severity", "script", "arguments", "dataset"), FIRES)
def test_that_the_rule_fires_and_its_fixes_mend(identity, severity, script, arguments, dataset) -> None:
    view = make_view(make_plan(arguments, dataset), script)
    assert [finding.severity for finding in findings(identity, view)] == [severity]
    assert_fixes_mend(identity, view)


SILENT = [
    ("masked-nothing", SDXL, MASKED, {"alpha_mask": True}),
    ("masked-nothing", SDXL, MASKED, {"subsets": [PAIRED]}),
    ("masked-nothing", SDXL, {}, {}),
    ("masked-nothing", SDXL, {**MASKED, "dataset_config": "/x.toml"}, {}),
    ("alpha-ignored", FULL, MASKED, {"alpha_mask": True}),
    ("alpha-ignored", FULL, {}, {}),
    ("alpha-ignored", SDXL, {}, {"alpha_mask": True}),
    ("control-crop", SDXL, {}, {"random_crop": True}),
    ("control-crop", "train_control_net.py", {}, {"subsets": [PAIRED]}),
    ("control-dropout", SDXL, {}, {"caption_dropout_every_n_epochs": 3}),
    ("control-dropout", SDXL, MASKED, {"subsets": [PAIRED], "caption_dropout_every_n_epochs": 0}),
    ("meta-cache", FULL, {"cache_latents_to_disk": True}, {"subsets": [META]}),
    ("meta-cache", FULL, {}, {"subsets": [A]}),
    ("meta-cache", SDXL, {}, {"subsets": [META]}),
]


@pytest.mark.parametrize(("identity", "script", "arguments", "dataset"), SILENT)
def test_that_the_rule_keeps_silent(identity, script, arguments, dataset) -> None:
    assert not findings(identity, make_view(make_plan(arguments, dataset), script))


@pytest.mark.parametrize(("aug", "safe"), [({}, True), ({"random_crop": True}, False)])
def test_that_a_cache_is_not_forced_on_images_that_change(aug, safe) -> None:
    (finding,) = findings("meta-cache", make_view(make_plan({}, {"subsets": [META], **aug}), FULL))
    assert finding.fixes[0].safe is safe
