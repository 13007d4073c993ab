"""Reads the words of a command line as the trainer's parser would, and mends what it would refuse."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gui.engine.importers.assembling import Draft, given_twice
from gui.engine.importers.typed_values import typed_value
from gui.engine.redaction import SECRET_ARGUMENTS
from gui.engine.texts import _
from gui.engine.trainer.argument import Argument
from gui.engine.trainer.catalogue import ScriptArguments

_NUMBER = re.compile(r"-(?:\d+|\d*\.\d+)(?:[eE][-+]?\d+)?\Z")
_MEANT = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_SIZES = frozenset({"resolution", "face_crop_aug_range"})
"""Values with commas inside, where people put a blank after the comma."""


def take_words(draft: Draft, words: Sequence[str], known: ScriptArguments) -> None:
    """Put the arguments that the words spell into a draft, with notes of what was mended.

    Args:
        draft: Gets arguments, notes and findings.
        words: What follows the script.
        known: The script's arguments.
    """
    groups, stray = _grouped(words)
    if stray:
        draft.note(_("Left out, as no argument takes it: {words}").format(words=" ".join(stray)[:200]))
    seen: dict[str, int] = {}
    twice: dict[str, int] = {}
    rows: dict[str, Argument | None] = {}
    unknown: list[str] = []
    for place, (word, glued, values) in enumerate(groups, 1):
        if word not in rows:
            rows[word] = known.find(word) or _abbreviated(draft, word, known)
        row = rows[word]
        name = row.dest if row else word.lstrip("-")
        if row is None:
            unknown.append(name)
        if name in seen and not (row and row.action == "_AppendAction"):
            twice[name] = place
        seen[name] = place
        value = _value(draft, row, name, values if glued is None else [glued, *values], glued is not None)
        if row and row.action == "_AppendAction":
            value = [*draft.arguments.get(name, []), *(value if isinstance(value, list) else [value])]
        draft.arguments[name] = value
    for name, place in twice.items():
        draft.findings.append(given_twice(name, _("argument {place} of the line").format(place=place)))
    if unknown:
        draft.note(
            _("{script} does not know: {names}. They stay in the plan until you decide.").format(
                script=known.name, names=", ".join(dict.fromkeys(unknown))
            )
        )


def _grouped(words: Sequence[str]) -> tuple[list[tuple[str, str | None, list[str]]], list[str]]:
    """Return for each flag its name, what is glued to it, and the values behind it; and what precedes all."""
    groups: list[tuple[str, str | None, list[str]]] = []
    stray: list[str] = []
    for word in words:
        if word.startswith("--") and len(word) > 2 and not _NUMBER.match(word):
            name, equals, glued = word.partition("=")
            groups.append((name, glued if equals else None, []))
        elif groups:
            groups[-1][2].append(word)
        else:
            stray.append(word)
    return groups, stray


def _abbreviated(draft: Draft, word: str, known: ScriptArguments) -> Argument | None:
    """Take a beginning for the whole name where only one argument begins so, as argparse does."""
    rows = {row.dest: row for row in known.arguments.values() for flag in row.flags if flag.startswith(word)}
    if len(rows) != 1:
        return None
    (row,) = rows.values()
    draft.note(_("“{word}” is short for {flag}.").format(word=word, flag=row.flag))
    return row


def _value(draft: Draft, row: Argument | None, name: str, values: list[str], glued: bool) -> object:
    if row is None:
        return True if not values else values[0] if len(values) == 1 else list(values)
    if row.is_flag:
        return _switch(draft, row, values, glued)
    if row.is_list or row.action == "_AppendAction":
        return typed_value(row, list(values))
    if not values:
        return row.const if row.nargs == "?" else ""
    text = values[0]
    if len(values) > 1:
        text = " ".join(values)
        shown = "" if name in SECRET_ARGUMENTS else text[:80]
        draft.note(
            _("--{name} takes one value; “{text}” was read as one. Quotes are missing around it.").format(
                name=name, text=shown
            )
        )
    return typed_value(row, _without_blanks(draft, name, text))


def _switch(draft: Draft, row: Argument, values: list[str], glued: bool) -> object:
    """Read ``--enable_bucket=false`` as what was meant; the trainer refuses it (knowledge N17)."""
    if not values:
        return bool(row.const) if isinstance(row.const, bool) else True
    word = values[0]
    meant = _MEANT.get(word.lower())
    said = f"{row.flag}={word}" if glued else f"{row.flag} {word}"
    if meant is None:
        draft.note(_("“{said}”: a switch takes no value.").format(said=said[:80]))
        return word if glued else True
    sentence = (
        _("“{said}” would be refused by the trainer, as a switch takes no value. It was read as on.")
        if meant
        else _("“{said}” would be refused by the trainer, as a switch takes no value. It was read as off.")
    )
    draft.note(sentence.format(said=said[:80]))
    return meant


def _without_blanks(draft: Draft, name: str, text: str) -> str:
    plain = "".join(text.split())
    if name not in _SIZES or plain == text:
        return text
    draft.note(
        _("--{name} “{text}” was read as {plain}.").format(name=name, text=text[:80], plain=plain[:80])
    )
    return plain
