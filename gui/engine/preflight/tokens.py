"""Tokens in plans: they belong into the environment."""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding, Fix
from gui.engine.plan.model import TrainingPlan
from gui.engine.redaction import SECRET_ARGUMENTS
from gui.engine.texts import _


def check_tokens(plan: TrainingPlan) -> Iterator[Finding]:
    """Return a warning for each token that a plan holds.

    Args:
        plan: As the user wrote it.
    """
    for name, variable in SECRET_ARGUMENTS.items():
        for target, holds in (
            (name, plan.arguments.get(name)),
            (f"env.{variable}", plan.launch.env.get(variable)),
        ):
            if holds:
                yield _secret(target, variable)


def _secret(target: str, variable: str) -> Finding:
    return Finding(
        id="secret-in-plan",
        severity="warning",
        title=_("The plan holds a token in {target}.").format(target=target),
        detail=_(
            "Plan files are shared and kept. The run gets the token by the environment variable "
            "{variable} only; set it there, or keep it in the system's keyring."
        ).format(variable=variable),
        arguments=(target,),
        where=target,
        fixes=(Fix(id="remove", label=_("take it out of the plan"), changes={target: None}, safe=False),),
        sources=("trainer: train_util.py:3819, 4060",),
    )
