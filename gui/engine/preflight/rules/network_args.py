"""Rules about ``network_args``: each module reads its own keys, and passes over all others in silence.

The keys are data (``resources/network_modules.yaml``). Source: trainer-facts 1.9, 1.14.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from gui.engine.findings import Finding, Fix, Severity
from gui.engine.plan.network_modules import KeyType, NetworkKey, NetworkModule, network_modules
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.rules.networks import fitting_module
from gui.engine.preflight.view import View
from gui.engine.texts import _

CURVES = frozenset({"cosine", "sine", "linear", "reverse_linear", "zeros"})
"""Curves of ``down_lr_weight`` and ``up_lr_weight``, each with ``+base`` if wanted (lora.py:598)."""


@dataclass(frozen=True)
class Fault:
    """What is wrong with one value.

    Attributes:
        severity: ``stop`` where the trainer fails, ``warning`` where it does something else in silence.
        detail: What it would do.
        mended: The value that was meant; None leaves the key out.
        sure: Whether ``mended`` is surely what was meant.
    """

    severity: Severity
    detail: str
    mended: str | None = None
    sure: bool = False


def _number(text: str, *, whole: bool) -> bool:
    try:
        int(text) if whole else float(text)
    except ValueError:
        return False
    return True


def _unreadable(detail: str) -> Fault:
    return Fault("stop", detail)


def _single(spec: NetworkKey, text: str, _sdxl: bool) -> Fault | None:
    whole = spec.type == "whole"
    if _number(text, whole=whole):
        return None
    wanted = _("It must be a whole number.") if whole else _("It must be a number.")
    rounded = whole and _number(text, whole=False) and float(text).is_integer()
    return Fault("stop", wanted, str(int(float(text))) if rounded else None, sure=rounded)


def _list(spec: NetworkKey, text: str, sdxl: bool) -> Fault | None:
    bare = text.strip()
    if "all" in spec.counts and bare.startswith("[") and bare.endswith("]"):
        bare = bare[1:-1]
    parts = bare.split(",")
    count = spec.count(sdxl=sdxl)
    if not all(_number(part, whole=spec.type == "wholes") for part in parts):
        return _unreadable(_("It must be numbers with commas between."))
    if count is not None and len(parts) != count:
        return _unreadable(
            _("It must have {wanted} values, not {count}.").format(wanted=count, count=len(parts))
        )
    return None


def _weights(spec: NetworkKey, text: str, sdxl: bool) -> Fault | None:
    count = spec.count(sdxl=sdxl) or 0
    if spec.type == "curve" and "," not in text:
        name, plus, base = text.partition("+")
        if name in CURVES and (not plus or _number(base, whole=False)):
            return None
        detail = _("It is neither {count} numbers nor one of the curves {curves}, and counts as 1.")
        return Fault("warning", detail.format(count=count, curves=", ".join(sorted(CURVES))))
    parts = text.split(",")
    if not all(_number(part or "0", whole=False) for part in parts):
        return _unreadable(_("It must be numbers with commas between."))
    if len(parts) > count:
        detail = _("Only {count} values are used, and a longer list fails where the other one is missing.")
        fails = spec.type == "curve"
        return Fault("stop" if fails else "warning", detail.format(count=count), ",".join(parts[:count]))
    if len(parts) < count:
        return Fault(
            "warning", _("It needs {count} values; what is missing counts as 1.").format(count=count)
        )
    return None


def _true_or_false(spec: NetworkKey, text: str, _sdxl: bool) -> Fault | None:
    said = text.strip().lower()
    if spec.type == "always-true":
        if said not in ("false", "0", "no", "none", "off"):
            return None
        return Fault(
            "stop", _("Every text counts as true here, also this one; leave the key out."), sure=True
        )
    readable = said in ("true", "false") if spec.type == "any-case-true" else text in ("True", "False")
    if readable:
        return None
    on = said in ("true", "1", "yes", "on") and spec.type != "never-True"
    meant = "True" if on else "False"
    return Fault("warning", _("It counts as false: only True means true."), meant, sure=True)


def _never(spec: NetworkKey, text: str, sdxl: bool) -> Fault | None:
    if text == "True":
        return Fault(
            "stop",
            _("The network module fails with it when it is made, or at the first save; leave it out."),
            sure=True,
        )
    return _true_or_false(spec, text, sdxl)


def _blocks(spec: NetworkKey, text: str, _sdxl: bool) -> Fault | None:
    if text in ("all", "none", ""):
        return None
    most = (spec.blocks or 1) - 1
    fault = _unreadable(_("It must be all, none, or blocks from 0 to {most}: 0,2-5.").format(most=most))
    for part in text.split(","):
        ends = [end.strip() for end in part.split("-")]
        if len(ends) > 2 or not all(_number(end, whole=True) for end in ends):
            return fault
        first, last = int(ends[0]), int(ends[-1])
        if not 0 <= first <= last <= most:
            return fault
    return None


def _choice(spec: NetworkKey, text: str, _sdxl: bool) -> Fault | None:
    if text in spec.choices:
        return None
    known = ", ".join(spec.choices)
    near = difflib.get_close_matches(text.strip().lower(), spec.choices, n=1)
    return Fault(
        "stop",
        _("It must be one of {choices}.").format(choices=known),
        near[0] if near else None,
        sure=bool(near) and near[0] == text.strip().lower(),
    )


def _pairs(spec: NetworkKey, text: str, _sdxl: bool) -> Fault | None:
    for pair in filter(None, (part.strip() for part in text.split(","))):
        _pattern, equals, value = pair.partition("=")
        if not equals or not _number(value.strip(), whole=spec.type == "pairs-whole"):
            return Fault(
                "warning",
                _(
                    "“{pair}” is not pattern=value and is passed over. Patterns may hold neither , nor =."
                ).format(pair=pair),
            )
    return None


def _patterns(_spec: NetworkKey, text: str, _sdxl: bool) -> Fault | None:
    try:
        read = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return _unreadable(_("It must be a Python list of texts: ['pattern', 'pattern']."))
    for pattern in read if isinstance(read, list) else [read]:
        try:
            re.compile(pattern)
        except (re.error, TypeError):
            return Fault(
                "warning", _("“{pattern}” is no pattern and is passed over.").format(pattern=pattern)
            )
    return None


READERS: Mapping[KeyType, Callable[[NetworkKey, str, bool], Fault | None]] = {
    "whole": _single,
    "number": _single,
    "wholes": _list,
    "numbers": _list,
    "weights": _weights,
    "curve": _weights,
    "only-True": _true_or_false,
    "never-True": _never,
    "any-case-true": _true_or_false,
    "always-true": _true_or_false,
    "blocks": _blocks,
    "choice": _choice,
    "pairs-whole": _pairs,
    "pairs-number": _pairs,
    "patterns": _patterns,
}


def check_net_args(view: View) -> Iterator[Finding]:
    """Items without ``=`` fail; misspelt keys are passed over; values are read in each key's own way."""
    if not view.trains_network:
        return
    words = view.words("network_args")
    module = network_modules().get(fitting_module(view))
    seen: set[str] = set()
    for place, word in enumerate(words):
        key, equals, value = word.partition("=")
        others = [other for index, other in enumerate(words) if index != place]
        where = f"network_args.{key if key not in seen else place}"
        seen.add(key)
        if not equals:
            detail = _("Each item is key=value; the trainer stops on anything else.")
            yield _finding(word, where, Fault("stop", detail), others, module)
        elif module is not None and key not in module.keys:
            yield _unknown(key, value, where, others, module)
        elif module is not None:
            spec = module.keys[key]
            fault = READERS[spec.type](spec, value, view.script.startswith("sdxl_"))
            if fault is not None:
                yield _finding(word, where, fault, others, module)


