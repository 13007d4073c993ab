"""What is known about the base model, for the rules that depend on it."""

from __future__ import annotations

import re
from pathlib import PurePath

from gui.engine.findings import Fix
from gui.engine.plan.families import Family
from gui.engine.preflight.facts import ModelFact
from gui.engine.preflight.rules.fixes import leave_out
from gui.engine.preflight.view import View

MODEL = "pretrained_model_name_or_path"

V_NAME = re.compile(r"v[-_ ]?pred", re.IGNORECASE)
"""How files of v-prediction models are named (MODEL-15)."""


TRAINABLE = ("checkpoint", "denoiser")
"""The kinds of file that can be a base model."""


def base_model(view: View) -> ModelFact | None:
    """Return what is known about the base model; None for the practice trainer, which takes any file."""
    fact = view.model(MODEL)
    practises = view.facts.trainer is not None and view.facts.trainer.practice
    return None if practises or (fact and fact.variant == "practice") else fact


def model_family(view: View) -> Family | None:
    """Return the family of the base model as its header tells; None when it is not known or no model."""
    fact = view.model(MODEL)
    if fact is None or fact.kind not in (None, *TRAINABLE):
        return None
    return view.families.get(fact.family or "")


def predicts_v(view: View) -> bool:
    """Return whether the header, the plan's family or the file's name says that the model predicts v.

    A header without the mark says nothing: SD 2 base and 768-v have the same weights' names.
    """
    fact = view.model(MODEL)
    if fact is not None and fact.prediction is not None:
        return fact.prediction == "v"
    told = (model_family(view), view.families.get(view.plan.family))
    by_family = any(family and family.arguments.get("v_parameterization") is True for family in told)
    return by_family or bool(V_NAME.search(view.text(MODEL) or ""))


def ways_out(view: View, name: str) -> tuple[Fix, ...]:
    """Return the fix that leaves a model file out, where the family can do without it."""
    files = view.kin.files if view.kin else ()
    required = name == MODEL or any(file.argument == name and file.required for file in files)
    return () if required else (leave_out(name),)


def place(fact: ModelFact) -> str:
    """Return where a finding about a file is: its argument, and which file where there are several."""
    return f"{fact.argument}:{fact.path}" if fact.path else fact.argument


def file_name(fact: ModelFact) -> str:
    """Return the name of the file or folder."""
    return PurePath(fact.path).name or fact.path
