"""Number formats: what overflows, what the GPU cannot do, what the trainer refuses."""

import pytest
from table import assert_fixes_mend, findings, make_plan, make_view

OLD_GPU = {"gpu": [{"name": "T4", "vram_gib": 16.0, "compute_capability": "7.5"}]}
NEW_GPU = {"gpu": [{"name": "RTX 3060", "vram_gib": 12.0, "compute_capability": "8.6"}]}
NEW_TORCH = {"trainer": {"torch": "2.6.0+cu124"}}

FIRES = [
    ("nan-flux-fp16", "stop", "flux_train_network.py", {"mixed_precision": "fp16"}, NEW_GPU),
    ("nan-flux-fp16", "stop", "sd3_train_network.py", {"mixed_precision": "fp16"}, OLD_GPU),
    ("nan-flux-fp16", "danger", "lumina_train_network.py", {"mixed_precision": "fp16"}, {}),
    ("nan-flux-fp16", "stop", "flux_train.py", {"mixed_precision": "fp16", "full_fp16": True}, {}),
    ("nan-sdxl-fp16", "warning", "sdxl_train_network.py", {"mixed_precision": "fp16"}, NEW_GPU),
    ("sd2-fp16", "warning", "train_network.py", {"mixed_precision": "fp16", "v2": True}, {}),
    ("bf16-gpu", "stop", "train_network.py", {"mixed_precision": "bf16"}, OLD_GPU),
    ("bf16-gpu", "stop", "sdxl_train_network.py", {"mixed_precision": "bf16", "full_bf16": True}, OLD_GPU),
    ("sdxl-vae", "stop", "sdxl_train_network.py", {"mixed_precision": "fp16"}, {}),
    ("full-fp16", "stop", "sdxl_train_network.py", {"full_fp16": True, "mixed_precision": "fp16"}, {}),
    ("full-fp16", "stop", "train_db.py", {"full_fp16": True, "optimizer_type": "DAdaptation"}, {}),
    ("full-precision-mixed", "stop", "train_network.py", {"full_fp16": True}, {}),
    ("full-precision-mixed", "stop", "sdxl_train.py", {"full_bf16": True, "mixed_precision": "fp16"}, {}),
    ("fp8-mixed", "stop", "flux_train_network.py", {"fp8_base": True}, {}),
    ("fp8-mixed", "stop", "flux_train_network.py", {"fp8_base_unet": True, "mixed_precision": "no"}, OLD_GPU),
    (
        "fp8-mixed",
        "stop",
        "sdxl_train_network.py",
        {"fp8_base": True, "mixed_precision": "bf16"},
        {"trainer": {"torch": "2.0.1"}},
    ),
    ("precision", "hint", "train_network.py", {"mixed_precision": "bf16", "save_precision": "fp16"}, {}),
]


@pytest.mark.parametrize(("identity", "severity", "script", "arguments", "facts"), FIRES)
def test_that_the_rule_fires_and_its_fixes_mend(identity, severity, script, arguments, facts) -> None:
    view = make_view(make_plan(arguments), script, **facts)
    assert [finding.severity for finding in findings(identity, view)] == [severity]
    assert_fixes_mend(identity, view)


SILENT = [
    ("nan-flux-fp16", "flux_train_network.py", {"mixed_precision": "bf16"}, {}),
    ("nan-flux-fp16", "sdxl_train_network.py", {"mixed_precision": "fp16"}, {}),
    ("nan-sdxl-fp16", "sdxl_train_network.py", {"mixed_precision": "fp16"}, OLD_GPU),
    ("nan-sdxl-fp16", "sdxl_train_network.py", {"mixed_precision": "fp16"}, {}),
    ("sd2-fp16", "train_network.py", {"mixed_precision": "fp16"}, {}),
    ("bf16-gpu", "train_network.py", {"mixed_precision": "bf16"}, NEW_GPU),
    ("bf16-gpu", "train_network.py", {"mixed_precision": "bf16"}, {}),
    ("sdxl-vae", "sdxl_train_network.py", {"mixed_precision": "fp16", "no_half_vae": True}, {}),
    (
        "sdxl-vae",
        "sdxl_train_network.py",
        {"mixed_precision": "fp16", "vae": "sdxl_vae-fp16-fix.safetensors"},
        {},
    ),
    ("sdxl-vae", "sdxl_train_network.py", {"mixed_precision": "bf16"}, {}),
    ("full-fp16", "sdxl_train.py", {"full_fp16": True, "optimizer_type": "AdamW8bit"}, {}),
    ("full-fp16", "train_network.py", {"full_fp16": True, "use_8bit_adam": True}, {}),
    ("full-precision-mixed", "train_network.py", {"full_bf16": True, "mixed_precision": "bf16"}, {}),
    ("full-precision-mixed", "train_db.py", {"full_bf16": True}, {}),
    ("fp8-mixed", "flux_train_network.py", {"fp8_base": True, "mixed_precision": "bf16"}, {}),
    ("fp8-mixed", "flux_train.py", {"fp8_base": True}, {}),
    ("precision", "train_network.py", {"mixed_precision": "bf16", "save_precision": "float"}, {}),
    ("precision", "train_network.py", {"mixed_precision": "bf16"}, {}),
]


@pytest.mark.parametrize(("identity", "script", "arguments", "facts"), SILENT)
def test_that_the_rule_keeps_silent(identity, script, arguments, facts) -> None:
    assert not findings(identity, make_view(make_plan(arguments), script, **facts))


@pytest.mark.parametrize(
    ("script", "facts"), [("sdxl_train_network.py", NEW_TORCH), ("flux_train_network.py", {})]
)
def test_that_bf16_on_an_old_gpu_is_only_slow_where_torch_emulates_it(script, facts) -> None:
    from gui.engine.preflight.rules.precision import check_bf16_gpu

    view = make_view(make_plan({"mixed_precision": "bf16"}), script, **OLD_GPU, **facts)
    (finding,) = check_bf16_gpu(view)
    assert (finding.id, finding.severity) == ("bf16-emulated", "warning")


def test_that_no_bf16_is_offered_to_a_gpu_that_cannot() -> None:
    view = make_view(make_plan({"mixed_precision": "fp16"}), "flux_train_network.py", **OLD_GPU)
    (finding,) = findings("nan-flux-fp16", view)
    assert [fix.id for fix in finding.fixes] == ["use-fp32"]
    assert "not suited" in finding.detail
