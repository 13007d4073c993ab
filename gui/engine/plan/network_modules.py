"""What ``network_args`` may say to each network module of the trainer."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from gui.engine.documents import Document
from gui.engine.resources import resource_path
from gui.engine.yaml_text import read_yaml

KeyType = Literal[
    "whole",
    "number",
    "wholes",
    "numbers",
    "weights",
    "curve",
    "only-True",
    "never-True",
    "any-case-true",
    "always-true",
    "blocks",
    "choice",
    "pairs-whole",
    "pairs-number",
    "patterns",
]


class NetworkKey(Document):
    """One key of ``network_args``.

    Attributes:
        type: How its text is read.
        counts: How many values a list must have: ``sd``, ``sdxl`` or ``all`` to the number.
        blocks: How many blocks can be chosen from.
        choices: The texts that are accepted.
    """

    type: KeyType
    counts: dict[Literal["sd", "sdxl", "all"], int] = Field(default_factory=dict)
    blocks: int | None = None
    choices: tuple[str, ...] = ()

    def count(self, *, sdxl: bool) -> int | None:
        """Return how many values a list must have; None when any number will do."""
        return self.counts.get("all", self.counts.get("sdxl" if sdxl else "sd"))


class NetworkModule(Document):
    """One network module.

    Attributes:
        groups: Keys that it shares with others, by the name of the group.
        keys: Its keys; those of its groups are filled in.
        sources: Where this is from.
    """

    groups: tuple[str, ...] = ()
    keys: dict[str, NetworkKey] = Field(default_factory=dict)
    sources: tuple[str, ...] = ()


class NetworkModules(Document):
    """All network modules of the trainer.

    Attributes:
        groups: Keys that several modules share.
        modules: Name to module.
    """

    schema_: Literal[1] = Field(alias="schema")
    groups: dict[str, dict[str, NetworkKey]] = Field(default_factory=dict)
    modules: dict[str, NetworkModule]

    @model_validator(mode="after")
    def _groups_exist(self) -> NetworkModules:
        unknown = {name for module in self.modules.values() for name in module.groups} - self.groups.keys()
        if unknown:
            raise ValueError(f"groups that do not exist: {', '.join(sorted(unknown))}")
        return self

    def whole(self) -> dict[str, NetworkModule]:
        """Return the modules with the keys of their groups filled in."""
        return {
            name: module.model_copy(
                update={
                    "keys": {
                        **{key: spec for group in module.groups for key, spec in self.groups[group].items()},
                        **module.keys,
                    }
                }
            )
            for name, module in self.modules.items()
        }


@lru_cache(maxsize=4)
def network_modules(path: Path | None = None) -> dict[str, NetworkModule]:
    """Return the network modules of the trainer by name.

    Args:
        path: The file; None takes the program's own.

    Raises:
        CannotRead: It is no such file.
    """
    file = path or resource_path("network_modules.yaml")
    return read_yaml(file, NetworkModules).whole()
