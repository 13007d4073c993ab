"""Remembers what asking a trainer's Python told, as long as a key says that nothing has changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

from gui.engine.documents import Document, write_atomically
from gui.engine.errors import CannotWrite

Facts = TypeVar("Facts", bound=Document)


def recall(place: Path, key: str, kind: type[Facts]) -> Facts | None:
    """Return what was remembered; None when it is not there, damaged, or of another key.

    Args:
        place: The file.
        key: A digest of all whose change may change the facts.
        kind: What it must hold.
    """
    try:
        content: Any = json.loads(place.read_text("utf-8"))
        return kind.model_validate(content["facts"]) if content["key"] == key else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def remember(place: Path, key: str, facts: Document) -> None:
    """Keep facts; a cache that cannot be written costs time, nothing else."""
    document = {"key": key, "facts": facts.model_dump(mode="json", by_alias=True)}
    try:
        write_atomically(place, json.dumps(document))
    except CannotWrite:
        return
