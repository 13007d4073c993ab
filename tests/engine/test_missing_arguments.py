"""What a run needs and a plan does not say has a fix, where anything usual can be taken."""

from __future__ import annotations

from pathlib import Path

import pytest
from preflight_plans import CATALOGUE

from gui.engine.findings import Finding
from gui.engine.plan.changes import apply_changes
from gui.engine.plan.model import TrainingPlan
from gui.engine.trainer.resolving import resolve


def missing(plan: TrainingPlan) -> dict[str, Finding]:
    found = resolve(plan, Path("/plans"), CATALOGUE, files_known=False).findings
    return {str(each.where): each for each in found if each.id == "arg-missing"}


@pytest.mark.parametrize(
    ("script", "name", "value", "safe"),
    [
        ("sdxl_train_network.py", "network_module", "networks.lora", True),
        ("flux_train_network.py", "network_module", "networks.lora_flux", True),
        ("sdxl_train_network.py", "output_dir", "output", False),
    ],
)
def test_that_what_is_usual_is_offered(script: str, name: str, value: object, safe: bool) -> None:
    plan = TrainingPlan(family="other", script=script)
    (fix,) = missing(plan)[name].fixes
    assert (fix.changes, fix.safe) == ({name: value}, safe)
    assert name not in missing(apply_changes(plan, fix.changes))


def test_that_what_a_kind_needs_is_taken_from_the_trainers_guide() -> None:
    found = missing(TrainingPlan(family="sdxl", kind="controlnet-lllite"))
    assert [found[name].fixes[0].changes for name in ("cond_emb_dim", "network_dim")] == [
        {"cond_emb_dim": 32},
        {"network_dim": 64},
    ]


@pytest.mark.parametrize(
    ("kind", "name"), [("lora", "pretrained_model_name_or_path"), ("textual_inversion", "token_string")]
)
def test_that_what_only_the_user_knows_is_not_guessed(kind: str, name: str) -> None:
    assert not missing(TrainingPlan(family="sdxl", kind=kind))[name].fixes
