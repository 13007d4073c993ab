"""Fixes are changes by target; applying, taking back and showing them must be exact."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.plan.changes import Change, UnknownTarget, apply_changes, differences, value_at
from gui.engine.plan.model import TrainingPlan


def plan(**more) -> TrainingPlan:
    return TrainingPlan.model_validate(
        {
            "schema": 1,
            "name": "mira",
            "arguments": {"unet_lr": 1e-4, "optimizer_args": ["weight_decay=0.01"]},
            "dataset": {"batch_size": 2, "subsets": [{"image_dir": "a"}, {"image_dir": "b", "is_reg": True}]},
            **more,
        }
    )


@pytest.mark.parametrize(
    ("target", "value"),
    [
        ("unet_lr", 5e-5),
        ("mixed_precision", "bf16"),
        ("dataset.batch_size", 1),
        ("dataset.subsets.1.shuffle_caption", True),
        ("launch.num_processes", 2),
        ("guard.nonfinite", "warn"),
        ("env.CUDA_LAUNCH_BLOCKING", "1"),
        ("plan.kind", "full"),
    ],
)
def test_that_a_change_reaches_its_target_and_nothing_else(target, value) -> None:
    before = plan()
    after = apply_changes(before, {target: value})
    assert value_at(after, target) == value
    assert differences(before, after) == [Change(target, value_at(before, target), value)]
    assert before == plan()


def test_that_none_removes_and_removing_nothing_is_fine() -> None:
    after = apply_changes(plan(), {"unet_lr": None, "seed": None, "dataset.general.x": None})
    assert value_at(after, "unet_lr") is None
    assert differences(plan(), after) == [Change("unet_lr", 1e-4, None)]


def test_that_a_subset_can_be_taken_out() -> None:
    after = apply_changes(plan(), {"dataset.subsets.1": None})
    assert after.dataset["subsets"] == [{"image_dir": "a"}]


def test_that_an_action_changes_no_value() -> None:
    assert apply_changes(plan(), {"action": "delete-cache"}) == plan()


@pytest.mark.parametrize(
    "target",
    ["nowhere.x", "dataset.subsets.7.x", "dataset.subsets.7", "dataset.subsets.x", "dataset.batch_size.x.y"],
)
def test_that_a_place_which_does_not_exist_is_named(target) -> None:
    with pytest.raises(UnknownTarget) as caught:
        apply_changes(plan(), {target: 1})
    assert caught.value.target == target


@given(
    st.dictionaries(
        st.from_regex(r"[a-z][a-z_]{0,12}", fullmatch=True),
        st.one_of(st.integers(), st.text(max_size=5), st.booleans(), st.lists(st.integers(), max_size=3)),
        max_size=6,
    )
)
def test_that_differences_lead_from_one_plan_to_the_other(arguments) -> None:
    before, after = plan(), plan(arguments=arguments)
    changes = {change.target: change.after for change in differences(before, after)}
    assert apply_changes(before, changes) == after
