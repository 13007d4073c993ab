"""Reads the configuration that ``accelerate launch`` takes when it is not told otherwise."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import yaml

from gui.engine.documents import read_text
from gui.engine.errors import CannotRead
from gui.engine.texts import _
from gui.engine.trainer.facts import AccelerateConfig


def accelerate_config(environment: Mapping[str, str] | None = None) -> AccelerateConfig | None:
    """Return the configuration in force; None when there is no file.

    Args:
        environment: Where to look for the cache's place; None takes this process's own.

    Source: accelerate/commands/config/config_args.py.
    """
    variables = os.environ if environment is None else environment
    cache = variables.get("XDG_CACHE_HOME") or "~/.cache"
    folder = Path(variables.get("HF_HOME") or Path(cache) / "huggingface").expanduser() / "accelerate"
    for name in ("default_config.yaml", "default_config.json"):
        if (folder / name).is_file():
            return _read(folder / name)
    return None


def _read(path: Path) -> AccelerateConfig:
    try:
        content = yaml.safe_load(read_text(path))  # JSON is YAML
    except CannotRead as error:
        return AccelerateConfig(path=str(path), problem=error.reason)
    except (yaml.YAMLError, RecursionError, ValueError) as error:  # a date that there is not, for one
        return AccelerateConfig(path=str(path), problem=str(error).splitlines()[0])
    if not isinstance(content, dict):
        return AccelerateConfig(path=str(path), problem=_("it holds no settings"))
    return AccelerateConfig(path=str(path), values={str(name): value for name, value in content.items()})
