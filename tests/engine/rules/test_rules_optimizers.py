"""Optimizers: contradictory flags, missing packages, arguments that cannot be read."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from table import assert_fixes_mend, findings, make_plan, make_view

NO_PACKAGES = {"trainer": {"packages": {}}}
BNB = {"trainer": {"packages": {"bitsandbytes": "0.45.0"}}}
SDXL = "sdxl_train_network.py"

FIRES = [
    ("old-flags", "stop", SDXL, {"use_8bit_adam": True, "optimizer_type": "AdamW"}, {}),
    ("old-flags", "stop", SDXL, {"use_8bit_adam": True, "use_lion_optimizer": True}, {}),
    ("old-flags", "hint", SDXL, {"use_lion_optimizer": True}, {}),
    ("opt-pkg", "stop", SDXL, {"optimizer_type": "AdamW8bit"}, NO_PACKAGES),
    ("opt-pkg", "stop", SDXL, {"use_8bit_adam": True}, NO_PACKAGES),
    ("opt-pkg", "stop", SDXL, {"optimizer_type": "prodigyplus.ProdigyPlusScheduleFree"}, BNB),
    ("optimizer-name", "stop", SDXL, {"optimizer_type": "rmsprop"}, {}),
    ("optimizer-name", "stop", SDXL, {"optimizer_type": "DAdaptWhatever"}, {}),
    ("optimizer-name", "danger", SDXL, {"optimizer_type": "AdEMAMix8bit"}, {}),
    (
        "opt-args",
        "stop",
        SDXL,
        {"optimizer_args": ["weight_decay=0.5,", "decouple=True,", "betas=0.9,0.99,"]},
        {},
    ),
    ("opt-args", "stop", SDXL, {"optimizer_args": ["weight_decay"]}, {}),
    ("opt-args", "stop", SDXL, {"optimizer_args": ["relative_step=false"]}, {}),
    ("opt-args", "stop", SDXL, {"optimizer_args": ["decouple=True weight_decay=0.01"]}, {}),
    ("opt-args", "stop", SDXL, {"lr_scheduler_args": ["step_rules=1:10,0.1"]}, {}),
    ("fused", "stop", "sdxl_train.py", {"fused_backward_pass": True, "optimizer_type": "AdamW8bit"}, {}),
    (
        "fused",
        "stop",
        "sdxl_train.py",
        {"fused_backward_pass": True, "optimizer_type": "Adafactor", "gradient_accumulation_steps": 2},
        {},
    ),
    (
        "no-params",
        "stop",
        SDXL,
        {"network_train_unet_only": True, "network_train_text_encoder_only": True},
        {},
    ),
    ("no-params", "stop", SDXL, {"learning_rate": 0, "unet_lr": 0}, {}),
    ("no-params", "stop", SDXL, {"unet_lr": 0, "network_train_unet_only": True}, {}),
    ("prodigy-lr", "warning", SDXL, {"optimizer_type": "Prodigy", "unet_lr": 1.0, "learning_rate": 1e-6}, {}),
    ("prodigy-lr", "warning", SDXL, {"optimizer_type": "DAdaptAdam"}, {}),
]


@pytest.mark.parametrize(("identity", "severity", "script", "arguments", "facts"), FIRES)
def test_that_the_rule_fires_and_its_fixes_mend(identity, severity, script, arguments, facts) -> None:
    view = make_view(make_plan(arguments), script, **facts)
    assert [finding.severity for finding in findings(identity, view)] == [severity]
    assert_fixes_mend(identity, view)


SILENT = [
    ("old-flags", SDXL, {"optimizer_type": "AdamW8bit"}, {}),
    ("opt-pkg", SDXL, {"optimizer_type": "AdamW8bit"}, BNB),
    ("opt-pkg", SDXL, {"optimizer_type": "AdamW8bit"}, {}),
    ("opt-pkg", SDXL, {"optimizer_type": "AdamW"}, NO_PACKAGES),
    ("optimizer-name", SDXL, {"optimizer_type": "adafactor"}, {}),
    ("optimizer-name", SDXL, {"optimizer_type": "RMSprop"}, {}),
    ("optimizer-name", SDXL, {"optimizer_type": "bitsandbytes.optim.AdEMAMix8bit"}, {}),
    ("optimizer-name", SDXL, {}, {}),
    ("opt-args", SDXL, {"optimizer_args": ["betas=0.9,0.99", "decouple=True", "name='x'"]}, {}),
    ("fused", "sdxl_train.py", {"fused_backward_pass": True, "optimizer_type": "AdaFactor"}, {}),
    ("no-params", SDXL, {"learning_rate": 0, "unet_lr": 1e-4}, {}),
    ("no-params", SDXL, {"text_encoder_lr": 0}, {}),
    ("prodigy-lr", SDXL, {"optimizer_type": "Prodigy", "learning_rate": 1.0, "text_encoder_lr": [1.0]}, {}),
    ("prodigy-lr", SDXL, {"optimizer_type": "AdamW", "learning_rate": 1e-6}, {}),
]


@pytest.mark.parametrize(("identity", "script", "arguments", "facts"), SILENT)
def test_that_the_rule_keeps_silent(identity, script, arguments, facts) -> None:
    assert not findings(identity, make_view(make_plan(arguments), script, **facts))


@given(st.text(max_size=30))
def test_that_an_item_passes_exactly_when_the_trainer_could_read_it(word) -> None:
    # The trainer's own way, train_util.py:4859: one "=", then a Python literal.
    try:
        _key, value = word.split("=")
        ast.literal_eval(value)
        readable = not word.rstrip().endswith(",") and bool(_key.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        readable = False
    view = make_view(make_plan({"optimizer_args": [word]}))
    assert bool(findings("opt-args", view)) is not readable
