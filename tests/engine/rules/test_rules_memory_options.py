"""Options that save memory: limits, and pairs that exclude each other."""

from table import findings, make_plan, make_view

SD15, SDXL, FLUX = "train_network.py", "sdxl_train_network.py", "flux_train_network.py"


def test_that_split_mode_becomes_what_the_trainer_makes_of_it() -> None:
    (finding,) = findings("split", make_view(make_plan({"split_mode": True}), FLUX))
    assert finding.fixes[0].changes == {"split_mode": None, "blocks_to_swap": 18}
