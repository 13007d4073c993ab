"""Arguments as the text of a command line, to be pasted elsewhere; tokens are left out."""

from __future__ import annotations

import os
from collections.abc import Iterable

from gui.engine.errors import WrongUsage
from gui.engine.plan.dataset_options import arguments_from_dataset
from gui.engine.trainer.catalogue import ScriptArguments
from gui.engine.trainer.quoting import posix_words, powershell_words
from gui.engine.trainer.values import Words, words_for
from gui.window.models.argument_rows import ArgumentRow
from gui.window.models.arguments_model import ArgumentsModel


def command_line_text(model: ArgumentsModel, rows: Iterable[ArgumentRow]) -> str:
    """Return the values of rows as a command line would say them, one argument a line.

    What no command line says stands behind a ``#``.
    """
    lines = (_line(model, row) for row in rows if not row.is_heading)
    return "\n".join(line for line in lines if line)


def _line(model: ArgumentsModel, row: ArgumentRow) -> str:
    value = model.effective(row).value
    if value is None or row.secret:
        return ""
    words = _words(row, value, model.script)
    if words is None:
        return f"# {row.name} = {model.document.effective(row.target).value}"
    return _quoted(words)


def _words(row: ArgumentRow, value: object, script: ScriptArguments | None) -> list[str] | None:
    argument = row.argument
    if row.target.startswith("dataset.") and row.option is not None and script is not None:
        told = arguments_from_dataset({row.option.key: value}).arguments
        name, value = next(iter(told.items()), ("", None))
        argument = script.arguments.get(name)
    if argument is None:
        return None
    words = words_for(argument, value)
    return list(words.words) if isinstance(words, Words) else [argument.flag, str(value)]


def _quoted(words: list[str]) -> str:
    try:
        return " ".join(powershell_words(words) if os.name == "nt" else posix_words(words))
    except WrongUsage:
        return ""
