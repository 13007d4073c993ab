"""Between values of a plan and the text in an editor; and what is wrong with a value."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from gui.engine.findings import Finding
from gui.engine.plan.dataset_judging import judge_dataset
from gui.engine.redaction import HIDDEN
from gui.engine.texts import _
from gui.engine.trainer.argument import Argument
from gui.engine.trainer.catalogue import Catalogue, ScriptArguments
from gui.engine.trainer.judging import judge_arguments
from gui.engine.trainer.values import Words, words_for
from gui.engine.trainer.words_line import join_line, split_line
from gui.window.models.argument_rows import ArgumentRow

SMALL = 0.01
"""Below this, numbers are written as people write learning rates: ``1e-4``."""


def number_text(value: float) -> str:
    """Return a number that reads back as the same one, as short as people write it."""
    if not math.isfinite(value):
        return repr(value)
    if value and abs(value) < SMALL:
        return f"{Decimal(repr(value)).normalize():e}"
    return repr(value).removesuffix(".0").replace("e+", "e")


def value_text(row: ArgumentRow, value: Any) -> str:
    """Return the text that an editor shows for a value; empty for None."""
    if value is None:
        return ""
    if row.kind == "variables" and isinstance(value, Mapping):
        return join_line(f"{name}={text}" for name, text in value.items())
    if isinstance(value, list | tuple) and not any(isinstance(each, dict | list | tuple) for each in value):
        if row.kind in ("size", "range", "indices"):
            return ", ".join(map(_one_text, value))
        return join_line(map(_one_text, value))
    return _one_text(value)


def shown_text(row: ArgumentRow, value: Any) -> str:
    """Return the text for lists and copies, where secrets are hidden."""
    if row.secret and value not in (None, ""):
        return HIDDEN
    if row.kind == "variables" and isinstance(value, Mapping):
        return " ".join(map(str, value))
    if row.kind == "switch" and isinstance(value, bool):
        return _("on") if value else _("off")
    return value_text(row, value)


def read_text(row: ArgumentRow, text: str) -> Any:
    """Return the value that a typed text means; the text itself where it means none of the kind."""
    stripped = text.strip()
    reader = _READERS.get(row.kind or "")
    if row.kind == "list":
        words = split_line(text)
        return text if words is None else [_typed(row.argument, word) for word in words]
    if row.kind == "choice":
        return next((choice for choice in row.choices if str(choice) == stripped), text)
    if reader is None:
        return text
    with contextlib.suppress(ValueError, OverflowError):
        return reader(stripped)
    return text


def judge(
    row: ArgumentRow, value: Any, script: ScriptArguments | None, catalogue: Catalogue | None
) -> list[Finding]:
    """Return what the trainer would refuse about a value, in the engine's words.

    Args:
        row: Whose value.
        value: As the plan has it; None is always fine.
        script: The arguments of the plan's script.
        catalogue: All scripts.
    """
    if value is None:
        return []
    if row.kind == "list" and isinstance(value, str) and split_line(value) is None:
        return [
            Finding(
                id="quote",
                severity="stop",
                title=_("A quote is not closed."),
                arguments=(row.target,),
            )
        ]
    if row.target.startswith("dataset."):
        return _judge_option(row, value, script.name if script else "")
    if row.target.startswith(("launch.", "guard.", "env.")) or script is None:
        return []
    found = judge_arguments({row.name: value}, script, catalogue)
    return [finding for finding in found if finding.where == row.name]


def words_preview(row: ArgumentRow, value: Any) -> list[str]:
    """Return the words that the trainer gets for a value; none where it would be refused."""
    if row.argument is None or row.secret:
        return []
    words = words_for(row.argument, value)
    return list(words.words) if isinstance(words, Words) else []


def _judge_option(row: ArgumentRow, value: Any, script: str) -> list[Finding]:
    key = row.target.rpartition(".")[2]
    subset = ".subsets." in row.target
    section = {"subsets": [{"image_dir": "-", key: value}]} if subset else {key: value}
    found = judge_dataset(section, script, masked_loss=True)
    about = (f"dataset.subsets.0.{key}", f"dataset.{key}")
    return [finding for finding in found if finding.where in about]


def _one_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _whole(text: str) -> int:
    return int(text)


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _steps(text: str) -> int | float | str:
    return text if text.endswith("%") else _number(text)


def _numbers(text: str) -> list[str]:
    return text.replace(",", " ").replace("×", " ").replace("x", " ").split()


def _size(text: str) -> int | list[int]:
    sizes = [int(part) for part in _numbers(text)]
    return sizes[0] if len(sizes) == 1 else _at_least_one(sizes)


def _at_least_one(numbers: list[Any]) -> list[Any]:
    if not numbers:
        raise ValueError
    return numbers


def _variables(text: str) -> dict[str, str]:
    pairs = [word.partition("=") for word in split_line(text) or ()]
    if not pairs or not all(name and sign for name, sign, _value in pairs):
        raise ValueError
    return {name: value for name, _sign, value in pairs}


_READERS: Mapping[str, Callable[[str], Any]] = {
    "whole": _whole,
    "number": _number,
    "steps": _steps,
    "size": _size,
    "range": lambda text: _at_least_one([float(part) for part in _numbers(text)]),
    "indices": lambda text: tuple(int(part) for part in _numbers(text)),
    "variables": _variables,
}


def _typed(argument: Argument | None, word: str) -> Any:
    reader = {"int": _whole, "float": _number}.get((argument.type if argument else None) or "")
    if reader is not None:
        with contextlib.suppress(ValueError, OverflowError):
            return reader(word)
    return word
