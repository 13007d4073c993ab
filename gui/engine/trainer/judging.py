"""Says what the trainer's parser would refuse in a set of arguments, before it is asked."""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from gui.engine.findings import Finding, Fix
from gui.engine.redaction import SECRET_ARGUMENTS
from gui.engine.texts import _
from gui.engine.trainer.argument import Argument
from gui.engine.trainer.catalogue import Catalogue, ScriptArguments
from gui.engine.trainer.values import Problem, ProblemKind, Words, words_for

_IDS: dict[ProblemKind, str] = {
    "type": "arg-type",
    "choice": "enum",
    "flag": "flag-value",
    "count": "arg-count",
    "form": "arg-form",
}
_SOURCES: dict[ProblemKind, tuple[str, ...]] = {"choice": ("NAN-10",), "flag": ("N17",)}
_LORA_MARKS = ("network_module", "network_dim", "network_alpha")
"""Who gives these to a script without networks wants a LoRA: leaving them out would train a whole model."""
_NEAR = 0.75
_SLIPS = 200
"""For so many unknown names a near one is looked for; more of them are no slips of the pen."""
_MANY = 4


def judge_arguments(
    arguments: Mapping[str, Any], script: ScriptArguments, catalogue: Catalogue | None = None
) -> list[Finding]:
    """Return what is wrong with trainer arguments: names, types, choices, counts, empty values.

    Args:
        arguments: Name to value, as a plan has them.
        script: The script that would get them.
        catalogue: Tells which other scripts know an argument that this one lacks.
    """
    findings: list[Finding] = []
    for name, value in arguments.items():
        if value is None:
            continue
        argument = script.arguments.get(name)
        if argument is None:
            known = script.arguments if len(findings) < _SLIPS else ()
            findings.append(_unknown(name, value, arguments, script, catalogue, known=known))
        else:
            findings.extend(_judge_value(argument, value))
    findings.extend(_missing(arguments, script))
    return findings


def _unknown(
    name: str,
    value: Any,
    arguments: Mapping[str, Any],
    script: ScriptArguments,
    catalogue: Catalogue | None,
    *,
    known: Collection[str],
) -> Finding:
    others = _same_kind_first(script.name, catalogue.scripts_with(name)) if catalogue else ()
    full = None if others else _abbreviated(name, value, script)
    same = script.find(name) or script.find(name.strip().lstrip("-").replace("-", "_")) or full
    near = [same.dest] if same else difflib.get_close_matches(name, known, n=3, cutoff=_NEAR)
    fixes = [
        Fix(
            id=f"rename-to-{candidate}",
            label=_("call it {name}").format(name=candidate),
            changes={name: None, candidate: value},
            safe=same is not None,
        )
        for candidate in near
        if arguments.get(candidate) is None and candidate not in SECRET_ARGUMENTS
    ]
    lora_meant = "network_module" not in script.arguments and any(arguments.get(key) for key in _LORA_MARKS)
    certain = bool(others) or (same is not None and not fixes)
    fixes.append(_remove(name, safe=certain and not lora_meant))
    return Finding(
        id="arg-short" if full else "arg-unknown",
        severity="stop",
        title=(
            _("“{name}” is short for {full}; a plan says it in full.").format(name=name, full=full.dest)
            if full
            else _("{script} has no argument “{name}”.").format(script=script.name, name=name)
        ),
        detail=_detail_of_unknown(near, others, short=full is not None),
        arguments=(name,),
        where=name,
        fixes=() if "." in name else tuple(fixes),  # a dot would make the fix's target another place
        sources=("CLI-03", "CLI-04"),
    )


def _abbreviated(name: str, value: Any, script: ScriptArguments) -> Argument | None:
    """Return the argument that argparse would take a beginning of a name for, where it takes the value."""
    begun = [row for row in script.rows for flag in row.flags if flag.startswith(f"--{name}")]
    if not name or len(begun) != 1 or not begun[0].is_setting:
        return None
    return begun[0] if isinstance(words_for(begun[0], value), Words) else None


