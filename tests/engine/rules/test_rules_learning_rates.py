"""Learning rates: far too high or low, and the text encoder's against the model's."""

import pytest
from table import assert_fixes_mend, findings, make_plan, make_view

from gui.engine.preflight.rules.learning_rates import START, TEXT_SHARE

SDXL, FLUX = "sdxl_train_network.py", "flux_train_network.py"
UNET = {"network_train_unet_only": True}
PRODIGY = {"optimizer_type": "Prodigy"}
SGD = {"optimizer_type": "SGDNesterov"}

FIRES = [
    ("lr-range", "warning", SDXL, {"unet_lr": 5e-4}),
    ("lr-range", "warning", SDXL, {"learning_rate": "0.001"}),
    ("lr-range", "stop", SDXL, {"learning_rate": 3e-3, "network_dim": 16, "network_alpha": 16}),
    ("lr-range", "warning", SDXL, {"learning_rate": 3e-3, "network_dim": 16, "network_alpha": 1}),
    ("lr-range", "danger", SDXL, {"learning_rate": 10.0, "network_dim": 16, "network_alpha": 1}),
    ("lr-range", "danger", SDXL, {"learning_rate": 0.1, "network_module": "lycoris.kohya"}),
    ("lr-range", "warning", SDXL, {"learning_rate": 0.5, "network_alpha": 1, "network_dim": 8, **SGD}),
    ("lr-range", "warning", SDXL, {"learning_rate": 3e-3, "network_module": "lycoris.kohya"}),
    ("lr-range", "warning", SDXL, {}),
    ("lr-range", "hint", SDXL, {"unet_lr": 1e-5}),
    ("lr-range", "warning", SDXL, {"unet_lr": 4e-7}),
    ("lr-range", "warning", "sdxl_train.py", {"learning_rate": 1e-4}),
    ("lr-te", "stop", SDXL, {"unet_lr": 5e-5, "text_encoder_lr": [5e-3]}),
    ("lr-te", "danger", SDXL, {"unet_lr": 1e-4, "text_encoder_lr": [1e-4]}),
    ("lr-te", "danger", SDXL, {"learning_rate": 1e-4}),
    ("lr-te", "hint", FLUX, {"unet_lr": 1e-4, "text_encoder_lr": [5e-5, 0]}),
    ("prodigy-groups", "stop", SDXL, {**PRODIGY, "network_args": ["loraplus_lr_ratio=4", "conv_dim=8"]}),
    ("prodigy-groups", "warning", SDXL, {**PRODIGY, "unet_lr": 1.0, "text_encoder_lr": [0.5]}),
]


@pytest.mark.parametrize(("identity", "severity", "script", "arguments"), FIRES)
def test_that_the_rule_fires_and_its_fixes_mend(identity, severity, script, arguments) -> None:
    view = make_view(make_plan(arguments), script)
    assert [finding.severity for finding in findings(identity, view)] == [severity]
    assert_fixes_mend(identity, view)


SILENT = [
    ("lr-range", SDXL, {"unet_lr": 1e-4, "learning_rate": 5.0}),
    ("lr-range", SDXL, {**PRODIGY, "learning_rate": 1.0}),
    ("lr-range", SDXL, {"optimizer_type": "Adafactor"}),
    ("lr-range", SDXL, {"optimizer_type": "RAdamScheduleFree", "learning_rate": 2.5e-3}),
    ("lr-range", SDXL, {"network_train_text_encoder_only": True, "unet_lr": 1.0}),
    ("lr-range", SDXL, {"learning_rate": 0}),
    ("lr-range", SDXL, {"unet_lr": "fast"}),
    ("lr-range", "sdxl_train.py", {"learning_rate": 1e-5}),
    ("lr-range", "train_textual_inversion.py", {"learning_rate": 5e-3}),
    ("lr-te", SDXL, {"unet_lr": 1e-4, "text_encoder_lr": [2e-5]}),
    ("lr-te", SDXL, {"unet_lr": 1e-4}),
    ("lr-te", SDXL, {"learning_rate": 1e-4, **UNET}),
    ("lr-te", SDXL, {"learning_rate": 1e-4, "text_encoder_lr": [0]}),
    ("lr-te", FLUX, {"learning_rate": 1e-4, "model_type": "chroma"}),
    ("lr-te", "hunyuan_image_train_network.py", {"learning_rate": 1e-4}),
    ("lr-te", "sdxl_train.py", {"learning_rate": 1e-4}),
    ("lr-te", SDXL, {**PRODIGY, "learning_rate": 1.0}),
    ("lr-te", SDXL, {"unet_lr": "x"}),
    ("prodigy-groups", SDXL, {"network_args": ["loraplus_lr_ratio=4"]}),
    ("prodigy-groups", SDXL, {**PRODIGY, "learning_rate": 1.0}),
    ("prodigy-groups", SDXL, {**PRODIGY, "unet_lr": 1.0, "text_encoder_lr": [0.5], **UNET}),
    ("prodigy-groups", "sdxl_train.py", PRODIGY),
]


@pytest.mark.parametrize(("identity", "script", "arguments"), SILENT)
def test_that_the_rule_keeps_silent(identity, script, arguments) -> None:
    assert not findings(identity, make_view(make_plan(arguments), script))


def test_that_what_the_user_never_set_may_be_set_without_asking() -> None:
    (implied,) = findings("lr-te", make_view(make_plan({"learning_rate": 1e-4}), SDXL))
    (wanted,) = findings("lr-te", make_view(make_plan({"unet_lr": 1e-4, "text_encoder_lr": 1e-4}), SDXL))
    assert (implied.fixes[0].safe, wanted.fixes[0].safe) == (True, False)
    assert implied.fixes[0].changes == {"text_encoder_lr": [1e-05]}


def test_that_the_text_encoders_rate_is_taken_from_what_a_missing_rate_will_be() -> None:
    (finding,) = findings("lr-te", make_view(make_plan({}), SDXL))
    assert finding.fixes[0].changes == {"text_encoder_lr": [START * TEXT_SHARE]}
