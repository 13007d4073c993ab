"""Rules about the arguments as such: what the trainer's parser would say, and tokens in plans."""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding, Fix
from gui.engine.plan.model import TrainingPlan
from gui.engine.redaction import SECRET_ARGUMENTS
from gui.engine.texts import _
from gui.engine.trainer.catalogue import Catalogue, ScriptArguments
from gui.engine.trainer.judging import judge_arguments


def check_arguments(
    plan: TrainingPlan, script: ScriptArguments, catalogue: Catalogue | None = None
) -> list[Finding]:
    """Return the findings about a plan's trainer arguments.

    Args:
        plan: The plan.
        script: The arguments of the script that would run it.
        catalogue: Tells which other scripts know an argument that this one lacks.
    """
    return [*judge_arguments(plan.arguments, script, catalogue), *_secrets(plan)]


def _secrets(plan: TrainingPlan) -> Iterator[Finding]:
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