def _finding(word: str, where: str, fault: Fault, others: list[str], module: NetworkModule | None) -> Finding:
    key = word.partition("=")[0]
    fixes: list[Fix] = []
    if fault.mended is not None:
        meant = f"{key}={fault.mended}"
        label = _("write {word}").format(word=meant)
        fixes.append(write({"network_args": [*others, meant]}, label, identity="mended", safe=fault.sure))
    drop = fault.sure and fault.mended is None
    fixes.append(_without(word, others, safe=drop))
    return Finding(
        id="net-args",
        severity=fault.severity,
        title=_("network_args: {word} is not read as it is meant.").format(word=word),
        detail=fault.detail,
        arguments=("network_args", "network_module"),
        where=where,
        fixes=tuple(fixes),
        sources=(module.sources if module else ()) or ("trainer: train_network.py:666-668",),
    )


def _without(word: str, others: list[str], *, safe: bool) -> Fix:
    label = _("leave {word} out").format(word=word)
    return write({"network_args": others or None}, label, identity="leave-out", safe=safe)


def _unknown(key: str, value: str, where: str, others: list[str], module: NetworkModule) -> Finding:
    near = difflib.get_close_matches(key, module.keys, n=1, cutoff=0.75)
    rename = [
        write(
            {"network_args": [*others, f"{name}={value}"]},
            _("call it {name}").format(name=name),
            identity=f"rename-to-{name}",
        )
        for name in near
        if not any(other.startswith(f"{name}=") for other in others)
    ]
    return Finding(
        id="net-args",
        severity="warning",
        title=_("The network module has no setting “{key}” and passes over it.").format(key=key),
        detail=_("It knows {keys}.").format(keys=", ".join(module.keys)),
        arguments=("network_args", "network_module"),
        where=where,
        fixes=(*rename, _without(f"{key}={value}", others, safe=False)),
        sources=module.sources,
    )


def check_ggpo(view: View) -> Iterator[Finding]:
    """The two figures of GGPO work only together (lora_flux.py:565-572)."""
    pairs = view.pairs("network_args")
    alone = {"ggpo_beta", "ggpo_sigma"} & pairs.keys()
    if len(alone) != 1:
        return
    (name,) = alone
    kept = [word for word in view.words("network_args") if not word.startswith(f"{name}=")]
    yield Finding(
        id="ggpo",
        severity="warning",
        title=_("{name} does nothing alone.").format(name=name),
        detail=_("GGPO needs both ggpo_beta and ggpo_sigma."),
        arguments=("network_args",),
        fixes=(_without(name, kept, safe=True),),
        sources=("trainer: lora_flux.py:565-572",),
    )


RULES: tuple[Rule, ...] = (
    Rule("net-args", check_net_args, ("CONF-08", "trainer: lora.py:389"), lambda: _("network_args")),
    Rule("ggpo", check_ggpo, ("trainer: lora_flux.py:565",), lambda: _("Both figures of GGPO")),
)
