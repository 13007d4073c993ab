"""``network_args``: each module reads its own keys, and passes over all others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from table import assert_fixes_mend, findings, make_plan, make_view

LORA, FLUX, SD3, ANIMA = "networks.lora", "networks.lora_flux", "networks.lora_sd3", "networks.lora_anima"


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
