"""Makes a plan of the trainer's own TOML files: arguments, a dataset, or a pair of them."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gui.engine.documents import decode_text, read_bytes
from gui.engine.errors import CannotRead
from gui.engine.importers.assembling import Draft, Source
from gui.engine.importers.typed_values import typed_value
from gui.engine.plan.plan_file import LARGEST_PLAN_BYTES
from gui.engine.texts import _
from gui.engine.trainer.catalogue import Catalogue

_DATASET_PARTS = frozenset({"datasets", "general"})


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    """Return what a TOML text says.

    Raises:
        CannotRead: It is no TOML, or holds a number that is none.
    """
    try:
        data = tomllib.loads(text)
        require_finite(data, path)
    except RecursionError as error:
        raise CannotRead(path, _("it is nested too deeply")) from error
    except ValueError as error:
        raise CannotRead(path, _("it is not TOML: {error}").format(error=error)) from error
    return data


def require_finite(value: Any, path: Path, key: str = "") -> None:
    """Refuse numbers that are not finite, which no setting of a training can be.

    Raises:
        CannotRead: There is one.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise CannotRead(path, _("{key} is no finite number").format(key=key or value))
    if isinstance(value, Mapping):
        for name, child in value.items():
            require_finite(child, path, str(name))
    elif isinstance(value, list):
        for child in value:
            require_finite(child, path, key)


def is_dataset(data: Mapping[str, Any]) -> bool:
    """Return whether TOML data is a dataset file of the trainer."""
    parts = _DATASET_PARTS & data.keys()
    return bool(parts) and all(isinstance(data[part], list if part == "datasets" else dict) for part in parts)


def read_dataset(data: Mapping[str, Any], script: str | None, path: Path) -> Draft:
    """Gather what a dataset file says; nothing else of the training is known.

    Raises:
        CannotRead: A part of it has another form.
    """
    draft = Draft(script or "", dataset=dataset_section(data, path))
    draft.note(_("This is a dataset file: model, output and training are still to be chosen."))
    return draft


def dataset_section(data: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return a dataset file as a plan keeps it: without levels that hold nothing of their own.

    Raises:
        CannotRead: A part of it has another form.
    """
    general, datasets = data.get("general", {}), data.get("datasets", [])
    rest = {key: value for key, value in data.items() if key not in _DATASET_PARTS}
    tables = isinstance(datasets, list) and all(isinstance(entry, dict) for entry in datasets)
    if not isinstance(general, dict) or not tables:
        raise CannotRead(path, _("general must be a table and datasets a list of tables"))
    if len(datasets) == 1:
        return {**rest, **general, **datasets[0]}
    return {**rest, **general} | ({"datasets": datasets} if datasets else {})


def is_config(data: Mapping[str, Any], catalogue: Catalogue) -> bool:
    """Return whether TOML data holds arguments of some training script."""
    names = flat(data).keys()
    return any(names & catalogue.script(script).arguments.keys() for script in catalogue.scripts)


def flat(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the file's values without its sections, which mean nothing to the trainer.

    Source: train_util.py, read_config_from_file.
    """
    values: dict[str, Any] = {}
    for key, value in data.items():
        values |= value if isinstance(value, dict) else {key: value}
    return values


def read_config(data: Mapping[str, Any], script: str, catalogue: Catalogue) -> Draft:
    """Gather what a file for ``--config_file`` says.

    Raises:
        ScriptNotUsable: The trainer has no such script.
    """
    known = catalogue.script(script)
    draft = Draft(known.name)
    unknown: list[str] = []
    for name, value in flat(data).items():
        row = known.find(name)
        if row is None:
            unknown.append(name)
        draft.arguments[row.dest if row else name] = typed_value(row, value)
    if unknown:
        draft.note(
            _("{script} does not know: {names}. They stay in the plan until you decide.").format(
                script=known.name, names=", ".join(unknown)
            )
        )
    return draft


def take_config_file(draft: Draft, source: Source, catalogue: Catalogue) -> None:
    """Read the file that ``--config_file`` names; what the command line says wins.

    Raises:
        CannotRead: The file is there but cannot be read.
    """
    named = draft.arguments.get("config_file")
    place = _beside(named, source, ".toml")
    if place is None:
        return
    told = read_config(parse_toml(decode_text(_content(place), place), place), draft.script, catalogue)
    del draft.arguments["config_file"]
    draft.arguments = {**told.arguments, **draft.arguments}
    draft.notes += told.notes
    draft.note(_("The arguments in {file} were taken over.").format(file=place.name))


def take_dataset_file(draft: Draft, source: Source) -> None:
    """Read the dataset file that the arguments name, where it is here.

    Raises:
        CannotRead: The file is there but cannot be read.
    """
    place = _beside(draft.arguments.get("dataset_config"), source)
    if place is None or place.suffix.lower() != ".toml":
        return
    data = parse_toml(decode_text(_content(place), place), place)
    if not is_dataset(data):
        return
    del draft.arguments["dataset_config"]
    draft.dataset = dataset_section(data, place)
    draft.note(_("The dataset in {file} was taken over.").format(file=place.name))


def _beside(named: Any, source: Source, suffix: str = "") -> Path | None:
    """Return the file that a setting names, where there is one."""
    if not isinstance(named, str) or not named.strip():
        return None
    try:
        places = [source.base / named, source.base / f"{named}{suffix}", source.base / Path(named).name]
        return next((place for place in places if place.is_file()), None)
    except (OSError, ValueError):
        return None


def _content(path: Path) -> bytes:
    return read_bytes(path, LARGEST_PLAN_BYTES)
