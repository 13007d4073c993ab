"""FLUX and Chroma: what Chroma needs, and defaults that suit neither."""

import pytest
from table import assert_fixes_mend, findings, make_plan, make_view

LORA, FULL, CONTROL = "flux_train_network.py", "flux_train.py", "flux_train_control_net.py"
CHROMA = {"model_type": "chroma"}
GUIDE = {"guidance_scale": 1.0, "model_prediction_type": "raw", "timestep_sampling": "shift"}

FIRES = [
    ("chroma", ["stop", "warning"], LORA, CHROMA),
    ("chroma", ["warning"], LORA, {**CHROMA, "apply_t5_attn_mask": True}),
    ("chroma", ["stop"], FULL, CHROMA),
    ("chroma", ["stop"], CONTROL, {**CHROMA, "apply_t5_attn_mask": True}),
    ("flux-defaults", ["warning"], LORA, {}),
    ("flux-defaults", ["warning"], FULL, {"guidance_scale": 3.5}),
]


@pytest.mark.parametrize(("identity", "severities", "script", "arguments"), FIRES)
def test_that_the_rule_fires_and_its_fixes_mend(identity, severities, script, arguments) -> None:
    view = make_view(make_plan(arguments), script)
    assert [finding.severity for finding in findings(identity, view)] == severities
    assert_fixes_mend(identity, view)


SILENT = [
    ("chroma", LORA, {**CHROMA, "apply_t5_attn_mask": True, "guidance_scale": 0.0}),
    ("chroma", LORA, {}),
    ("flux-defaults", LORA, GUIDE),
    ("flux-defaults", LORA, CHROMA),
    ("flux-defaults", "sd3_train_network.py", {}),
]


@pytest.mark.parametrize(("identity", "script", "arguments"), SILENT)
def test_that_the_rule_keeps_silent(identity, script, arguments) -> None:
    assert not findings(identity, make_view(make_plan(arguments), script))
