"""Reads a dataset file of the user's own, which ``dataset_config`` names, as the trainer would."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from gui.engine.documents import read_bytes
from gui.engine.errors import CannotRead
from gui.engine.texts import _

LARGEST_BYTES = 4 * 1024 * 1024

SUFFIXES = (".toml", ".json")
"""By which the trainer tells the two forms (config_util.py:675-698)."""


def read_dataset_file(path: Path) -> dict[str, Any]:
    """Return what a dataset file says, as it stands: tables ``general`` and ``datasets``.

    Raises:
        CannotRead: It is missing, too large, no UTF-8, or neither TOML nor JSON of that name.

    Source: trainer-facts 1.7 (config_util.py:675-698); ENC-02, ENC-05.
    """
    content = read_bytes(path, LARGEST_BYTES)
    try:
        text = content.decode("utf-8")
        data = json.loads(text) if path.name.lower().endswith(".json") else tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise CannotRead(path, _("it is not UTF-8 text (byte {at})").format(at=error.start)) from error
    except RecursionError as error:
        raise CannotRead(path, _("it is nested too deeply")) from error
    except ValueError as error:
        raise CannotRead(path, _("it is neither TOML nor JSON: {error}").format(error=error)) from error
    if not isinstance(data, dict):
        raise CannotRead(path, _("it must be a table"))
    return data
