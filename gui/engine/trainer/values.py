"""Judges a plan's values exactly as the trainer's argparse would, and spells them as argv words.

The words are made so that argparse reads back the value that was meant: a value that
starts with a dash is glued to its flag with ``=``, since argparse would take it for an
option otherwise.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import PurePath
from typing import Any, Literal

from gui.engine.documents import Document
from gui.engine.redaction import HIDDEN, SECRET_ARGUMENTS
from gui.engine.texts import _
from gui.engine.trainer.argument import Argument

ProblemKind = Literal["type", "choice", "flag", "count", "form"]

_NUMBER_LIKE = re.compile(r"^-\d+$|^-\d*\.\d+$")
"""What argparse takes for a negative number and so not for an option (``_negative_number_matcher``)."""

_DASH = re.compile(r"-( |\Z)")
"""A dash by itself, or before a blank, names no option: argparse takes it for a value."""

_SHOWN = 60

_MEANT: dict[str, dict[Any, Any]] = {
    "save_precision": {"fp32": "float", "float32": "float"},
    "mixed_precision": {"fp32": "no", "float": "no", "float32": "no"},
    "max_token_length": {75: None},
}
"""Values that people give and what the trainer calls them; None leaves the argument out.

Source: train_util.py:3839, 3980, 3901 (75 is what the trainer does without the argument)."""


class Words(Document):
    """A value as it stands in the argument list.

    Attributes:
        words: The flag and its values; empty when the argument is absent.
        value: What the trainer's parser makes of them; None when the argument is absent.
    """

    words: tuple[str, ...] = ()
    value: Any = None


class Problem(Document):
    """Why the trainer's parser would refuse a value.

    Attributes:
        kind: ``type`` cannot be read, ``choice`` is not allowed, ``flag`` takes no value,
            ``count`` too many or too few values, ``form`` cannot be put on a command line.
        sentence: One plain sentence for people.
        suggestions: Values that would be accepted and are likely meant; None leaves it out.
        certain: Whether the first suggestion is surely what was meant.
    """

    kind: ProblemKind
    sentence: str
    suggestions: tuple[Any, ...] = ()
    certain: bool = False


class _Refused(Exception):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.sentence)
        self.problem = problem


def words_for(argument: Argument, value: Any) -> Words | Problem:
    """Return a plan's value as argv words, or why the trainer would refuse it.

    Args:
        argument: The row of the script's parser.
        value: As the plan has it: text, number, true or false, a list of those; None is absent.

    Returns:
        The words, flag included: ``("--network_dim", "16")``, ``("--seed=-1",)``,
        ``("--xformers",)``, or none for a flag that is off.
    """
    if value is None:
        return Words()
    try:
        if argument.action == "BooleanOptionalAction":
            return _on_or_off(argument, value)
        if argument.is_flag:
            return _flag(argument, value)
        return _valued(argument, value)
    except _Refused as refused:
        return refused.problem


def int_or_float(text: str) -> int | float:
    """Read a number of steps or a share of them, as the trainer does.

    Args:
        text: ``"100"`` (steps), ``"0.1"`` or ``"10%"`` (share).

    Raises:
        ValueError: It is neither; ``"100.0"`` and ``"1e2"`` are refused too.

    Source: train_util.py:3664.
    """
    if text.endswith("%"):
        return float(text[:-1]) / 100.0
    number = float(text)
    return int(text) if number >= 1 else number


READERS: dict[str | None, Callable[[str], Any]] = {
    None: str,
    "str": str,
    "int": int,
    "float": float,
    "int_or_float": int_or_float,
    "Path": PurePath,
}
"""The functions that the trainer's parsers read values with. One that is not here is not judged."""


