"""Asks whether something is there; a name that the system refuses, or must not tell of, is not.

`Path.is_file` and its like raise where a name is too long, as that of a caption can be whose image has the
longest name there is, and where a folder must not be looked into.
"""

from __future__ import annotations

import os
from pathlib import Path


def is_file(path: Path) -> bool:
    """Return whether there is a file."""
    return os.path.isfile(path)  # noqa: PTH113 - never raises


def is_folder(path: Path) -> bool:
    """Return whether there is a folder."""
    return os.path.isdir(path)  # noqa: PTH112 - never raises


def is_there(path: Path) -> bool:
    """Return whether there is anything."""
    return os.path.exists(path)  # noqa: PTH110 - never raises
