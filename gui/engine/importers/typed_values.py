"""Gives values from elsewhere the types that the trainer's parser would give them."""

from __future__ import annotations

import math
from typing import Any

from gui.engine.trainer.argument import Argument
from gui.engine.trainer.words_line import split_line

_SWITCH = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False, "": False}


def typed_value(row: Argument | None, value: Any) -> Any:
    """Return a value as the plan should have it; what cannot be read stays as it is.

    ``"0.0001"`` becomes ``0.0001`` for a float, ``1.0`` becomes ``1`` for a whole number, ``"a b"``
    ``["a", "b"]`` for a list, ``"true"`` or ``1`` ``True`` for a switch.

    Args:
        row: The argument; None when it is unknown.
        value: As the file has it.
    """
    if row is None or value is None:
        return value
    if row.is_flag:
        return _SWITCH.get(_plain(value), value)
    if row.is_list or row.action == "_AppendAction":
        elements = _elements(value)
        return [typed_scalar(row.type, element) for element in elements]
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return typed_scalar(row.type, value)


def typed_scalar(kind: str | None, value: Any) -> Any:
    """Return one value as text, whole number or number, as the reader named ``kind`` gives it."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    try:
        if kind == "int":
            return _whole(value)
        if kind == "float":
            return float(value)
        if kind == "int_or_float":
            return _steps_or_share(value)
    except (ValueError, OverflowError):
        return value
    return value if isinstance(value, str) or kind not in (None, "str", "Path") else _text(value)


def _plain(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip().lower()


def _elements(value: Any) -> list[Any]:
    if isinstance(value, str):
        words = split_line(value)
        return [value] if words is None else words
    return list(value) if isinstance(value, list | tuple) else [value]


def _whole(value: str | float) -> int | str | float:
    if isinstance(value, str):
        return int(value)
    return int(value) if math.isfinite(value) and value == int(value) else value


def _steps_or_share(value: str | float) -> int | float | str:
    """Keep ``"10%"`` as it is; a share stays a share, a count becomes whole."""
    if isinstance(value, str):
        if value.endswith("%"):
            return value
        value = float(value)
    return _whole(value) if value >= 1 or value == 0 else value


def _text(value: float) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
