"""What the tests of preflight as a whole share: a plan, a checker for another machine, ids of findings."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.check import Checker
from gui.engine.preflight.facts import Facts
from gui.engine.trainer.catalogue import Catalogue

CATALOGUE = Catalogue.bundled()


def plan_of(arguments: dict | None = None, dataset: dict | None = None, **more) -> TrainingPlan:
    return TrainingPlan.model_validate(
        {
            "family": "sdxl",
            "arguments": {
                "pretrained_model_name_or_path": "model.safetensors",
                "output_dir": "out",
                "mixed_precision": "bf16",
                "max_train_steps": 500,
                **(arguments or {}),
            },
            "dataset": {"resolution": [1024, 1024], "subsets": [{"image_dir": "images"}], **(dataset or {})},
            **more,
        }
    )


def checker(base: Path, **facts) -> Checker:
    return Checker(base, CATALOGUE, Facts.model_validate(facts), files_known=False)


def ids(findings, severity: str | None = None) -> set[str]:
    return {found.id for found in findings if severity in (None, found.severity)}


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.lists(st.integers(), max_size=3),
)
