"""Makes the trainer's dataset file of a plan's dataset section."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gui.engine.plan.dataset_options import HANDED_DOWN, OPTIONS, typed
from gui.engine.plan.paths import absolute, dataset_with_paths

_NOT_LITERAL = re.compile(r"['\n\r]")
_NOT_WRITABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]|\A\"\".*['\n\r]", re.DOTALL)


def is_writable(value: Any) -> bool:
    """Whether the trainer would read a value back as it was meant.

    Its ``toml`` package (0.10.2) garbles control characters, and texts that begin with two
    double quotes and also hold a single one; it knows no lists of mixed types or of tables.
    """
    if isinstance(value, str):
        return _NOT_WRITABLE.search(value) is None
    if isinstance(value, Mapping):
        return all(_is_bare(key) and is_writable(child) for key, child in value.items())
    if isinstance(value, list | tuple):
        plain = not any(isinstance(child, Mapping | list | tuple) for child in value)
        return plain and all(map(is_writable, value))
    return isinstance(value, bool | int | float)


def dataset_document(dataset: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """Return the trainer's dataset file as data.

    What stands above the subsets goes into ``[general]``, which every kind of dataset accepts.
    ``alpha_mask``, which only subsets accept, is handed down to them. Paths become absolute and
    whole numbers become floats where the trainer's schema insists on them.

    Args:
        dataset: A plan's dataset section, judged before.
        base: The folder of the plan file.
    """
    placed = dataset_with_paths(dataset, lambda value: absolute(value, base))
    general = {**_table(placed.pop("general", {}))}
    datasets = [dict(_table(entry)) for entry in placed.pop("datasets", None) or []]
    subsets = placed.pop("subsets", None)
    if subsets is not None or not datasets:
        datasets.insert(0, {"subsets": subsets or []})
    general |= placed
    handed = {key: general.pop(key) for key in list(general) if key in HANDED_DOWN}
    for entry in datasets:
        down = handed | {key: entry.pop(key) for key in list(entry) if key in HANDED_DOWN}
        entry["subsets"] = [_typed_table({**down, **_table(s)}) for s in entry.get("subsets") or []]
    document: dict[str, Any] = {"general": _typed_table(general)} if general else {}
    return document | {"datasets": [_dataset(entry) for entry in datasets]}


def _dataset(entry: Mapping[str, Any]) -> dict[str, Any]:
    own = _typed_table({key: value for key, value in entry.items() if key != "subsets"})
    return own | {"subsets": entry["subsets"]}


def _typed_table(table: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: typed(OPTIONS[key].type, value) if key in OPTIONS else value
        for key, value in table.items()
        if value is not None
    }


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def dataset_toml(dataset: Mapping[str, Any], base: Path) -> str:
    """Return the text of the trainer's dataset file.

    The trainer reads it with the old ``toml`` package, which stumbles over some valid TOML; the
    text keeps to what that package reads as meant: one key a line, basic strings, no inline tables.

    Args:
        dataset: A plan's dataset section, judged before.
        base: The folder of the plan file.
    """
    document = dataset_document(dataset, base)
    lines: list[str] = []
    if "general" in document:
        lines += ["[general]", *_lines(document["general"], "general"), ""]
    for entry in document["datasets"]:
        own = {key: value for key, value in entry.items() if key != "subsets"}
        lines += ["[[datasets]]", *_lines(own, "datasets"), ""]
        for subset in entry["subsets"]:
            lines += ["[[datasets.subsets]]", *_lines(subset, "datasets.subsets"), ""]
    return "\n".join(lines)


def _lines(table: Mapping[str, Any], name: str) -> list[str]:
    tables = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    lines = [f"{key} = {_value(value)}" for key, value in table.items() if key not in tables]
    for key, value in tables.items():
        inner = f"{name}.{key}"
        lines += ["", f"[{inner}]", *_lines(value, inner)]
    return lines


def _is_bare(key: Any) -> bool:
    return isinstance(key, str) and key.isascii() and key.replace("_", "").replace("-", "").isalnum()


def _text(value: str) -> str:
    """Return a literal string where one can hold the text, since ``toml`` unescapes some twice."""
    return json.dumps(value, ensure_ascii=False) if _NOT_LITERAL.search(value) else f"'{value}'"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else {"nan": "nan", "inf": "inf"}.get(str(value), "-inf")
    return str(value)
