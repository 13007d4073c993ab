"""Buckets: what the trainer asserts about limits, steps and the images themselves."""

from hypothesis import given
from hypothesis import strategies as st
from table import findings, make_plan, make_view

from gui.engine.plan.changes import apply_changes

SDXL, SD15, ANIMA = "sdxl_train_network.py", "train_network.py", "anima_train_network.py"


def sizes(**counts: int) -> dict:
    """Return the facts of one folder; ``s512x512=3`` are three such images."""
    measured = {name.removeprefix("s"): count for name, count in counts.items()}
    return {"dataset": {"subsets": [{"image_dir": "/images/mira", "images": 9, "sizes": measured}]}}


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
