"""Networks: the right script and module, rank and alpha, and what single modules want."""

import pytest
from table import CATALOGUE, findings, make_plan, make_view

from gui.engine.plan.changes import apply_changes
from gui.engine.plan.families import script_for
from gui.engine.preflight.view import View

RANK = {"network_dim": 16, "network_alpha": 16}
LORA = {"network_module": "networks.lora", **RANK}


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
