"""What ``optimizer_args`` may say to each optimizer."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.resources import resource_path
from gui.engine.yaml_text import read_yaml


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
    listed = read_yaml(file, OptimizerList)
    return {name: entry.takes for entry in listed.optimizers for name in entry.names}
