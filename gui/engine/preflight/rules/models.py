"""What is known about the base model, for the rules that depend on it."""

from __future__ import annotations

import re

from gui.engine.plan.families import Family
from gui.engine.preflight.view import View

MODEL = "pretrained_model_name_or_path"

V_NAME = re.compile(r"v[-_ ]?pred", re.IGNORECASE)
"""How files of v-prediction models are named (MODEL-15)."""


def model_family(view: View) -> Family | None:
    """Return the family of the base model as its header tells; None when it is not known."""
    fact = view.model(MODEL)
    return view.families.get(fact.family or "") if fact else None


def predicts_v(view: View) -> bool:
    """Return whether the header, the plan's family or the file's name says that the model predicts v.

    A header without the mark says nothing: SD 2 base and 768-v have the same weights' names.
    """
    told = (model_family(view), view.families.get(view.plan.family))
    by_family = any(family and family.arguments.get("v_parameterization") is True for family in told)
    return by_family or bool(V_NAME.search(view.text(MODEL) or ""))
