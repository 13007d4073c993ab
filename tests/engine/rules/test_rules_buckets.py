"""Buckets: what the trainer asserts about limits, steps and the images themselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from table import assert_fixes_mend, findings, make_plan, make_view

from gui.engine.plan.changes import apply_changes

SDXL, SD15, ANIMA = "sdxl_train_network.py", "train_network.py", "anima_train_network.py"


def sizes(**counts: int) -> dict:
    """Return the facts of one folder; ``s512x512=3`` are three such images."""
    measured = {name.removeprefix("s"): count for name, count in counts.items()}
    return {"dataset": {"subsets": [{"image_dir": "/images/mira", "images": 9, "sizes": measured}]}}


BUCKETED = {"enable_bucket": True}
MASKED = {"image_dir": "/images", "conditioning_data_dir": "/masks"}

FIRES = [
    ("bucket-range", SDXL, {"resolution": [768, 1152], **BUCKETED}, {}),
    ("bucket-range", SDXL, {"resolution": 2048, "bucket_no_upscale": True, **BUCKETED}, {}),
    ("bucket-range", SD15, {"resolution": 512, "min_bucket_reso": 640, **BUCKETED}, {}),
    ("bucket-range", SD15, {"resolution": 512, "min_bucket_reso": 60, **BUCKETED}, {}),
    ("bucket-range", SD15, {"resolution": 96, "bucket_reso_steps": 128, **BUCKETED}, {}),
    ("bucket-steps", SD15, {"resolution": 512, "bucket_reso_steps": 32, **BUCKETED}, {}),
    ("bucket-steps", SDXL, {"bucket_reso_steps": 16, **BUCKETED}, {}),
    ("bucket-steps", SDXL, {"bucket_reso_steps": 0, **BUCKETED}, {}),
    ("bucket-off", SD15, {"resolution": 512}, sizes(s512x512=3, s640x512=2)),
    ("bucket-off", SD15, {"resolution": 512, "color_aug": True}, sizes(s640x512=2)),
    ("bucket-off", SD15, {"resolution": 512, "random_crop": True}, sizes(s400x640=1)),
    ("bucket-thin", SDXL, {"bucket_no_upscale": True, **BUCKETED}, sizes(s1000x60=1)),
    ("bucket-thin", SDXL, {"bucket_no_upscale": True, **BUCKETED}, sizes(s30000x100=1)),
]


@pytest.mark.parametrize(("identity", "script", "dataset", "facts"), FIRES)
def test_that_the_rule_fires_and_its_fixes_mend(identity, script, dataset, facts) -> None:
    view = make_view(make_plan({}, dataset), script, **facts)
    assert [finding.severity for finding in findings(identity, view)] == ["stop"]
    assert_fixes_mend(identity, view)


SILENT = [
    ("bucket-range", SDXL, {"resolution": [768, 1152]}, {}, {}),
    ("bucket-range", SDXL, {"resolution": [768, 1152], "max_bucket_reso": 1100, **BUCKETED}, {}, {}),
    ("bucket-range", SDXL, {"resolution": 2048, **BUCKETED}, {"dataset_config": "/own.toml"}, {}),
    ("bucket-range", SDXL, {"resolution": "?", **BUCKETED}, {}, {}),
    ("bucket-range", SDXL, {"bucket_reso_steps": 0, **BUCKETED}, {}, {}),
    ("bucket-steps", SDXL, {"bucket_reso_steps": 32, **BUCKETED}, {}, {}),
    ("bucket-steps", SD15, {"bucket_reso_steps": 32}, {}, {}),
    ("bucket-steps", "train_control_net.py", {"bucket_reso_steps": 8, **BUCKETED}, {}, {}),
    ("bucket-steps", SD15, {"bucket_reso_steps": 8, "subsets": [MASKED], **BUCKETED}, {}, {}),
    ("bucket-off", SD15, {"resolution": 512}, {}, sizes(s512x512=3)),
    ("bucket-off", SD15, {"resolution": 512}, {}, {}),
    ("bucket-off", SD15, {"resolution": 512}, {"cache_latents": True}, sizes(s640x512=2)),
    ("bucket-off", SD15, {"resolution": 512, **BUCKETED}, {}, sizes(s640x512=2)),
    ("bucket-off", SD15, {"resolution": 512, "random_crop": True}, {}, sizes(s640x512=2)),
    ("bucket-off", SD15, {"resolution": 512, "face_crop_aug_range": [1.0, 2.0]}, {}, sizes(s640x512=2)),
    ("bucket-thin", SDXL, {"bucket_no_upscale": True, **BUCKETED}, {}, sizes(s1000x64=1)),
    ("bucket-thin", SDXL, BUCKETED, {}, sizes(s1000x60=1)),
    (
        "bucket-thin",
        SDXL,
        {"bucket_no_upscale": True, "bucket_reso_steps": 0, **BUCKETED},
        {},
        sizes(s64x64=1),
    ),
    ("bucket-thin", SDXL, {"bucket_no_upscale": True, "resolution": 9**9, **BUCKETED}, {}, sizes(s64x64=1)),
]


@pytest.mark.parametrize(("identity", "script", "dataset", "arguments", "facts"), SILENT)
def test_that_the_rule_keeps_silent(identity, script, dataset, arguments, facts) -> None:
    assert not findings(identity, make_view(make_plan(arguments, dataset), script, **facts))


def test_that_an_image_that_is_changed_at_each_look_is_not_offered_a_cache() -> None:
    view = make_view(make_plan({}, {"resolution": 512, "color_aug": True}), SD15, **sizes(s640x512=2))
    (finding,) = findings("bucket-off", view)
    assert [fix.id for fix in finding.fixes] == ["buckets"]


@given(
    width=st.integers(64, 2500),
    height=st.integers(64, 2500),
    low=st.integers(1, 2500),
    high=st.integers(1, 2500),
    steps=st.sampled_from([32, 64]),
)
def test_that_the_range_is_refused_exactly_where_the_trainer_asserts(width, height, low, high, steps) -> None:
    # The trainer's own words, train_util.py:752-771; a minimum of 0 fails in model_util.py:1327.
    adjusted_low = low - low % steps
    adjusted_high = high + steps - high % steps if high % steps else high
    fine = 0 < adjusted_low <= min(width, height) and max(width, height) <= adjusted_high
    options = {
        "resolution": [width, height],
        "enable_bucket": True,
        "min_bucket_reso": low,
        "max_bucket_reso": high,
        "bucket_reso_steps": steps,
    }
    plan = make_plan({}, options)
    found = findings("bucket-range", make_view(plan))
    assert bool(found) is not fine
    for finding in found:
        plan = apply_changes(plan, finding.fixes[0].changes)
    rest = findings("bucket-range", make_view(plan))
    assert len(rest) < 2
    for finding in rest:
        plan = apply_changes(plan, finding.fixes[0].changes)
    assert not findings("bucket-range", make_view(plan))
