"""The user's choices, kept in one small TOML file of the home."""

from __future__ import annotations

import contextlib
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import StrictBool, ValidationError

from gui.engine.documents import Document, read_text, write_atomically
from gui.engine.errors import CannotRead
from gui.engine.file_lock import held

Appearance = Literal["system", "light", "dark"]
TextPercent = Literal[100, 125, 150]
NonfinitePolicy = Literal["stop", "confirm", "warn"]


class OwnTrainer(Document):
    """A trainer that the user added because it is in no usual place.

    Attributes:
        path: Its folder.
        python: Its interpreter; None looks for it.
    """

    path: str
    python: str | None = None


class Preferences(Document):
    """What the user chose once and for all.

    Attributes:
        trainer: The default trainer's folder, or ``practice``; None looks for one.
        trainer_python: Its interpreter; None looks for it.
        trainers: Trainers in unusual places.
        gpu: UUID of the GPU that new plans train on; None leaves the choice to the trainer.
        guard: What new plans do when the loss is not finite.
        notifications: Whether the system's notifications tell of runs while the window is not in front.
        measure_memory: Whether the trainer's torch is asked, in its own interpreter, what memory it needs.
        appearance: Of the window; ``system`` follows the desktop.
        text_percent: Of the window's text.
        language: Of all sentences, such as ``ko``; None follows the system.
        models_folder: Where copies of saved models were last sent to, such as an image program's folder.
    """

    trainer: str | None = None
    trainer_python: str | None = None
    trainers: tuple[OwnTrainer, ...] = ()
    gpu: str | None = None
    guard: NonfinitePolicy = "stop"
    notifications: StrictBool = True
    measure_memory: StrictBool = True
    appearance: Appearance = "system"
    text_percent: TextPercent = 100
    language: str | None = None
    models_folder: str | None = None


def load_preferences(path: Path) -> Preferences:
    """Return the preferences; what is missing, damaged or of the wrong type is as if never chosen.

    Args:
        path: The file, which need not exist.
    """
    try:
        content = tomllib.loads(read_text(path))
    except (CannotRead, tomllib.TOMLDecodeError, RecursionError):
        return Preferences()
    chosen: dict[str, Any] = {}
    for name in Preferences.model_fields:
        value = content.get(name)
        if name == "trainers" and isinstance(value, list):
            value = [entry for entry in value if _fits("trainers", [entry])]
        if value not in (None, "") and _fits(name, value):
            chosen[name] = value
    return Preferences.model_validate(chosen)


def _fits(name: str, value: Any) -> bool:
    try:
        Preferences.model_validate({name: value})
    except ValidationError:
        return False
    return True


def change_preferences(path: Path, **changes: Any) -> Preferences:
    """Change some preferences and keep everything else in the file, comments included.

    Args:
        path: The file; one that is no TOML is put aside as ``….damaged``, not lost.
        changes: Name to new value; None forgets it.

    Returns:
        The preferences as they are now.

    Raises:
        CannotWrite: The file cannot be written; the old one is still there.
        ValidationError: A name or value is none of ``Preferences``: a fault of the caller.
    """
    given = {name: value for name, value in changes.items() if value is not None}
    valid = Preferences.model_validate(given).model_dump(include=set(given), exclude_none=True)
    with held(path):
        document = _document(path)
        for name in changes:
            if valid.get(name) in (None, ()):
                document.pop(name, None)
            else:
                document[name] = _toml_value(valid[name])
        write_atomically(path, _text_of(document))
    return load_preferences(path)


def _document(path: Path) -> Any:
    """Return the file with all that makes it the user's own."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(read_text(path))
    except CannotRead:
        return tomlkit.document()
    except (TOMLKitError, RecursionError):
        with contextlib.suppress(OSError):
            path.replace(path.with_name(path.name + ".damaged"))
        return tomlkit.document()


def _text_of(document: Any) -> str:
    import tomlkit

    return tomlkit.dumps(document)


def _toml_value(value: Any) -> Any:
    """Return a value as it is written; several tables go into one array, so that it can stand anywhere."""
    import tomlkit

    if not isinstance(value, tuple):
        return value
    array = tomlkit.array().multiline(multiline=True)
    for entry in value:
        table = tomlkit.inline_table()
        table.update(entry)
        array.append(table)
    return array
