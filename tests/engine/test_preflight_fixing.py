"""Fixes converge, take no neighbour along, and never trade one stop for another."""

from __future__ import annotations

from pathlib import Path

import pytest
from preflight_plans import CATALOGUE, checker, ids, plan_of

from gui.engine.findings import Finding, Fix
from gui.engine.plan.changes import apply_changes, differences
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.fixing import apply_named_fixes, apply_safe_fixes


def test_that_all_safe_fixes_leave_no_stop_that_had_one_and_twice_changes_nothing(tmp_path: Path) -> None:
    plan = plan_of(
        {
            "mixed_precision": "fp16",
            "cache_latents": True,
            "color_aug": True,
            "cache_text_encoder_outputs": True,
            "lr_warmup_steps": 100,
            "use_8bit_adam": True,
            "optimizer_type": "AdamW8bit",
            "save_every_n_epochs": 0,
        }
    )
    check = checker(tmp_path).findings
    fixed = apply_safe_fixes(plan, check)
    assert not [f for f in fixed.remaining if f.severity == "stop" and any(fix.safe for fix in f.fixes)]
    assert not ids(fixed.remaining, "stop")
    again = apply_safe_fixes(fixed.plan, check)
    assert (again.plan, again.applied) == (fixed.plan, ())


def test_that_a_fix_which_brings_another_stop_is_not_taken() -> None:
    def check(plan: TrainingPlan) -> list[Finding]:
        value = plan.arguments.get("seed")
        other = Fix(id="x", label="x", changes={"seed": 2 if value == 1 else 1}, safe=True)
        return [Finding(id=f"stop-{value}", severity="stop", title="t", fixes=(other,))]

    plan = plan_of({"seed": 1})
    assert apply_safe_fixes(plan, check).plan == plan


def test_that_named_fixes_are_taken_also_unsafe_ones_and_unknown_names_are_told(tmp_path: Path) -> None:
    plan = plan_of({"cache_latents": True}, {"color_aug": True})
    check = checker(tmp_path).findings
    fixed, unknown = apply_named_fixes(plan, ["cache-aug:no-cache", "nothing", "cache-aug:nothing"], check)
    assert unknown == ("nothing", "cache-aug:nothing")
    assert "cache_latents" not in fixed.plan.arguments
    assert fixed.plan.dataset["color_aug"] is True


def test_that_a_fix_makes_a_new_plan_and_leaves_the_old() -> None:
    plan = plan_of()
    assert apply_changes(plan, {"seed": 1}) != plan


def folders_out(plan: TrainingPlan) -> list[Finding]:
    """Say of each folder called “bad” that it is to be left out."""
    return [
        Finding(
            id="bad",
            severity="stop",
            title=subset["image_dir"],
            where=f"dataset.subsets.{number}",
            fixes=(Fix(id="out", label="out", changes={f"dataset.subsets.{number}": None}, safe=True),),
        )
        for number, subset in enumerate(plan.dataset["subsets"])
        if subset["image_dir"].startswith("bad")
    ]


@pytest.mark.parametrize("named", [True, False])
def test_that_taking_folders_out_never_takes_a_neighbour(named: bool) -> None:
    names = ["bad 1", "bad 2", "good 1", "bad 3", "good 2"]
    plan = plan_of({}, {"subsets": [{"image_dir": name} for name in names]})
    fixed = apply_named_fixes(plan, ["bad"], folders_out)[0] if named else apply_safe_fixes(plan, folders_out)
    assert [subset["image_dir"] for subset in fixed.plan.dataset["subsets"]] == ["good 1", "good 2"]
    assert (len(fixed.applied), fixed.remaining) == (3, ())


