"""Attention: its package, one kernel only, and modes that cannot train."""

import pytest
from table import assert_fixes_mend, findings, make_plan, make_view

SDXL, FLUX, ANIMA, ANIMA_FULL = (
    "sdxl_train_network.py",
    "flux_train_network.py",
    "anima_train_network.py",
    "anima_train.py",
)
LUMINA = "lumina_train_network.py"
NONE = {"trainer": {"packages": {}}}
ALL = {"trainer": {"packages": {"xformers": "1", "flash-attn": "2", "sageattention": "3"}}}

FIRES = [
    ("xformers", "stop", SDXL, {"xformers": True}, NONE),
    ("xformers", "stop", ANIMA, {"xformers": True}, NONE),
    ("attn-one", "warning", SDXL, {"xformers": True, "mem_eff_attn": True}, {}),
    ("attn-one", "warning", SDXL, {"xformers": True, "sdpa": True}, {}),
    ("attn", "hint", SDXL, {"mem_eff_attn": True}, {}),
    ("attn", "hint", "train_db.py", {}, {}),
    ("attn-mode", "stop", ANIMA_FULL, {}, ALL),
    ("attn-mode", "stop", ANIMA, {"attn_mode": "sageattn"}, ALL),
    ("attn-mode", "stop", ANIMA, {"attn_mode": "flash"}, NONE),
    ("attn-mode", "danger", ANIMA, {"attn_mode": "xformers"}, ALL),
    ("attn-mode", "danger", "hunyuan_image_train_network.py", {"xformers": True}, {}),
    ("lumina-attn", "stop", LUMINA, {"use_flash_attn": True}, NONE),
    ("lumina-attn", "stop", LUMINA, {"use_sage_attn": True}, NONE),
]


@pytest.mark.parametrize(("identity", "severity", "script", "arguments", "facts"), FIRES)
def test_that_the_rule_fires_and_its_fixes_mend(identity, severity, script, arguments, facts) -> None:
    view = make_view(make_plan(arguments), script, **facts)
    assert [finding.severity for finding in findings(identity, view)] == [severity]
    assert_fixes_mend(identity, view)


SILENT = [
    ("xformers", SDXL, {"xformers": True}, ALL),
    ("xformers", SDXL, {"xformers": True}, {}),
    ("xformers", SDXL, {"xformers": True, "mem_eff_attn": True}, NONE),
    ("xformers", FLUX, {"xformers": True}, NONE),
    ("xformers", ANIMA, {"xformers": True, "attn_mode": "torch"}, NONE),
    ("attn-one", SDXL, {"sdpa": True}, {}),
    ("attn", SDXL, {"sdpa": True}, {}),
    ("attn", FLUX, {}, {}),
    ("attn-mode", ANIMA, {}, {}),
    ("attn-mode", ANIMA, {"attn_mode": "flash"}, ALL),
    ("attn-mode", ANIMA, {"attn_mode": "flash"}, {}),
    ("attn-mode", ANIMA, {"attn_mode": "xformers", "split_attn": True}, ALL),
    ("attn-mode", ANIMA_FULL, {"attn_mode": "sdpa"}, {}),
    ("attn-mode", SDXL, {}, {}),
    ("lumina-attn", LUMINA, {"use_flash_attn": True}, ALL),
    ("lumina-attn", LUMINA, {}, NONE),
]


@pytest.mark.parametrize(("identity", "script", "arguments", "facts"), SILENT)
def test_that_the_rule_keeps_silent(identity, script, arguments, facts) -> None:
    assert not findings(identity, make_view(make_plan(arguments), script, **facts))
