"""Sorts arguments by what they are about; the trainer's own parsers have one group only."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache

from gui.engine.resources import resource_path
from gui.engine.texts import _


@lru_cache(maxsize=1)
def _patterns() -> Mapping[str, list[str]]:
    return tomllib.loads(resource_path("argument_groups.toml").read_text("utf-8"))


@lru_cache(maxsize=2048)
def group_of(name: str) -> str:
    """Return the group of a trainer argument."""
    for group, patterns in _patterns().items():
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            return group
    return "other"


def group_order(group: str) -> int:
    """Return the place of a group in the list."""
    return list(_patterns()).index(group)


def group_title(group: str) -> str:
    """Return what a group is called."""
    return {
        "unknown": _("Not known to this script"),
        "model": _("Model files"),
        "network": _("Network"),
        "learning": _("Learning rate and optimizer"),
        "length": _("Length and batch"),
        "noise": _("Noise and loss"),
        "memory": _("Memory and speed"),
        "saving": _("Saving"),
        "samples": _("Samples"),
        "logging": _("Logs"),
        "hub": _("Upload to Hugging Face"),
        "metadata": _("Metadata of the file"),
        "data": _("Images and captions, on the command line"),
        "dataset": _("Dataset file (its own names)"),
        "launch": _("Launch and guard"),
        "other": _("Other"),
    }[group]