def test_that_a_named_fix_that_mends_nothing_is_taken_once_a_place() -> None:
    def check(_plan: TrainingPlan) -> list[Finding]:
        fix = Fix(id="ask", label="ask", changes={"action": "delete-cache"}, safe=False)
        return [
            Finding(id="stale", severity="danger", title="t", where=where, fixes=(fix,))
            for where in ("a", "b")
        ]

    fixed, unknown = apply_named_fixes(plan_of(), ["stale:ask"], check)
    assert [done.finding.where for done in fixed.applied] == ["a", "b"]
    assert (len(fixed.remaining), unknown) == (2, ())


def test_that_hundreds_of_arguments_of_another_script_are_left_out_in_few_rounds(tmp_path: Path) -> None:
    rounds = 0

    def check(plan: TrainingPlan) -> list[Finding]:
        nonlocal rounds
        rounds += 1
        return checker(tmp_path).findings(plan)

    sdxl = CATALOGUE.script("sdxl_train_network.py").arguments
    others = {name for script in CATALOGUE.scripts for name in CATALOGUE.script(script).arguments}
    foreign = dict.fromkeys(sorted(others - sdxl.keys()), 1)
    assert len(foreign) > 60
    fixed = apply_safe_fixes(plan_of({**foreign, "no_such_thing": 1}), check)
    assert "no_such_thing" in fixed.plan.arguments
    assert not foreign.keys() & fixed.plan.arguments.keys()
    assert rounds < len(foreign) / 2


def test_that_fixes_which_undo_one_another_come_to_an_end() -> None:
    def check(plan: TrainingPlan) -> list[Finding]:
        on = plan.arguments.get("xformers") is True
        fix = Fix(id="other", label="other", changes={"xformers": not on}, safe=True)
        return [Finding(id="on" if on else "off", severity="hint", title="t", fixes=(fix,))]

    fixed = apply_safe_fixes(plan_of(), check)
    assert len(fixed.applied) <= 2


@pytest.mark.parametrize(
    ("arguments", "dataset", "mended"),
    [
        ({"xformers": 1}, {}, ("xformers", True)),
        ({"gradient_checkpointing": 0}, {}, ("gradient_checkpointing", False)),
        ({"max_train_steps": 100.0}, {}, ("max_train_steps", 100)),
        ({}, {"flip_aug": 1}, ("dataset.flip_aug", True)),
        ({}, {"batch_size": 2.0}, ("dataset.batch_size", 2)),
    ],
)
def test_that_a_number_becomes_the_switch_that_was_meant(tmp_path: Path, arguments, dataset, mended) -> None:
    """Python holds 1 and true for the same; the trainer does not."""
    plan = plan_of(arguments, dataset)
    fixed = apply_safe_fixes(plan, checker(tmp_path).findings)
    assert not ids(fixed.remaining, "stop")
    target, value = mended
    (change,) = [each for each in differences(plan, fixed.plan) if each.target == target]
    assert (change.after, type(change.after)) == (value, type(value))


def test_that_a_fix_is_taken_when_what_it_uncovers_can_be_mended_too(tmp_path: Path) -> None:
    plan = plan_of({"cache_latents": True}, {"random_crop": "true"})
    fixed = apply_safe_fixes(plan, checker(tmp_path).findings)
    assert not ids(fixed.remaining, "stop")
    assert {"dataset-type", "cache-aug"} <= {done.finding.id for done in fixed.applied}


def test_that_a_fix_is_not_taken_when_what_it_uncovers_stays(tmp_path: Path) -> None:
    plan = plan_of({}, {"subsets": [{"image_dir": "images", "is_reg": "true"}]})
    fixed = apply_safe_fixes(plan, checker(tmp_path).findings)
    assert ids(fixed.remaining, "stop") == {"dataset-type"}


def test_that_faults_which_uncover_one_another_for_ever_are_left() -> None:
    def check(plan: TrainingPlan) -> list[Finding]:
        seed = plan.arguments.get("seed", 0)
        fix = Fix(id="next", label="next", changes={"seed": seed + 1}, safe=True)
        return [Finding(id=f"stop-{seed}", severity="stop", title="t", fixes=(fix,))]

    assert apply_safe_fixes(plan_of(), check).applied == ()
