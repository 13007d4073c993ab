"""A plan's presets are filled in under its own values, and what is wrong with them is said."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gui.engine.plan.changes import apply_changes
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.plan.presets import effective_plan, fill_plan
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.resolving import resolve

SAFE = ("sdxl", "style", "safe", "12gib")
BUNDLED = Catalogue.bundled()


def plan(arguments=None, dataset=None, presets=SAFE, family="sdxl", **values) -> TrainingPlan:
    return TrainingPlan(
        family=family, presets=presets, arguments=arguments or {}, dataset=dataset or {}, **values
    )


def filled(*parts, **values) -> dict:
    return effective_plan(plan(*parts, **values)).arguments


@pytest.fixture
def library(tmp_path):
    def write(**files: str) -> PresetLibrary:
        for name, text in files.items():
            (tmp_path / f"{name}.yaml").write_text(text, "utf-8")
        return PresetLibrary(tmp_path)

    return write


def test_that_the_plan_has_the_last_word():
    arguments = filled({"unet_lr": 5e-5, "sdpa": False})
    assert arguments["unet_lr"] == 5e-5
    assert arguments["sdpa"] is False
    assert arguments["lr_scheduler"] == "cosine"


def test_that_later_layers_win():
    assert filled(presets=("sdxl", "style", "safe"))["network_dim"] == 16
    assert filled(presets=("sdxl", "safe", "character"))["network_dim"] == 32


def test_that_the_plan_itself_stays_as_it_is():
    own = plan({"unet_lr": 5e-5}, {"batch_size": 1})
    before = own.model_dump()
    effective_plan(own)
    assert own.model_dump() == before


def test_that_what_follows_another_value_follows_the_plan_too():
    arguments = filled({"network_dim": 64})
    assert arguments["network_alpha"] == 32
    arguments = filled({"learning_rate": 2e-4})
    assert (arguments["unet_lr"], arguments["text_encoder_lr"]) == (2e-4, 2e-5)
    assert filled({"unet_lr": 3e-4})["text_encoder_lr"] == 3e-5
    assert "network_alpha" not in filled({"network_dim": "many"})


@pytest.mark.parametrize(
    ("own", "gone"),
    [
        ({"max_train_epochs": 10}, ["max_train_steps", "save_every_n_steps_of_steps"]),
        ({"save_every_n_epochs": 1}, ["save_every_n_steps"]),
        ({"optimizer_type": "Prodigy"}, ["optimizer_args", "fused_backward_pass"]),
        ({"use_8bit_adam": True}, ["optimizer_type", "optimizer_args"]),
        ({"lr_scheduler": "constant"}, ["lr_warmup_steps"]),
        ({"lr_scheduler_type": "CosineAnnealingLR"}, ["lr_scheduler", "lr_warmup_steps"]),
    ],
)
def test_that_no_preset_contradicts_what_the_plan_says(own, gone):
    arguments = filled(own, presets=("sdxl", "style", "safe", "12gib"), kind="full")
    assert [name for name in gone if name in arguments] == []


def test_that_arguments_of_an_optimizer_stay_with_it():
    own = {"optimizer_type": "adafactor"}
    assert "optimizer_args" in filled(own, kind="full")
    assert "optimizer_args" not in filled({"optimizer_type": "AdamW"}, kind="full")


def test_that_an_old_flag_that_is_off_changes_nothing():
    assert filled({"use_8bit_adam": False})["optimizer_type"] == "AdamW"


@pytest.mark.parametrize(
    ("arguments", "dataset"),
    [
        ({}, {"batch_size": 6}),
        ({}, {"general": {"batch_size": 6}}),
        ({"train_batch_size": 6}, {}),
    ],
)
def test_that_dataset_options_count_wherever_the_plan_says_them(arguments, dataset):
    result = fill_plan(plan(arguments, dataset))
    assert "dataset.batch_size" not in result.values
    assert result.plan.dataset["resolution"] == [1024, 1024]


def test_that_a_dataset_file_of_the_users_own_is_left_alone():
    assert effective_plan(plan({"dataset_config": "mine.toml"})).dataset == {}


def test_that_what_was_taken_out_is_not_brought_back():
    own = apply_changes(plan(), {"sdpa": None, "dataset.enable_bucket": None})
    assert own.without == ("sdpa", "dataset.enable_bucket")
    effective = effective_plan(own)
    assert "sdpa" not in effective.arguments
    assert "enable_bucket" not in effective.dataset
    again = apply_changes(own, {"sdpa": True})
    assert again.without == ("dataset.enable_bucket",)
    assert effective_plan(again).arguments["sdpa"] is True


def test_that_plans_without_presets_note_nothing():
    assert apply_changes(plan(presets=()), {"sdpa": None}).without == ()


def test_that_parts_of_subsets_and_launch_are_not_noted():
    own = plan(dataset={"subsets": [{"image_dir": "a", "flip_aug": True}]})
    changed = apply_changes(own, {"dataset.subsets.0.flip_aug": None, "env.X": None, "plan.script": None})
    assert changed.without == ()


def test_that_the_family_says_what_it_is():
    assert filled(family="sd2-v", presets=()) == {
        "v2": True,
        "v_parameterization": True,
        "network_module": "networks.lora",
    }
    assert filled({"network_module": "lycoris.kohya"}, presets=())["network_module"] == "lycoris.kohya"
    assert filled(family="anima", kind="full", presets=()) == {"attn_mode": "torch"}


def test_that_only_arguments_that_the_script_has_are_filled_in():
    effective = effective_plan(plan(), known={"unet_lr"})
    assert set(effective.arguments) == {"unet_lr"}
    assert effective.dataset["batch_size"] == 1


def test_that_a_script_of_its_own_decides_the_kind():
    assert "fused_backward_pass" in filled(script="sdxl_train.py")
    assert "fused_backward_pass" in filled(script="sdxl_train", kind="full")
    assert "fused_backward_pass" not in filled(script="my_own.py")
    assert "fused_backward_pass" not in filled(script="sdxl_train_network.py")


def test_that_values_of_presets_say_where_they_are_from():
    value = fill_plan(plan()).values["dataset.batch_size"]
    assert (value.value, value.layer) == (1, "12gib")
    assert "T15" in value.sources


def test_that_filling_twice_changes_nothing():
    once = effective_plan(plan())
    assert effective_plan(once) == once


@given(
    st.dictionaries(
        st.sampled_from(
            [
                *("network_dim", "learning_rate", "unet_lr", "optimizer_type", "optimizer_args"),
                *("max_train_epochs", "lr_scheduler", "use_8bit_adam", "train_batch_size", "text_encoder_lr"),
            ]
        ),
        st.one_of(
            st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.lists(st.integers())
        ),
        max_size=5,
    ),
    st.dictionaries(
        st.sampled_from(["batch_size", "resolution", "general", "datasets", "subsets"]),
        st.one_of(
            st.none(),
            st.integers(),
            st.text(max_size=3),
            st.lists(st.integers()),
            st.dictionaries(st.text(), st.integers()),
        ),
        max_size=3,
    ),
    st.lists(st.sampled_from([*SAFE, "flux1", "nothing", ""]), max_size=5),
)
@settings(max_examples=60)
def test_that_any_values_can_be_filled_up(arguments, dataset, presets):
    own = plan(arguments, dataset, tuple(presets))
    result = fill_plan(own)
    for name, value in arguments.items():
        if value is not None:
            assert repr(result.plan.arguments[name]) == repr(value)


def test_that_five_thousand_unknown_keys_are_kept():
    arguments = {f"key_{number}": number for number in range(5000)}
    assert arguments.items() <= filled(arguments).items()


# --- what is wrong with presets ---------------


def findings(own: TrainingPlan, library: PresetLibrary | None = None) -> list:
    found = list(fill_plan(own, library).findings)
    for finding in found:
        for fix in finding.fixes:
            after = fill_plan(apply_changes(own, fix.changes), library).findings
            assert (finding.id, finding.where) not in [(other.id, other.where) for other in after]
    return found


def test_that_good_presets_give_no_finding():
    assert findings(plan()) == []


def test_that_a_missing_preset_stops():
    (finding,) = findings(plan(presets=("sdxl", "saef")))
    assert (finding.id, finding.severity, finding.where) == ("preset-unknown", "stop", "saef")
    assert finding.fixes[0].changes == {"plan.presets": ["sdxl"]}


def test_that_a_preset_of_another_family_stops_and_is_left_out():
    own = plan(presets=("flux1", "style", "safe"))
    (finding,) = findings(own)
    assert (finding.id, finding.severity, finding.where) == ("preset-family", "stop", "flux1")
    assert finding.fixes[0].changes == {"plan.presets": ["sdxl", "style", "safe"]}
    assert "guidance_scale" not in effective_plan(own).arguments


def test_that_descendants_take_the_presets_of_their_family():
    assert findings(plan(family="pony", presets=("sdxl", "safe"))) == []
    (finding,) = findings(plan(family="sdxl", presets=("pony", "safe")))
    assert finding.id == "preset-family"


def test_that_a_gpu_that_is_too_small_is_a_danger():
    (finding,) = findings(plan(kind="full", presets=("sdxl", "style", "safe", "8gib")))
    assert (finding.id, finding.severity) == ("preset-memory", "danger")
    assert "12 GB" in finding.detail


def test_that_a_ring_of_presets_is_named(library):
    ring = library(one="layers: [two]", two="layers: [three]", three="layers: [one]\n", fine="layers: [safe]")
    (finding,) = findings(plan(presets=("sdxl", "one", "fine")), ring)
    assert (finding.id, finding.severity) == ("preset-cyclic", "stop")
    assert "one → two → three → one" in finding.title
    assert "one.yaml" in finding.detail
    assert "layers" in finding.detail
    assert effective_plan(plan(presets=("sdxl", "one", "fine")), ring).arguments["lr_warmup_steps"] == 500


def test_that_a_preset_that_stands_on_itself_is_a_ring(library):
    (finding,) = findings(plan(presets=("me",)), library(me="layers: [me]"))
    assert finding.id == "preset-cyclic"


def test_that_what_a_preset_stands_on_must_be_there(library):
    own = library(mine="layers: [safe, gone]\nvalues: [{set: {seed: 7}}]")
    (finding,) = findings(plan(presets=("sdxl", "mine")), own)
    assert (finding.id, finding.where) == ("preset-unknown", "gone")
    assert "mine.yaml" in finding.detail
    assert finding.fixes[0].changes == {"plan.presets": ["sdxl"]}
    assert effective_plan(plan(presets=("sdxl", "mine")), own).arguments["seed"] == 7


def test_that_a_broken_preset_is_named_with_its_key(library):
    (finding,) = findings(plan(presets=("bad",)), library(bad="values: [{set: {unet_lr: {off: 1}}}]"))
    assert finding.id == "preset-broken"
    assert "bad.yaml, values.0.set.unet_lr" in finding.detail


def test_that_presets_of_a_plan_without_a_family_are_still_judged():
    (finding,) = findings(plan(family="", presets=("gone",)))
    assert finding.id == "preset-unknown"


def test_that_commands_are_made_with_presets_and_refuse_bad_ones(library):
    own = library(mine="values: [{set: {seed: 7}}]")
    arguments = {"pretrained_model_name_or_path": "m.safetensors", "output_dir": "out"}
    dataset = {"subsets": [{"image_dir": "images"}]}
    good = plan(arguments, dataset, (*SAFE, "mine"))
    resolved = resolve(good, Path("/plans"), BUNDLED, library=own)
    assert resolved.findings == ()
    assert resolved.arguments["seed"] == 7
    assert "resolution = [1024, 1024]" in (resolved.dataset_toml or "")
    bad = resolve(good, Path("/plans"), BUNDLED)
    assert [finding.id for finding in bad.findings] == ["preset-unknown"]
