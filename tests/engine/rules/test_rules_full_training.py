"""Full trainings: what single scripts assert or cannot do."""

import pytest
from table import assert_fixes_mend, findings, make_plan, make_view

SDXL, SD3, DB, FLUX = "sdxl_train.py", "sd3_train.py", "train_db.py", "flux_train.py"
CACHE = {"cache_text_encoder_outputs": True}
TE = {"train_text_encoder": True}
IMAGES = {"dataset": {"images": 10, "repeats": 10}}
BLOCKWISE = {"blockwise_fused_optimizers": True}
ADAFACTOR = {"optimizer_type": "Adafactor"}

FIRES = [
    ("te-trained-cached", SDXL, {**TE, **CACHE}, {}),
    ("te-trained-cached", SD3, {**TE, "cache_text_encoder_outputs_to_disk": True}, {}),
    ("t5-training", SD3, {"train_t5xxl": True}, {}),
    ("t5-training", SD3, {"train_t5xxl": True, **TE, "use_t5xxl_cache_only": True}, {}),
    ("t5-training", SD3, {"train_t5xxl": True, **TE, **CACHE}, {}),
    ("weighted-cached", SDXL, {"weighted_captions": True, **CACHE}, {}),
    ("fused-groups", FLUX, {**BLOCKWISE, "optimizer_type": "AdamWScheduleFree"}, {}),
    ("fused-groups", FLUX, {**BLOCKWISE, **ADAFACTOR}, {}),
    ("fused-groups", SDXL, {"fused_optimizer_groups": 4, **ADAFACTOR}, {}),
    (
        "fused-groups",
        SDXL,
        {
            "fused_optimizer_groups": 4,
            "fused_backward_pass": True,
            "optimizer_type": "Adafactor",
            "optimizer_args": ["relative_step=False"],
        },
        {},
    ),
    ("freeze-blockwise", SD3, {**BLOCKWISE, "num_last_block_to_freeze": 2}, {}),
    ("block-lr", SDXL, {"block_lr": "1e-5,1e-5"}, {}),
    ("block-lr", SDXL, {"block_lr": ",".join(["x"] * 23)}, {}),
    ("stop-te", DB, {"stop_text_encoder_training": 500, "max_train_steps": 1000}, {}),
    ("stop-te", DB, {"stop_text_encoder_training": 0}, {}),
    ("stop-te", DB, {"stop_text_encoder_training": 500, "max_train_epochs": 10}, IMAGES),
    ("stop-te", DB, {"stop_text_encoder_training": 500, "max_train_epochs": 10}, {}),
    ("initial-step", "train_network.py", {"initial_step": 1000, "max_train_steps": 1000}, {}),
    ("rate-zero", SDXL, {"learning_rate": 0.0}, {}),
]


@pytest.mark.parametrize(("identity", "script", "arguments", "facts"), FIRES)
def test_that_the_rule_fires_and_its_fixes_mend(identity, script, arguments, facts) -> None:
    view = make_view(make_plan(arguments), script, **facts)
    assert [finding.severity for finding in findings(identity, view)] == ["stop"]
    assert_fixes_mend(identity, view)


SILENT = [
    ("te-trained-cached", SDXL, TE, {}),
    ("te-trained-cached", SD3, {**TE, **CACHE, "use_t5xxl_cache_only": True}, {}),
    ("te-trained-cached", "fine_tune.py", {**TE, **CACHE}, {}),
    ("t5-training", SD3, {"train_t5xxl": True, **TE}, {}),
    ("t5-training", SD3, {}, {}),
    ("weighted-cached", SD3, {"weighted_captions": True, **CACHE}, {}),
    ("weighted-cached", SDXL, {"weighted_captions": True}, {}),
    ("fused-groups", FLUX, {**BLOCKWISE, "optimizer_type": "AdamW"}, {}),
    ("fused-groups", FLUX, {"fused_optimizer_groups": 4, **ADAFACTOR}, {}),
    ("fused-groups", SDXL, ADAFACTOR, {}),
    ("freeze-blockwise", SD3, BLOCKWISE, {}),
    ("block-lr", SDXL, {"block_lr": ",".join(["1e-5"] * 23)}, {}),
    ("block-lr", SDXL, {}, {}),
    ("stop-te", DB, {"stop_text_encoder_training": -1}, {}),
    ("stop-te", DB, {"stop_text_encoder_training": 1000, "max_train_steps": 1000}, {}),
    ("stop-te", DB, {"stop_text_encoder_training": 1000, "max_train_epochs": 10}, IMAGES),
    ("stop-te", DB, {}, {}),
    ("initial-step", "train_network.py", {"initial_step": 10, "max_train_steps": 1000}, {}),
    ("initial-step", "train_network.py", {"initial_step": 9999, "max_train_epochs": 3}, {}),
    ("rate-zero", SDXL, {"learning_rate": 0.0, **TE}, {}),
    ("rate-zero", SDXL, {"learning_rate": 1e-5}, {}),
    ("rate-zero", SDXL, {"learning_rate": 0, "block_lr": "1"}, {}),
    ("rate-zero", "sdxl_train_control_net.py", {"learning_rate": 0}, {}),
    ("rate-zero", "train_network.py", {"learning_rate": 0}, {}),
]


@pytest.mark.parametrize(("identity", "script", "arguments", "facts"), SILENT)
def test_that_the_rule_keeps_silent(identity, script, arguments, facts) -> None:
    assert not findings(identity, make_view(make_plan(arguments), script, **facts))
