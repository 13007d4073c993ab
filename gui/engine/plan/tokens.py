"""Tokens that stand in plans, where they do not belong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gui.engine.plan.model import TrainingPlan
from gui.engine.redaction import ARGUMENT_OF_VARIABLE, SECRET_ARGUMENTS, Secret

SHORTEST = 8
"""No token is shorter."""


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


def secrets_in(plan: TrainingPlan) -> list[str]:
    """Return the tokens that a plan holds, to be hidden wherever else they stand.

    What is still being typed is none yet: hiding its few letters would hide half of all words.
    """
    values = [found.secret.reveal() for found in tokens_in(plan)]
    return [value for value in values if len(value) >= SHORTEST]


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
