"""Facts of another machine, given as a file (``--machine M.toml``)."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gui.engine.documents import read_text
from gui.engine.errors import CannotRead
from gui.engine.plan.plan_file import type_trouble
from gui.engine.preflight.facts import Facts
from gui.engine.texts import _


def read_machine(path: Path) -> Facts:
    """Return the facts of a machine file; what it does not name is unknown.

    Raises:
        CannotRead: It is missing, no TOML, or has a key or value that is not known or cannot be.
    """
    try:
        data = tomllib.loads(read_text(path))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise CannotRead(path, _("it is not TOML: {error}").format(error=error)) from error
    for derived in ("paths", "existing_outputs", "locked_outputs"):
        if derived in data:
            raise CannotRead(path, _("{key} is not known here").format(key=derived))
    wrong = next(_impossible(data), None)
    if wrong is not None:
        place, value = wrong
        reason = _("{key} must be a number from 0 on, not {value}").format(key=place, value=value)
        raise CannotRead(path, reason)
    gpus = data.get("gpu")
    for number, gpu in enumerate(gpus if isinstance(gpus, list) else ()):
        if isinstance(gpu, dict):
            gpu.setdefault("index", number)
    try:
        return Facts.model_validate(data)
    except ValidationError as error:
        raise CannotRead(path, type_trouble(error.errors(include_url=False)[0])) from error


def _impossible(value: Any, place: str = "") -> Iterator[tuple[str, float]]:
    """Yield the numbers that no machine has, with their places."""
    if isinstance(value, (int, float)) and not (math.isfinite(value) and value >= 0):
        yield place, value
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in inner:
        yield from _impossible(child, f"{place}.{key}".lstrip("."))
