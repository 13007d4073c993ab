"""The user's choices, kept in one small TOML file of the home."""

from __future__ import annotations

import contextlib
import tomllib
from pathlib import Path
from typing import Any

from gui.engine.documents import Document, read_text, write_atomically
from gui.engine.errors import CannotRead


class Preferences(Document):
    """What the user chose once and for all.

    Attributes:
        trainer: The default trainer's folder, or ``practice``; None looks for one.
        trainer_python: Its interpreter; None looks for it.
        language: Of all sentences, such as ``ko``; None follows the system.
    """

    trainer: str | None = None
    trainer_python: str | None = None
    language: str | None = None


def load_preferences(path: Path) -> Preferences:
    """Return the preferences; what is missing, damaged or of the wrong type is as if never chosen.

    Args:
        path: The file, which need not exist.
    """
    try:
        content = tomllib.loads(read_text(path))
    except (CannotRead, tomllib.TOMLDecodeError, RecursionError):
        return Preferences()
    known = {name: content.get(name) for name in Preferences.model_fields}
    return Preferences(**{name: value for name, value in known.items() if isinstance(value, str) and value})


def change_preferences(path: Path, **changes: str | None) -> Preferences:
    """Change some preferences and keep everything else in the file, comments included.

    Args:
        path: The file; one that is no TOML is put aside as ``….damaged``, not lost.
        changes: Name to new value; None forgets it.

    Returns:
        The preferences as they are now.

    Raises:
        CannotWrite: The file cannot be written; the old one is still there.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    document: Any
    try:
        document = tomlkit.parse(read_text(path))
    except CannotRead:
        document = tomlkit.document()
    except (TOMLKitError, RecursionError):
        with contextlib.suppress(OSError):
            path.replace(path.with_name(path.name + ".damaged"))
        document = tomlkit.document()
    for name, value in changes.items():
        if value is None:
            document.pop(name, None)
        else:
            document[name] = value
    write_atomically(path, tomlkit.dumps(document))
    return load_preferences(path)
