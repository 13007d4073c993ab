"""Noise, timesteps and the loss."""

import pytest
from table import assert_fixes_mend, findings, make_plan, make_view

SDXL = "sdxl_train_network.py"
FLUX = "flux_train_network.py"
V_MODEL = {"model": [{"argument": "pretrained_model_name_or_path", "family": "noobai-vpred"}]}

FIRES = [
    ("adaptive-noise", "stop", SDXL, {"adaptive_noise_scale": 0.005}),
    ("adaptive-noise", "stop", FLUX, {"adaptive_noise_scale": 0}),
    ("vpred-only", "stop", SDXL, {"scale_v_pred_loss_like_noise_pred": True}),
    ("vpred-only", "stop", "train_db.py", {"v_pred_like_loss": 0.5, "v_parameterization": True}),
    ("ztsnr", "warning", SDXL, {"zero_terminal_snr": True}),
    (
        "ztsnr",
        "warning",
        SDXL,
        {"zero_terminal_snr": True, "v_parameterization": True, "scale_v_pred_loss_like_noise_pred": True},
    ),
    ("huber-schedule", "stop", FLUX, {"loss_type": "huber"}),
    ("huber-schedule", "stop", "sd3_train.py", {"loss_type": "smooth_l1", "huber_schedule": "snr"}),
    ("huber-schedule", "stop", "anima_train.py", {"loss_type": "huber", "huber_schedule": "exponential"}),
    ("timesteps", "stop", SDXL, {"min_timestep": -5}),
    ("timesteps", "stop", SDXL, {"max_timestep": 1001}),
    ("timesteps", "stop", SDXL, {"min_timestep": 1000}),
    ("timesteps", "danger", SDXL, {"min_timestep": 700, "max_timestep": 300}),
    ("seed-range", "stop", SDXL, {"seed": -1}),
    ("seed-range", "stop", SDXL, {"seed": 2**32}),
]


@pytest.mark.parametrize(("identity", "severity", "script", "arguments"), FIRES)
def test_that_the_rule_fires_and_its_fixes_mend(identity, severity, script, arguments) -> None:
    view = make_view(make_plan(arguments), script)
    assert [finding.severity for finding in findings(identity, view)] == [severity]
    assert_fixes_mend(identity, view)


SILENT = [
    ("adaptive-noise", SDXL, {"adaptive_noise_scale": 0.005, "noise_offset": 0.05}),
    ("vpred-only", SDXL, {"scale_v_pred_loss_like_noise_pred": True, "v_parameterization": True}),
    ("vpred-only", SDXL, {"v_pred_like_loss": 0.5}),
    ("vpred-only", SDXL, {"v_pred_like_loss": 0, "v_parameterization": True}),
    ("ztsnr", SDXL, {"zero_terminal_snr": True, "v_parameterization": True}),
    ("ztsnr", FLUX, {"zero_terminal_snr": True}),
    ("huber-schedule", SDXL, {"loss_type": "huber"}),
    ("huber-schedule", FLUX, {"loss_type": "huber", "huber_schedule": "exponential"}),
    ("huber-schedule", "anima_train.py", {"loss_type": "huber", "huber_schedule": "constant"}),
    ("huber-schedule", FLUX, {"loss_type": "l1"}),
    ("timesteps", SDXL, {"min_timestep": 200, "max_timestep": 800}),
    ("timesteps", FLUX, {"min_timestep": 900, "max_timestep": 100}),
    ("timesteps", SDXL, {"min_timestep": "many"}),
    ("seed-range", SDXL, {"seed": 2**32 - 1}),
    ("seed-range", SDXL, {}),
]


@pytest.mark.parametrize(("identity", "script", "arguments"), SILENT)
def test_that_the_rule_keeps_silent(identity, script, arguments) -> None:
    assert not findings(identity, make_view(make_plan(arguments), script))


def test_that_a_model_known_to_predict_velocity_gets_what_it_wants() -> None:
    view = make_view(make_plan({"scale_v_pred_loss_like_noise_pred": True}), SDXL, **V_MODEL)
    (finding,) = findings("vpred-only", view)
    assert [(fix.id, fix.safe) for fix in finding.fixes] == [("v-prediction", True), ("leave-out", False)]


def test_that_otherwise_the_option_goes() -> None:
    (finding,) = findings("vpred-only", make_view(make_plan({"scale_v_pred_loss_like_noise_pred": True})))
    assert [(fix.id, fix.safe) for fix in finding.fixes] == [("leave-out", True), ("v-prediction", False)]
