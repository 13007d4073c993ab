"""Options that save memory: limits, and pairs that exclude each other."""

import pytest
from table import assert_fixes_mend, findings, make_plan, make_view

SD15, SDXL, FLUX = "train_network.py", "sdxl_train_network.py", "flux_train_network.py"
SD3, ANIMA, HUNYUAN = "sd3_train_network.py", "anima_train_network.py", "hunyuan_image_train_network.py"
NO_PACKAGES = {"trainer": {"packages": {}}}
OFFLOAD = {"cpu_offload_checkpointing": True}

FIRES = [
    ("swap-max", "stop", FLUX, {"blocks_to_swap": 36}, {}, "flux1"),
    ("swap-max", "stop", SD3, {"blocks_to_swap": 23}, {}, "sd35-medium"),
    ("swap-max", "stop", SD3, {"blocks_to_swap": 37}, {}, ""),
    ("swap-max", "stop", ANIMA, {"blocks_to_swap": 27}, {}, "anima"),
    ("swap-max", "stop", HUNYUAN, {"blocks_to_swap": 38}, {}, ""),
    ("swap-max", "stop", "lumina_train_network.py", {"blocks_to_swap": 25}, {}, ""),
    ("swap-offload", "stop", FLUX, {"blocks_to_swap": 5, **OFFLOAD}, {}, ""),
    ("swap-offload", "stop", "anima_train.py", {"blocks_to_swap": 5, **OFFLOAD}, {}, ""),
    ("swap-offload", "danger", HUNYUAN, {"blocks_to_swap": 5, **OFFLOAD}, {}, ""),
    ("unsloth-offload", "stop", ANIMA, {"unsloth_offload_checkpointing": True, "blocks_to_swap": 2}, {}, ""),
    ("unsloth-offload", "stop", "anima_train.py", {"unsloth_offload_checkpointing": True, **OFFLOAD}, {}, ""),
    ("cpu-offload", "stop", SD15, {"gradient_checkpointing": True, **OFFLOAD}, {}, ""),
    ("cpu-offload", "stop", SD3, {"gradient_checkpointing": True, **OFFLOAD}, {}, "sd3"),
    ("cpu-offload", "hint", SDXL, OFFLOAD, {}, ""),
    ("split", "warning", FLUX, {"split_mode": True}, {}, ""),
    ("split", "hint", FLUX, {"split_mode": True, "blocks_to_swap": 0}, {}, ""),
    ("deepspeed", "stop", SDXL, {"deepspeed": True}, NO_PACKAGES, ""),
    ("deepspeed", "stop", "train_db.py", {"deepspeed": True}, {}, ""),
    ("fp8-unused", "hint", "flux_train.py", {"fp8_base": True}, {}, ""),
]


@pytest.mark.parametrize(("identity", "severity", "script", "arguments", "facts", "family"), FIRES)
def test_that_the_rule_fires_and_its_fixes_mend(identity, severity, script, arguments, facts, family) -> None:
    view = make_view(make_plan(arguments, family=family), script, **facts)
    assert [finding.severity for finding in findings(identity, view)] == [severity]
    assert_fixes_mend(identity, view)


SILENT = [
    ("swap-max", FLUX, {"blocks_to_swap": 35}, {}, "flux1"),
    ("swap-max", SD3, {"blocks_to_swap": 36}, {}, ""),
    ("swap-max", SD3, {"blocks_to_swap": 36}, {}, "sd35-large"),
    ("swap-max", "lumina_train.py", {"blocks_to_swap": 99}, {}, "lumina2"),
    ("swap-max", SDXL, {"blocks_to_swap": 99}, {}, "sdxl"),
    ("swap-max", FLUX, {}, {}, ""),
    ("swap-offload", FLUX, {"blocks_to_swap": 0, **OFFLOAD}, {}, ""),
    ("swap-offload", FLUX, {"blocks_to_swap": 5}, {}, ""),
    ("swap-offload", "sd3_train.py", {"blocks_to_swap": 5, **OFFLOAD}, {}, ""),
    ("unsloth-offload", ANIMA, {"unsloth_offload_checkpointing": True}, {}, ""),
    ("unsloth-offload", ANIMA, OFFLOAD, {}, ""),
    ("cpu-offload", FLUX, {"gradient_checkpointing": True, **OFFLOAD}, {}, ""),
    ("cpu-offload", SD15, {"gradient_checkpointing": True}, {}, ""),
    ("split", FLUX, {}, {}, ""),
    ("deepspeed", SDXL, {"deepspeed": True}, {"trainer": {"packages": {"deepspeed": "0.16"}}}, ""),
    ("deepspeed", SDXL, {"deepspeed": True}, {}, ""),
    ("deepspeed", SDXL, {}, NO_PACKAGES, ""),
    ("fp8-unused", FLUX, {"fp8_base": True}, {}, ""),
    ("fp8-unused", "flux_train.py", {}, {}, ""),
]


@pytest.mark.parametrize(("identity", "script", "arguments", "facts", "family"), SILENT)
def test_that_the_rule_keeps_silent(identity, script, arguments, facts, family) -> None:
    assert not findings(identity, make_view(make_plan(arguments, family=family), script, **facts))


def test_that_split_mode_becomes_what_the_trainer_makes_of_it() -> None:
    (finding,) = findings("split", make_view(make_plan({"split_mode": True}), FLUX))
    assert finding.fixes[0].changes == {"split_mode": None, "blocks_to_swap": 18}
