"""Networks: the right script and module, rank and alpha, and what single modules want."""

import pytest
from table import CATALOGUE, assert_fixes_mend, findings, make_plan, make_view

from gui.engine.plan.changes import apply_changes
from gui.engine.plan.families import script_for
from gui.engine.preflight.view import View

SD15, SDXL, FLUX, SD3 = (
    "train_network.py",
    "sdxl_train_network.py",
    "flux_train_network.py",
    "sd3_train_network.py",
)
RANK = {"network_dim": 16, "network_alpha": 16}
LORA = {"network_module": "networks.lora", **RANK}
DYLORA = {"network_module": "networks.dylora", **RANK}
OFT = {"network_module": "networks.oft", "network_dim": 4}
T5 = {"network_module": "networks.lora_flux", "network_args": ["train_t5xxl=True", "split_qkv=True"]}
NONE = {"trainer": {"packages": {}}}

FIRES = [
    ("netw-module", "stop", FLUX, {"network_module": "networks.lora"}, {}),
    ("netw-module", "stop", SD3, {"network_module": "networks.lora_flux"}, {}),
    ("netw-module", "stop", SDXL, {"network_module": "networks.locon"}, {}),
    ("netw-module", "stop", SDXL, {"network_module": "lora"}, {}),
    ("netw-pkg", "stop", SDXL, {"network_module": "lycoris.kohya", "network_args": ["algo=lokr"]}, NONE),
    ("dim-explicit", "warning", SD15, {"network_module": "networks.lora"}, {}),
    ("dim-explicit", "warning", SD15, {"network_module": "networks.lora", "network_dim": 32}, {}),
    ("dim-explicit", "warning", SD15, {"network_module": "networks.lora", "network_dim": "many"}, {}),
    (
        "dim-explicit",
        "warning",
        SD15,
        {**LORA, "network_dim": 8, "network_alpha": 4, "mixed_precision": "fp16"},
        {},
    ),
    ("dylora", "stop", SDXL, {**DYLORA, "network_args": ["conv_dim=8", "unit=4"]}, {}),
    ("dylora", "stop", SDXL, {**DYLORA, "network_args": ["unit=5", "conv_alpha=1"]}, {}),
    ("dylora", "stop", SDXL, {**DYLORA, "network_args": ["unit=0"]}, {}),
    ("oft", "warning", SDXL, OFT, {}),
    ("oft", "stop", SDXL, {**OFT, "network_alpha": 1e-3, "network_train_text_encoder_only": True}, {}),
    ("norm-limit", "hint", SDXL, {**DYLORA, "scale_weight_norms": 1.0}, {}),
    ("t5-lora", "stop", FLUX, {**T5, "cache_text_encoder_outputs": True}, {}),
    ("netw", "stop", SDXL, {"dim_from_weights": True}, {}),
    ("netw", "warning", SDXL, {"network_weights": "/old.safetensors"}, {}),
    ("netw", "hint", SDXL, {"network_weights": "/old.safetensors", **RANK}, {}),
]


@pytest.mark.parametrize(("identity", "severity", "script", "arguments", "facts"), FIRES)
def test_that_the_rule_fires_and_its_fixes_mend(identity, severity, script, arguments, facts) -> None:
    view = make_view(make_plan(arguments), script, **facts)
    assert [finding.severity for finding in findings(identity, view)] == [severity]
    assert_fixes_mend(identity, view)


SILENT = [
    ("netw-module", FLUX, {"network_module": "networks.lora_flux"}, {}),
    ("netw-module", SDXL, {"network_module": "networks.dylora"}, {}),
    ("netw-module", SDXL, {"network_module": "lycoris.kohya"}, {}),
    ("netw-module", SDXL, {"network_module": "my.own"}, {}),
    ("netw-module", SDXL, {}, {}),
    ("netw-pkg", SDXL, {"network_module": "lycoris.kohya"}, {"trainer": {"packages": {"lycoris-lora": "3"}}}),
    ("netw-pkg", SDXL, {"network_module": "lycoris.kohya"}, {}),
    ("netw-pkg", SDXL, LORA, NONE),
    ("dim-explicit", SD15, LORA, {}),
    ("dim-explicit", SD15, {"network_module": "networks.lora", "dim_from_weights": True}, {}),
    ("dim-explicit", SD15, {**LORA, "network_dim": 8, "network_alpha": 8, "mixed_precision": "fp16"}, {}),
    ("dim-explicit", SD15, {**LORA, "network_dim": 8, "network_alpha": 4}, {}),
    ("dim-explicit", SDXL, OFT, {}),
    ("dim-explicit", "sdxl_train.py", {}, {}),
    ("dylora", SDXL, {**DYLORA, "network_args": ["conv_dim=16", "unit=4"]}, {}),
    ("dylora", SDXL, {**LORA, "network_args": ["conv_dim=8"]}, {}),
    ("oft", SDXL, {**OFT, "network_alpha": 1e-3}, {}),
    ("norm-limit", SDXL, {**LORA, "scale_weight_norms": 1.0}, {}),
    ("t5-lora", FLUX, T5, {}),
    ("t5-lora", FLUX, {**LORA, "cache_text_encoder_outputs": True}, {}),
    ("netw", SDXL, {"dim_from_weights": True, "network_weights": "/old.safetensors"}, {}),
    ("netw", SDXL, LORA, {}),
    ("netw", "sdxl_train.py", {"network_weights": "/x"}, {}),
    ("wrong-script", SDXL, LORA, {}),
    ("wrong-script", "sdxl_train.py", {"learning_rate": 1e-5}, {}),
    ("wrong-script", "sdxl_train_control_net_lllite.py", {"network_dim": 64}, {}),
]


@pytest.mark.parametrize(("identity", "script", "arguments", "facts"), SILENT)
def test_that_the_rule_keeps_silent(identity, script, arguments, facts) -> None:
    assert not findings(identity, make_view(make_plan(arguments), script, **facts))


@pytest.mark.parametrize(
    ("plan", "meant"),
    [
        ({"family": "sd15", "kind": "dreambooth"}, "train_network.py"),
        ({"family": "sdxl", "kind": "full", "script": "sdxl_train.py"}, "sdxl_train_network.py"),
        ({"script": "flux_train.py"}, "flux_train_network.py"),
    ],
)
def test_that_a_lora_with_a_script_for_whole_models_gets_the_right_one(plan, meant) -> None:
    made = make_plan(LORA, **plan)
    view = make_view(made, script_for(made))
    (finding,) = findings("wrong-script", view)
    assert finding.severity == "stop"
    lora, whole = finding.fixes
    assert lora.safe and not whole.safe
    mended = apply_changes(made, lora.changes)
    assert script_for(mended) == meant
    assert not findings("wrong-script", View(mended, view.facts, meant, CATALOGUE.script(meant)))
    without = apply_changes(made, whole.changes)
    assert not findings("wrong-script", make_view(without, view.script))


def test_that_what_the_user_wrote_counts_where_the_script_dropped_it() -> None:
    dropped = make_plan({}, family="sd15", kind="dreambooth")
    own = make_plan(LORA, family="sd15", kind="dreambooth")
    view = make_view(dropped, "train_db.py")
    assert findings("wrong-script", View(dropped, view.facts, view.script, view.arguments, own))
