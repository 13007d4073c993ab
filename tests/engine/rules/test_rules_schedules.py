"""Schedulers, step counts and intervals."""

from table import findings, make_plan, make_view

SDXL = "sdxl_train_network.py"


def test_that_meant_epochs_become_the_offer() -> None:
    (finding,) = findings("steps-default", make_view(make_plan({"epoch": 200}), SDXL))
    assert finding.fixes[0].changes == {"max_train_epochs": 200}
