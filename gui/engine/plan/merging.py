"""Changes the text of a plan file only where the plan changed."""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Mapping, MutableMapping
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Table

_OMITTED = object()


def new_text(data: Mapping[str, Any]) -> str:
    """Return the text of a new plan file: what differs from the defaults, in the plan's order."""
    document = tomlkit.document()
    for key, value in _worth_writing(data).items():
        document[key] = _item(value)
    return tomlkit.dumps(document)


def merged_text(text: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return a file's text with the difference between two plans worked in.

    Comments, order, unknown keys and the spelling of untouched values stay. When the text
    cannot be changed in place without loss of meaning, it is written anew.

    Args:
        text: The file that ``before`` was read from.
        before: The plan's data as they were read.
        after: The plan's data as they shall be read.
    """
    wanted = _applied(tomllib.loads(text), before, after)
    try:
        document = tomlkit.parse(text)
        _merge(document, before, after)
        result = tomlkit.dumps(document)
        if _same(tomllib.loads(result), wanted):
            return result
    except (
        TOMLKitError,
        tomllib.TOMLDecodeError,
        KeyError,
        IndexError,
        TypeError,
        ValueError,
        AttributeError,
    ):
        pass
    fresh = tomlkit.document()
    for key, value in wanted.items():
        fresh[key] = _item(value)
    return tomlkit.dumps(fresh)


def _same(left: Any, right: Any) -> bool:
    return repr(left) == repr(right) or bool(left == right)


def _applied(data: dict[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the file must mean afterwards: its own data, changed where the plans differ."""
    result = dict(data)
    for key in [*before, *(key for key in after if key not in before)]:
        old, new = _plain(before.get(key, _OMITTED)), _plain(after.get(key, _OMITTED))
        if _identical(old, new):
            continue
        if new is _OMITTED or new is None:
            result.pop(key, None)
        elif isinstance(old, dict) and isinstance(new, dict) and isinstance(result.get(key, {}), dict):
            result[key] = _applied(result.get(key, {}), old, new)
        else:
            result[key] = new
    return result


def _merge(place: MutableMapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    for key in [*before, *(key for key in after if key not in before)]:
        old, new = _plain(before.get(key, _OMITTED)), _plain(after.get(key, _OMITTED))
        if _identical(old, new):
            continue
        if new is _OMITTED or new is None:
            place.pop(key, None)
        elif isinstance(old, dict) and isinstance(new, dict):
            if key not in place:
                place[key] = tomlkit.table()
            _merge(place[key], old, new)
        elif isinstance(place.get(key), AoT) and _tables(old) and _tables(new):
            _merge_tables(place[key], old, new)
        else:
            _put(place, key, new)


def _put(place: MutableMapping[str, Any], key: str, value: Any) -> None:
    """Set a value; a comment behind the old one stays."""
    item = _item(value)
    old = place.get(key)
    if old is not None and hasattr(old, "trivia") and not isinstance(item, Table | AoT):
        item.trivia.comment = old.trivia.comment
        item.trivia.comment_ws = old.trivia.comment_ws
    place[key] = item


def _merge_tables(tables: AoT, old: list[Any], new: list[Any]) -> None:
    """Change a list of tables so that each keeps its own comments when others come and go."""
    keys, wanted = ([json.dumps(t, sort_keys=True, default=str) for t in side] for side in (old, new))
    steps = difflib.SequenceMatcher(None, keys, wanted, autojunk=False).get_opcodes()
    for tag, i1, i2, j1, j2 in reversed(steps):
        if tag == "equal":
            continue
        common = min(i2 - i1, j2 - j1)
        for index in reversed(range(i1 + common, i2)):
            del tables[index]
        for offset in range(common, j2 - j1):
            tables.insert(i1 + offset, _item(new[j1 + offset]))
        for offset in range(common):
            _merge(tables[i1 + offset], old[i1 + offset], new[j1 + offset])


def _tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(element, dict) for element in value)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(child) for child in value]
    return value


def _identical(left: Any, right: Any) -> bool:
    """Equal in value and type: 1, 1.0 and true are three different things to the trainer."""
    if left is _OMITTED or right is _OMITTED:
        return left is right
    return repr(left) == repr(right)


def _item(value: Any) -> Any:
    """Return a value as TOML text would have it: lists of tables as ``[[…]]``."""
    value = _plain(value)
    if isinstance(value, dict):
        table = tomlkit.table()
        simple = {
            key: child for key, child in value.items() if not (isinstance(child, dict) or _tables(child))
        }
        for key, child in [*simple.items(), *((k, v) for k, v in value.items() if k not in simple)]:
            if child is not None:
                table[key] = _item(child)
        return table
    if _tables(value):
        tables = tomlkit.aot()
        for element in value:
            tables.append(_item(element))
        return tables
    return tomlkit.item(value)


def _worth_writing(data: Mapping[str, Any]) -> dict[str, Any]:
    from gui.engine.plan.model import TrainingPlan

    defaults = TrainingPlan().model_dump(by_alias=True, mode="python")
    chosen: dict[str, Any] = {}
    for key, value in data.items():
        if key in ("schema", "name", "family", "kind"):
            chosen[key] = value
        elif isinstance(value, Mapping) and isinstance(defaults.get(key), Mapping):
            section = {k: v for k, v in value.items() if k not in defaults[key] or v != defaults[key][k]}
            if section:
                chosen[key] = section
        elif value != defaults.get(key):
            chosen[key] = value
    return chosen