def _same_kind_first(script: str, others: tuple[str, ...]) -> tuple[str, ...]:
    """Put ``sdxl_train_network.py`` before ``sdxl_train.py`` when ``train_network.py`` was meant to run."""
    kind = script.partition("train")[2]
    return tuple(sorted(others, key=lambda other: (other.partition("train")[2] != kind, other)))


def _detail_of_unknown(near: list[str], others: tuple[str, ...], *, short: bool) -> str:
    if short:
        return _("The trainer guesses names from their beginnings; a newer one may guess another.")
    parts = [_("The trainer would refuse the whole command line and end at once.")]
    if others:
        shown = ", ".join(others[:_MANY]) + (", …" if len(others) > _MANY else "")
        parts.append(_("It exists only in {scripts}.").format(scripts=shown))
    elif near:
        parts.append(_("Similar names that exist: {names}.").format(names=", ".join(near)))
    return " ".join(parts)


def _judge_value(argument: Argument, value: Any) -> Iterator[Finding]:
    judged = words_for(argument, value)
    if isinstance(judged, Problem):
        yield _refused(argument, judged)
    elif isinstance(value, str) and not value.strip() and value != argument.default:
        yield _empty(argument)
    else:
        yield from _nonfinite(argument, judged.value)


def _refused(argument: Argument, problem: Problem) -> Finding:
    name = argument.dest
    suggestions = () if name in SECRET_ARGUMENTS else problem.suggestions  # findings are shown and kept
    fixes = [
        Fix(
            id=f"suggestion-{number}",
            label=_label(name, meant),
            changes={name: meant},
            safe=problem.certain and number == 1,
        )
        for number, meant in enumerate(suggestions, start=1)
    ]
    if None not in suggestions:
        fixes.append(_remove(name, safe=False))
    return Finding(
        id=_IDS[problem.kind],
        severity="stop",
        title=problem.sentence,
        detail=_("The trainer would refuse the whole command line and end at once."),
        arguments=(name,),
        where=name,
        fixes=tuple(fixes),
        sources=(*_SOURCES.get(problem.kind, ()), "trainer: argparse"),
    )


def _empty(argument: Argument) -> Finding:
    name = argument.dest
    return Finding(
        id="empty-arg",
        severity="warning",
        title=_("{name} is empty.").format(name=name),
        detail=_("An empty text is not the same as leaving the argument out: the trainer would use it."),
        arguments=(name,),
        where=name,
        fixes=(_remove(name, safe=True),),
        sources=("ENC-07",),
    )


def _nonfinite(argument: Argument, value: Any) -> Iterator[Finding]:
    numbers = [n for n in (value if isinstance(value, list) else [value]) if isinstance(n, float)]
    if all(map(math.isfinite, numbers)):
        return
    name = argument.dest
    nan = any(map(math.isnan, numbers))
    yield Finding(
        id="nonfinite-value",
        severity="stop" if nan else "danger",
        title=_("{name} is not a finite number.").format(name=name),
        detail=_("The trainer accepts it and would compute with it."),
        arguments=(name,),
        where=name,
        fixes=(_remove(name, safe=False),),
        sources=("trainer: argparse",),
    )


def _missing(arguments: Mapping[str, Any], script: ScriptArguments) -> Iterator[Finding]:
    for name, argument in script.arguments.items():
        if argument.required and arguments.get(name) is None:
            yield Finding(
                id="arg-missing",
                severity="stop",
                title=_("{script} insists on {name}.").format(script=script.name, name=name),
                arguments=(name,),
                where=name,
                sources=("trainer: argparse",),
            )


def _remove(name: str, *, safe: bool) -> Fix:
    return Fix(id="remove", label=_("leave {name} out").format(name=name), changes={name: None}, safe=safe)


def _label(name: str, value: Any) -> str:
    if value is None:
        return _("leave {name} out").format(name=name)
    if isinstance(value, bool):
        return (_("switch {name} on") if value else _("switch {name} off")).format(name=name)
    return _("set {name} to {value}").format(name=name, value=value)
