"""Finds the program's data alike from a source tree, an installed wheel and a frozen program."""

from __future__ import annotations

import sys
from pathlib import Path


def resources_root() -> Path:
    """Return the folder that holds the program's data.

    Raises:
        FileNotFoundError: The installation is broken: no data folder in any known place.
    """
    package = Path(__file__).resolve().parents[1]
    frozen = getattr(sys, "_MEIPASS", None)
    places = (
        [Path(frozen) / "resources"] if frozen else [package / "_resources", package.parent / "resources"]
    )
    for place in places:
        if place.is_dir():
            return place
    raise FileNotFoundError(f"no resources folder in {', '.join(map(str, places))}")


def resource_path(*parts: str) -> Path:
    """Return the path of one resource, such as ``resource_path("families", "sdxl.yaml")``."""
    return resources_root().joinpath(*parts)