def _flag(argument: Argument, value: Any) -> Words:
    if argument.action == "_CountAction" and isinstance(value, int) and not isinstance(value, bool):
        return Words(words=(argument.flag,) * value, value=(argument.default or 0) + value)
    stored = argument.const
    on = stored if isinstance(stored, bool) else True
    if value is on or (stored is not on and value == stored):
        return Words(words=(argument.flag,), value=stored)
    if isinstance(value, bool):
        return Words()
    meant = _as_bool(value)
    sentence = _("{name} is a switch: it takes true or false, not {value}.")
    raise _Refused(
        Problem(
            kind="flag",
            sentence=sentence.format(name=argument.dest, value=_shown(argument, value)),
            suggestions=() if meant is None else (meant,),
            certain=meant is not None,
        )
    )


def _on_or_off(argument: Argument, value: Any) -> Words:
    if isinstance(value, bool):
        flag = next((f for f in argument.flags if f.startswith("--no-") is not value), argument.flag)
        return Words(words=(flag,), value=value)
    return _flag(argument.model_copy(update={"const": True}), value)


def _valued(argument: Argument, value: Any) -> Words:
    appends = argument.action == "_AppendAction"
    if isinstance(value, list | tuple):
        elements = list(value)
        if not argument.is_list and not appends:
            raise _Refused(_too_many(argument, elements))
    elif value is True and argument.nargs == "?":
        return Words(words=(argument.flag,), value=argument.const)
    else:
        elements = [value]
    words = [_word(argument, element) for element in elements]
    read = [_read(argument, word, element) for word, element in zip(words, elements, strict=True)]
    _check_count(argument, len(words))
    if appends:
        spelled = [part for word in words for part in _single(argument, word)]
        return Words(words=tuple(spelled), value=read or None)
    if argument.is_list:
        return Words(words=_listed(argument, words, elements), value=read)
    return Words(words=_single(argument, words[0]), value=read[0])


def _word(argument: Argument, element: Any) -> str:
    """Return one value as text; numbers in a spelling that reads back as the same number."""
    if isinstance(element, str):
        return _passable(argument, str(element))
    if isinstance(element, int) and not isinstance(element, bool):
        return int.__repr__(element)
    if isinstance(element, float):
        return float.__repr__(element)
    raise _Refused(_wrong_type(argument, element))


