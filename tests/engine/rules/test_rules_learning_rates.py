"""Learning rates: far too high or low, and the text encoder's against the model's."""

from table import findings, make_plan, make_view

from gui.engine.preflight.rules.learning_rates import START, TEXT_SHARE

SDXL, FLUX = "sdxl_train_network.py", "flux_train_network.py"


def test_that_what_the_user_never_set_may_be_set_without_asking() -> None:
    (implied,) = findings("lr-te", make_view(make_plan({"learning_rate": 1e-4}), SDXL))
    (wanted,) = findings("lr-te", make_view(make_plan({"unet_lr": 1e-4, "text_encoder_lr": 1e-4}), SDXL))
    assert (implied.fixes[0].safe, wanted.fixes[0].safe) == (True, False)
    assert implied.fixes[0].changes == {"text_encoder_lr": [1e-05]}


def test_that_the_text_encoders_rate_is_taken_from_what_a_missing_rate_will_be() -> None:
    (finding,) = findings("lr-te", make_view(make_plan({}), SDXL))
    assert finding.fixes[0].changes == {"text_encoder_lr": [START * TEXT_SHARE]}
