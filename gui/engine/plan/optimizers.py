"""What ``optimizer_args`` may say to each optimizer."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from gui.engine.documents import Document, read_text
from gui.engine.errors import CannotRead
from gui.engine.resources import resource_path
from gui.engine.yaml_text import YamlProblem, parse_yaml


class Optimizers(Document):
    """Optimizers that take the same.

    Attributes:
        names: In small letters, as the trainer compares them.
        takes: Their keyword arguments, without the learning rate.
    """

    names: tuple[str, ...] = Field(min_length=1)
    takes: tuple[str, ...] = Field(min_length=1)


class OptimizerList(Document):
    """All optimizers whose arguments are known.

    Attributes:
        optimizers: Them.
        sources: Where this is from.
    """

    schema_: Literal[1] = Field(alias="schema")
    optimizers: tuple[Optimizers, ...]
    sources: tuple[str, ...] = ()


@lru_cache(maxsize=4)
def optimizer_keys(path: Path | None = None) -> dict[str, tuple[str, ...]]:
    """Return what each optimizer takes, by its name in small letters.

    Args:
        path: The file; None takes the program's own.

    Raises:
        CannotRead: It is no such file.
    """
    file = path or resource_path("optimizers.yaml")
    try:
        listed = OptimizerList.model_validate(parse_yaml(read_text(file)))
    except YamlProblem as error:
        raise CannotRead(file, error.reason) from error
    except ValidationError as error:
        raise CannotRead(file, str(error)) from error
    return {name: entry.takes for entry in listed.optimizers for name in entry.names}
