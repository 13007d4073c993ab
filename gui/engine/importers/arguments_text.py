"""Reads a text file of one trainer argument a line: ``--name value…``, ``#`` begins a comment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gui.engine.errors import CannotRead
from gui.engine.findings import Finding
from gui.engine.importers.assembling import Draft, Source, assemble, given_twice
from gui.engine.importers.imported import Imported
from gui.engine.texts import _
from gui.engine.trainer.argument import Argument
from gui.engine.trainer.catalogue import Catalogue


def looks_like_arguments(text: str) -> bool:
    """Return whether the first line that says something begins with ``--``."""
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line and not line.startswith("#")), "").startswith("--")


def read_arguments(text: str, script: str, catalogue: Catalogue, path: Path) -> Imported:
    """Make a plan of a list of arguments.

    Args:
        text: The file's content.
        script: The training script that they are for.
        catalogue: The trainer's arguments.
        path: Named in errors, gives the plan its name; relative paths are meant against its folder.

    Raises:
        CannotRead: A line is no argument, or a quote is not closed.
        ScriptNotUsable: The trainer has no such script.
    """
    known = catalogue.script(script)
    arguments: dict[str, Any] = {}
    findings: list[Finding] = []
    for number, name, rest in _lines(text, path):
        row = known.find(name)
        dest = row.dest if row else name
        if dest in arguments:
            findings.append(given_twice(dest, _("of line {line}").format(line=number)))
        arguments[dest] = _value(row, rest, path, number)
    return assemble(Draft(known.name, arguments, findings=findings), Source.of(path))


def _lines(text: str, path: Path) -> Iterator[tuple[int, str, str]]:
    """Return for each argument its line, its name, and what follows it."""
    for number, line in enumerate(text.splitlines(), 1):
        said = line.strip().rstrip("\\^`").strip()
        if not said or said.startswith("#"):
            continue
        if not said.startswith("--"):
            reason = _("line {number} is no argument: {line}").format(number=number, line=said[:60])
            raise CannotRead(path, reason)
        word, _blank, rest = said.partition(" ")
        name, equals, value = word.removeprefix("--").partition("=")
        yield number, name, f"{value} {rest}" if equals else rest


def _value(row: Argument | None, rest: str, path: Path, number: int) -> Any:
    try:
        words, text = _words(rest)
    except ValueError as error:
        reason = _("line {number}: a quote is not closed").format(number=number)
        raise CannotRead(path, reason) from error
    if row is not None and row.is_list:
        return words
    if not words:
        return True if row is None or row.is_flag else ""
    if len(words) == 1:
        text = words[0]
    if row is not None and row.is_flag:
        return {"true": True, "false": False}.get(text.lower(), text)
    return _typed(row, text)


def _words(text: str) -> tuple[list[str], str]:
    r"""Return the words, and the text without the comment that a ``#`` at a word's place begins.

    Quotes count at the beginning of a word and after ``=``, so that ``it's`` needs none. A backslash
    is one, as in Windows' paths, but in ``\"`` within a word.

    Raises:
        ValueError: A quote is not closed.
    """
    words: list[str] = []
    word: list[str] | None = None
    quote, end = "", len(text)
    for place, sign in enumerate(text):
        if quote:
            following = text[place + 1 : place + 2].strip()
            if sign != quote:
                (word := word or []).append(sign)
            elif sign == '"' and following and word and word[-1] == "\\":
                word[-1] = sign
            else:
                quote = ""
        elif sign.isspace():
            words += ["".join(word)] if word is not None else []
            word = None
        elif sign == "#" and word is None:
            end = place
            break
        elif sign in "\"'" and (not word or word[-1] == "="):
            quote, word = sign, word or []
        else:
            (word := word or []).append(sign)
    if quote:
        raise ValueError(text)
    words += ["".join(word)] if word is not None else []
    return words, text[:end].strip()


def _typed(row: Argument | None, text: str) -> Any:
    kind = row.type if row else None
    try:
        if kind == "int":
            return int(text)
        if kind == "float":
            return float(text)
    except ValueError:
        return text
    return text