def _passable(argument: Argument, text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        broken = True
    else:
        broken = "\0" in text
    if broken:
        sentence = _("{name} contains a character that cannot stand on a command line.")
        raise _Refused(Problem(kind="form", sentence=sentence.format(name=argument.dest)))
    return text


def _read(argument: Argument, word: str, element: Any) -> Any:
    reader = READERS.get(argument.type)
    if reader is None:
        return word
    try:
        value = reader(word)
    except (ValueError, OverflowError):
        raise _Refused(_wrong_type(argument, element)) from None
    if argument.choices is not None and value not in argument.choices:
        raise _Refused(_wrong_choice(argument, value))
    return value


def _check_count(argument: Argument, count: int) -> None:
    wanted = argument.nargs
    if wanted == "+" and count == 0:
        sentence = _("{name} needs at least one value.").format(name=argument.dest)
    elif isinstance(wanted, int) and wanted > 0 and count != wanted and argument.action != "_AppendAction":
        sentence = _("{name} needs exactly {wanted} values, not {count}.").format(
            name=argument.dest, wanted=wanted, count=count
        )
    else:
        return
    raise _Refused(Problem(kind="count", sentence=sentence))


def _single(argument: Argument, word: str) -> tuple[str, ...]:
    if word == "--":
        # Most versions of argparse drop this word wherever it stands, even after "=".
        raise _Refused(_unspellable(argument, word))
    return (f"{argument.flag}={word}",) if word.startswith("-") else (argument.flag, word)


def _listed(argument: Argument, words: Sequence[str], elements: Sequence[Any]) -> tuple[str, ...]:
    """Several values stand as words of their own, so none of them may look like an option."""
    if len(words) == 1:
        return _single(argument, words[0])
    spelled = []
    for word, element in zip(words, elements, strict=True):
        negative = word.startswith("-")
        respelled = negative and argument.type == "float" and isinstance(element, float)
        plain = _plain_number(element) if respelled else word
        if negative and not _NUMBER_LIKE.match(plain) and not _DASH.match(word):
            raise _Refused(_unspellable(argument, word))
        spelled.append(plain)
    return (argument.flag, *spelled)


def _plain_number(number: float) -> str:
    """Spell a number without an exponent: ``-1e-05`` is no number to argparse, ``-0.00001`` is."""
    return format(Decimal(float.__repr__(number)), "f")


def _unspellable(argument: Argument, word: str) -> Problem:
    sentence = _("{name}: the trainer would take {value} for an option of its own.")
    return Problem(kind="form", sentence=sentence.format(name=argument.dest, value=_shown(argument, word)))


def _too_many(argument: Argument, elements: Sequence[Any]) -> Problem:
    suggestions: tuple[Any, ...] = ()
    if len(elements) == 1:
        suggestions = (elements[0],)
    elif argument.type in (None, "str") and elements and all(type(e) in (str, int) for e in elements):
        suggestions = (",".join(map(str, elements)),)  # as in --resolution 768,512
    sentence = _("{name} takes one value, not a list.").format(name=argument.dest)
    accepted = _accepted(argument, suggestions)
    return Problem(kind="count", sentence=sentence, suggestions=accepted, certain=len(elements) == 1)


def _wrong_type(argument: Argument, element: Any) -> Problem:
    wanted = {
        "int": _("{name} takes a whole number; {value} is none."),
        "float": _("{name} takes a number; {value} is none."),
        "int_or_float": _(
            "{name} takes a whole number of steps, or a share of them such as 0.1 or 10%; {value} is neither."
        ),
    }
    sentence = wanted.get(argument.type or "str", _("{name} takes a text; {value} is none."))
    return Problem(
        kind="type",
        sentence=sentence.format(name=argument.dest, value=_shown(argument, element)),
        suggestions=_accepted(argument, _number_meant(element)),
        certain="," not in str(element),  # "1,500" may be 1.5 or 1500
    )


def _wrong_choice(argument: Argument, value: Any) -> Problem:
    choices = [choice for choice in argument.choices or () if choice is not None]
    sentence = _("{name} cannot be {value}; the trainer knows {choices}.").format(
        name=argument.dest, value=_shown(argument, value), choices=", ".join(map(str, choices))
    )
    known = _MEANT.get(argument.dest, {})
    key = value.lower() if isinstance(value, str) else value
    if key in known:
        return Problem(kind="choice", sentence=sentence, suggestions=(known[key],), certain=True)
    by_text = {str(choice).lower(): choice for choice in choices}
    text = str(value).strip().lower()
    near = difflib.get_close_matches(text, by_text, n=1, cutoff=0.6)
    suggestions = tuple(by_text[name] for name in near)
    return Problem(kind="choice", sentence=sentence, suggestions=suggestions, certain=text in by_text)


def _number_meant(element: Any) -> tuple[Any, ...]:
    """``1000.0``, ``"1e3"`` and ``"1,5"`` are refused where 1000 and 1.5 would do."""
    if isinstance(element, bool) or not isinstance(element, str | int | float):
        return ()
    try:
        number = float(element.strip().replace(",", ".") if isinstance(element, str) else element)
        meant = int(number) if number == int(number) else number
    except (ValueError, OverflowError):
        return ()
    return () if type(meant) is type(element) else (meant,)


def _accepted(argument: Argument, suggestions: tuple[Any, ...]) -> tuple[Any, ...]:
    """Keep only suggestions that the parser would really take."""
    return tuple(value for value in suggestions if isinstance(words_for(argument, value), Words))


def _as_bool(value: Any) -> bool | None:
    text = str(value).strip().lower()
    if text in ("true", "1", "yes", "on"):
        return True
    return False if text in ("false", "0", "no", "off", "") else None


def _shown(argument: Argument, value: Any) -> str:
    if argument.dest in SECRET_ARGUMENTS:
        return HIDDEN
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    short = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return f"“{short}”" if isinstance(value, str) else short
