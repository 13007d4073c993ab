"""Tokens that stand in plans, where they do not belong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gui.engine.plan.model import TrainingPlan
from gui.engine.redaction import ARGUMENT_OF_VARIABLE, SECRET_ARGUMENTS, Secret


class TokenInPlan(NamedTuple):
    """A token and where it stands.

    Attributes:
        target: The place, in the words of fixes.
        name: The trainer's argument that it is for.
        secret: The token.
    """

    target: str
    name: str
    secret: Secret


def tokens_in(plan: TrainingPlan) -> Iterator[TokenInPlan]:
    """Return the tokens that a plan holds as arguments or as variables of the environment."""
    for name in SECRET_ARGUMENTS:
        value = plan.arguments.get(name)
        if value:
            yield TokenInPlan(name, name, Secret(str(value)))
    for variable, value in plan.launch.env.items():
        if value and is_token_variable(variable):
            yield TokenInPlan(f"env.{variable}", ARGUMENT_OF_VARIABLE[variable.upper()], Secret(value))


def is_token_variable(name: str) -> bool:
    """Whether a variable of the environment holds a token; Windows knows no upper and lower case."""
    return name.upper() in ARGUMENT_OF_VARIABLE


def without_secrets(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plan's data without the values of token arguments and token variables."""
    launch = dict(data.get("launch", {}))
    launch["env"] = {
        name: value for name, value in launch.get("env", {}).items() if not is_token_variable(name)
    }
    arguments = {name: v for name, v in data.get("arguments", {}).items() if name not in SECRET_ARGUMENTS}
    return {**data, "arguments": arguments, "launch": launch}
