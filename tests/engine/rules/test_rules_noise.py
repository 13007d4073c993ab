"""Noise, timesteps and the loss."""

from table import findings, make_plan, make_view

SDXL = "sdxl_train_network.py"
V_MODEL = {"model": [{"argument": "pretrained_model_name_or_path", "family": "noobai-vpred"}]}


def test_that_a_model_known_to_predict_velocity_gets_what_it_wants() -> None:
    view = make_view(make_plan({"scale_v_pred_loss_like_noise_pred": True}), SDXL, **V_MODEL)
    (finding,) = findings("vpred-only", view)
    assert [(fix.id, fix.safe) for fix in finding.fixes] == [("v-prediction", True), ("leave-out", False)]


def test_that_otherwise_the_option_goes() -> None:
    (finding,) = findings("vpred-only", make_view(make_plan({"scale_v_pred_loss_like_noise_pred": True})))
    assert [(fix.id, fix.safe) for fix in finding.fixes] == [("leave-out", True), ("v-prediction", False)]
