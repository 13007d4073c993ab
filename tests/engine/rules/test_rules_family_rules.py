"""The family: what it cannot do, and whether the base model is of it."""

import pytest
from table import CATALOGUE, findings, make_plan, make_view

from gui.engine.plan.changes import apply_changes
from gui.engine.plan.families import script_for
from gui.engine.preflight.view import View

SDXL, SD15, FLUX = "sdxl_train_network.py", "train_network.py", "flux_train_network.py"
MODEL = "pretrained_model_name_or_path"


def known(family: str) -> dict:
    return {"model": [{"argument": MODEL, "family": family}]}


@pytest.mark.parametrize(
    ("family", "script", "arguments", "found"),
    [
        ("sd15", None, {}, "sdxl"),
        ("sdxl", None, {}, "sd15"),
        ("sd15", "train_network.py", {}, "flux1"),
        ("flux1", None, {}, "chroma"),
        ("chroma", None, {"model_type": "chroma"}, "flux1"),
    ],
)
def test_that_a_model_of_another_family_is_refused_and_the_plan_can_follow_it(
    family, script, arguments, found
) -> None:
    plan = make_plan(arguments, family=family, script=script)
    view = make_view(plan, script_for(plan), **known(found))
    (finding,) = findings("family", view)
    assert finding.severity == "stop"
    (fix,) = finding.fixes
    mended = apply_changes(plan, fix.changes)
    filled = mended.model_copy(
        update={"arguments": {"model_type": "chroma"} if found == "chroma" else mended.arguments}
    )
    name = script_for(mended)
    assert not findings("family", View(filled, view.facts, name, CATALOGUE.script(name)))


def test_that_a_kind_which_the_model_cannot_gets_no_offer() -> None:
    plan = make_plan({}, family="sd15", kind="textual_inversion")
    view = make_view(plan, "train_textual_inversion.py", **known("flux1"))
    (finding,) = findings("family", view)
    assert not finding.fixes


def test_that_a_preset_makes_changing_the_family_a_question() -> None:
    view = make_view(make_plan({}, family="sd15", presets=["sd15"]), SD15, **known("sd2"))
    (finding,) = findings("v2", view)
    assert not finding.fixes[0].safe
