"""Facts of another machine, given as a file (``--machine M.toml``)."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import ValidationError

from gui.engine.documents import read_text
from gui.engine.errors import CannotRead
from gui.engine.preflight.facts import Facts
from gui.engine.texts import _


def read_machine(path: Path) -> Facts:
    """Return the facts of a machine file; what it does not name is unknown.

    Raises:
        CannotRead: It is missing, no TOML, or has a key or value that is not known.
    """
    try:
        data = tomllib.loads(read_text(path))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise CannotRead(path, _("it is not TOML: {error}").format(error=error)) from error
    for derived in ("paths", "existing_outputs", "locked_outputs"):
        if derived in data:
            raise CannotRead(path, _("{key}: unknown").format(key=derived))
    try:
        return Facts.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        reason = _("{key}: {problem}").format(key=key, problem=first["msg"])
        raise CannotRead(path, reason) from error
