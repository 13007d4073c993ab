"""What the trainer's parser would refuse is a stop finding with a way out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.engine.plan.changes import apply_changes
from gui.engine.plan.model import LaunchSettings, TrainingPlan
from gui.engine.preflight.tokens import check_tokens
from gui.engine.trainer.argument import Argument
from gui.engine.trainer.catalogue import Catalogue, ScriptArguments
from gui.engine.trainer.judging import judge_arguments

CATALOGUE = Catalogue.bundled()
LORA = CATALOGUE.script("train_network")


def check_arguments(plan, script, catalogue=None):
    return [*judge_arguments(plan.arguments, script, catalogue), *check_tokens(plan)]


def findings_for(**arguments):
    return check_arguments(TrainingPlan(arguments=arguments), LORA, CATALOGUE)


def only(**arguments):
    found = findings_for(**arguments)
    assert len(found) == 1
    return found[0]


def test_that_good_arguments_give_no_finding():
    assert (
        findings_for(
            network_module="networks.lora",
            network_dim=16,
            unet_lr=1e-4,
            text_encoder_lr=[1e-5],
            optimizer_args=["weight_decay=0.01", "betas=0.9,0.99"],
            lr_warmup_steps="10%",
            resolution="768, 768",
            xformers=True,
            seed=None,
            optimizer_type="",
        )
        == []
    )


def test_that_a_name_that_no_script_has_stops_and_names_the_near_one():
    finding = only(lora_network_weights="x.safetensors")
    assert (finding.id, finding.severity, finding.where) == ("arg-unknown", "stop", "lora_network_weights")
    assert "network_weights" in finding.detail
    assert finding.fixes[0].changes == {"lora_network_weights": None, "network_weights": "x.safetensors"}
    assert not any(fix.safe for fix in finding.fixes)


def test_that_an_argument_of_another_script_is_safely_left_out():
    finding = only(cache_text_encoder_outputs=True)
    assert "only in anima_train_network.py" in finding.detail
    assert finding.fixes[-1].changes == {"cache_text_encoder_outputs": None}
    assert finding.fixes[-1].safe


@pytest.mark.parametrize("name", ["--network_dim", "network-dim"])
def test_that_another_spelling_of_a_known_name_is_safely_renamed(name):
    finding = only(**{name: 8})
    assert finding.fixes[0].changes == {name: None, "network_dim": 8}
    assert finding.fixes[0].safe


def test_that_the_beginning_of_one_name_is_safely_written_in_full():
    finding = only(save_every_n_epo=2)
    assert (finding.id, finding.severity) == ("arg-short", "stop")
    assert finding.fixes[0].changes == {"save_every_n_epo": None, "save_every_n_epochs": 2}
    assert finding.fixes[0].safe


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("save_every_n", 2),  # begins two names
        ("save_every_n_epo", "two"),  # would be refused as well
        ("text_encoder", "qwen.safetensors"),  # another script's own, and not text_encoder_lr
        ("hel", True),
        ("", 1),
    ],
)
def test_that_other_beginnings_are_just_unknown(name, value):
    assert only(**{name: value}).id == "arg-unknown"


def test_that_a_second_spelling_never_overwrites_the_first():
    finding = only(**{"--network_dim": 8, "network_dim": 4})
    assert [fix.changes for fix in finding.fixes] == [{"--network_dim": None}]


def test_that_help_is_no_argument_of_a_plan():
    assert only(help=True).id == "arg-unknown"


def test_that_without_a_catalogue_the_name_is_refused_all_the_same():
    found = check_arguments(TrainingPlan(arguments={"blocks_to_swap": 8}), LORA)
    assert [finding.id for finding in found] == ["arg-unknown"]


def test_that_a_name_with_a_dot_gets_no_fix_that_would_change_another_place():
    assert only(**{"dataset.batch_size": 2}).fixes == ()


@pytest.mark.parametrize(
    ("name", "value", "rule", "changes", "safe"),
    [
        ("network_dim", 16.0, "arg-type", {"network_dim": 16}, True),
        ("learning_rate", "1,5", "arg-type", {"learning_rate": 1.5}, False),
        ("save_precision", "fp32", "enum", {"save_precision": "float"}, True),
        ("mixed_precision", "bf17", "enum", {"mixed_precision": "bf16"}, False),
        ("max_token_length", 75, "enum", {"max_token_length": None}, True),
        ("enable_bucket", "false", "flag-value", {"enable_bucket": False}, True),
        ("network_dim", [16], "arg-count", {"network_dim": 16}, True),
        ("output_name", "--", "arg-form", {"output_name": None}, False),
        ("logging_dir", "", "empty-arg", {"logging_dir": None}, True),
        ("learning_rate", float("nan"), "nonfinite-value", {"learning_rate": None}, False),
    ],
)
def test_that_a_wrong_value_is_found_with_its_fix(name, value, rule, changes, safe):
    finding = only(**{name: value})
    assert finding.id == rule
    assert (finding.fixes[0].changes, finding.fixes[0].safe) == (changes, safe)


def test_that_infinite_numbers_are_a_danger_also_in_lists():
    assert only(text_encoder_lr=[1e-5, float("inf")]).severity == "danger"


def test_that_what_a_parser_insists_on_is_asked_for():
    needed = Argument(flags=("--model",), dest="model", type="str", required=True)
    script = ScriptArguments("other.py", (needed,))
    assert [finding.id for finding in check_arguments(TrainingPlan(), script)] == ["arg-missing"]
    assert check_arguments(TrainingPlan(arguments={"model": "a"}), script) == []


def test_that_tokens_in_a_plan_are_named_but_never_shown():
    plan = TrainingPlan(
        arguments={"huggingface_token": "hf_" + "x" * 20},
        launch=LaunchSettings(env={"WANDB_API_KEY": "0123456789abcdef"}),
    )
    found = check_arguments(plan, LORA, CATALOGUE)
    assert [(finding.id, finding.where) for finding in found] == [
        ("secret-in-plan", "huggingface_token"),
        ("secret-in-plan", "env.WANDB_API_KEY"),
    ]
    shown = " ".join(finding.model_dump_json() for finding in found)
    assert "xxxx" not in shown
    assert "0123456789" not in shown


@pytest.mark.parametrize(
    "arguments", [{"wandb_api_key": ["0123456789abcdef"]}, {"wandb_api_keys": "0123456789abcdef"}]
)
def test_that_a_token_in_the_wrong_form_or_place_is_not_shown(arguments):
    shown = " ".join(finding.model_dump_json() for finding in findings_for(**arguments))
    assert "wandb_api_key" in shown
    assert "0123456789" not in shown


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
NAMES = st.one_of(
    st.sampled_from(sorted(LORA.arguments)),
    st.text(max_size=12),
    st.sampled_from(["--seed", "network-alpha", "blocks_to_swap", "train_text_encoder", "unet_lrr"]),
)


@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_that_every_fix_makes_its_finding_go_away(arguments):
    plan = TrainingPlan(arguments=arguments)
    for finding in check_arguments(plan, LORA, CATALOGUE):
        for fix in finding.fixes:
            after = check_arguments(apply_changes(plan, fix.changes), LORA, CATALOGUE)
            assert (finding.id, finding.where) not in {(f.id, f.where) for f in after}


def test_that_a_lora_given_to_a_script_for_whole_models_is_not_taken_apart_in_silence():
    wanted = {"network_module": "networks.lora", "network_dim": 16, "unet_lr": 1e-4}
    plan = TrainingPlan(arguments=wanted)
    findings = check_arguments(plan, CATALOGUE.script("train_db.py"), CATALOGUE)
    assert {finding.id for finding in findings} == {"arg-unknown"}
    assert not any(fix.safe for finding in findings for fix in finding.fixes)
