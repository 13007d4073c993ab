"""``network_args``: each module reads its own keys, and passes over all others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from table import assert_fixes_mend, findings, make_plan, make_view

LORA, FLUX, SD3, ANIMA = "networks.lora", "networks.lora_flux", "networks.lora_sd3", "networks.lora_anima"
SCRIPTS = {FLUX: "flux_train_network.py", SD3: "sd3_train_network.py", ANIMA: "anima_train_network.py"}
TWELVE = ",".join(["0.5"] * 12)

FIRES = [
    (LORA, "conv_dim", "stop"),
    (LORA, "conv_dims=8", "warning"),
    (LORA, "dropout=0.1", "warning"),
    (LORA, "conv_dim=8.0", "stop"),
    (LORA, "conv_alpha=much", "stop"),
    (LORA, "block_dims=1,2,3", "stop"),
    (LORA, "block_dims=" + ",".join(["x"] * 25), "stop"),
    (LORA, "down_lr_weight=0.5", "warning"),
    (LORA, "up_lr_weight=cosine+much", "warning"),
    (LORA, "down_lr_weight=0.5,a", "stop"),
    (LORA, "down_lr_weight=0.5,0.5", "warning"),
    (LORA, f"down_lr_weight={TWELVE},1", "stop"),
    (LORA, "mid_lr_weight=1,1", "warning"),
    ("networks.oft", "enable_all_linear=False", "stop"),
    (FLUX, "train_t5xxl=true", "warning"),
    (FLUX, "split_qkv=0", "warning"),
    (FLUX, "in_dims=[4,4,4,4]", "stop"),
    (FLUX, "train_double_block_indices=0-19", "stop"),
    (FLUX, "train_single_block_indices=5-2", "stop"),
    (FLUX, "train_single_block_indices=1-2-3", "stop"),
    (FLUX, "train_single_block_indices=one", "stop"),
    (FLUX, "train_blocks=Single", "stop"),
    (FLUX, "train_blocks=few", "stop"),
    (FLUX, "network_reg_dims=.*attn.*=4.5", "warning"),
    (FLUX, "network_reg_lrs=attn", "warning"),
    (SD3, "emb_dims=1,2,3", "stop"),
    (ANIMA, "verbose=yes", "warning"),
    (ANIMA, "include_patterns=[.*]", "stop"),
    (ANIMA, "include_patterns=['(']", "warning"),
    ("lycoris.kohya", "algo", "stop"),
]


@pytest.mark.parametrize(("module", "word", "severity"), FIRES)
def test_that_the_rule_fires_and_its_fixes_mend(module, word, severity) -> None:
    plan = make_plan({"network_module": module, "network_args": ["rank_dropout=0.1", word]})
    view = make_view(plan, SCRIPTS.get(module, "train_network.py"))
    found = [f for f in findings("net-args", view) if "rank_dropout" not in f.title]
    assert [finding.severity for finding in found] == [severity]
    assert_fixes_mend("net-args", view)


SILENT = [
    (LORA, "conv_dim=8"),
    (LORA, "conv_alpha=1e-3"),
    (LORA, "block_dims=" + ",".join(["8"] * 25)),
    (LORA, "down_lr_weight=cosine+0.25"),
    (LORA, f"up_lr_weight={TWELVE}"),
    (LORA, "mid_lr_weight=1"),
    ("networks.oft", "enable_all_linear=True"),
    (FLUX, "train_t5xxl=True"),
    (FLUX, "verbose=False"),
    (FLUX, "in_dims=[4,4,4,4,4]"),
    (FLUX, "train_double_block_indices=0,2,4-18"),
    (FLUX, "train_double_block_indices=none"),
    (FLUX, "train_blocks=single"),
    (FLUX, "network_reg_dims=.*attn.*=4,mlp=8"),
    (ANIMA, "verbose=TRUE"),
    (ANIMA, "include_patterns=['.*attn.*']"),
    (ANIMA, "include_patterns='x'"),
    ("lycoris.kohya", "algo=lokr"),
    ("my.module", "anything=goes"),
]


@pytest.mark.parametrize(("module", "word"), SILENT)
def test_that_the_rule_keeps_silent(module, word) -> None:
    plan = make_plan({"network_module": module, "network_args": [word]})
    assert not findings("net-args", make_view(plan, SCRIPTS.get(module, "train_network.py")))


def test_that_arguments_are_judged_for_the_module_that_will_be_taken() -> None:
    plan = make_plan({"network_module": LORA, "network_args": ["train_blocks=few", "single_dim=4"]})
    (finding,) = findings("net-args", make_view(plan, "flux_train_network.py"))
    assert finding.where == "network_args.train_blocks"


def test_that_lists_have_other_lengths_for_sdxl() -> None:
    plan = make_plan({"network_module": LORA, "network_args": ["block_dims=" + ",".join(["8"] * 23)]})
    assert not findings("net-args", make_view(plan, "sdxl_train_network.py"))
    assert findings("net-args", make_view(plan, "train_network.py"))


def test_that_scripts_without_networks_are_left_alone() -> None:
    assert not findings("net-args", make_view(make_plan({"network_args": ["x"]}), "sdxl_train.py"))


@pytest.mark.parametrize(
    ("word", "fix", "safe"),
    [
        ("train_t5xxl=true", "train_t5xxl=True", True),
        ("split_qkv=off", "split_qkv=False", True),
        ("img_attn_dim=4.0", "img_attn_dim=4", True),
        ("train_blocks=SINGLE", "train_blocks=single", True),
        ("train_blocks=singel", "train_blocks=single", False),
        ("img_attn_dims=4", "img_attn_dim=4", False),
    ],
)
def test_that_what_was_meant_is_offered(word, fix, safe) -> None:
    view = make_view(make_plan({"network_module": FLUX, "network_args": [word]}), "flux_train_network.py")
    (finding,) = findings("net-args", view)
    assert (finding.fixes[0].changes, finding.fixes[0].safe) == ({"network_args": [fix]}, safe)


def test_that_a_name_that_is_there_already_is_not_offered_again() -> None:
    plan = make_plan({"network_module": LORA, "network_args": ["conv_dim=4", "conv_dims=8"]})
    (finding,) = findings("net-args", make_view(plan, "train_network.py"))
    assert [fix.id for fix in finding.fixes] == ["leave-out"]


def test_that_the_same_key_twice_gives_two_findings() -> None:
    plan = make_plan({"network_module": LORA, "network_args": ["conv_dim=x", "conv_dim=y"]})
    found = findings("net-args", make_view(plan, "train_network.py"))
    assert len({finding.where for finding in found}) == 2


def reference_blocks(selection: str, total: int) -> bool:
    """Whether the trainer can read the selection (lora_flux.py:504-538)."""
    if selection in ("all", "none", ""):
        return True
    try:
        for r in selection.split(","):
            if "-" in r:
                start, end = map(int, map(str.strip, r.split("-")))
                assert 0 <= start < total and 0 <= end < total and start <= end
            else:
                assert 0 <= int(r) < total
    except (ValueError, AssertionError):
        return False
    return True


@given(st.text("0123456789,- ", max_size=8))
def test_that_blocks_are_refused_exactly_where_the_trainer_fails(selection) -> None:
    plan = make_plan({"network_module": FLUX, "network_args": [f"train_double_block_indices={selection}"]})
    assert bool(findings("net-args", make_view(plan, "flux_train_network.py"))) is not reference_blocks(
        selection, 19
    )


@pytest.mark.parametrize(
    ("words", "fires"),
    [(["ggpo_beta=0.01"], True), (["ggpo_beta=0.01", "ggpo_sigma=0.03"], False), ([], False)],
)
def test_that_half_of_ggpo_is_said(words, fires) -> None:
    view = make_view(make_plan({"network_module": FLUX, "network_args": words}), "flux_train_network.py")
    assert bool(findings("ggpo", view)) is fires
    if fires:
        assert_fixes_mend("ggpo", view)
