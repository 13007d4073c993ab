"""Masks, conditioning images and metadata files."""

import pytest
from table import findings, make_plan, make_view

SDXL, FULL = "sdxl_train_network.py", "sdxl_train.py"
A = {"image_dir": "/a"}
META = {**A, "metadata_file": "/m.json"}


@pytest.mark.parametrize(("aug", "safe"), [({}, True), ({"random_crop": True}, False)])
def test_that_a_cache_is_not_forced_on_images_that_change(aug, safe) -> None:
    (finding,) = findings("meta-cache", make_view(make_plan({}, {"subsets": [META], **aug}), FULL))
    assert finding.fixes[0].safe is safe
