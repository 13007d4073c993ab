"""Rules about optimizers: contradictory flags, arguments that are not ``key=value``, rates.

Source: trainer-facts 1.9, 2.9, 2.10 and section 4 (train_util.py:4829-5134).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gui.engine.findings import Finding, Fix
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.view import View
from gui.engine.texts import _

PAIR_ARGUMENTS = ("optimizer_args", "lr_scheduler_args")


def check_old_flags(view: View) -> Iterator[Finding]:
    """Each of the old flags names an optimizer; two names are refused (train_util.py:4829-4842)."""
    old = [name for name in ("use_8bit_adam", "use_lion_optimizer") if view.flag(name)]
    named = view.text("optimizer_type")
    if not old:
        return
    clash = len(old) == 2 or named is not None
    kept = named or ("AdamW8bit" if old[0] == "use_8bit_adam" else "Lion")
    changes: dict[str, object] = dict.fromkeys(old)
    if named is None:
        changes["optimizer_type"] = kept
    yield Finding(
        id="old-flags",
        severity="stop" if clash else "hint",
        title=(
            _("The optimizer is named twice.")
            if clash
            else _("{flag} is an old spelling of optimizer_type.").format(flag=old[0])
        ),
        detail=(
            _("The trainer refuses {flags} beside another optimizer, after loading and caching.")
            if clash
            else _("{flags} still works; optimizer_type {kept} says the same and stays in newer versions.")
        ).format(flags=", ".join(old), kept=kept),
        arguments=(*old, "optimizer_type"),
        fixes=(
            Fix(
                id="use-type",
                label=_("use {kept} only").format(kept=kept),
                changes=changes,
                safe=not clash or named is not None,
            ),
        ),
        sources=("CONF-13", "NAN-22", "trainer: train_util.py:4829-4842"),
    )


def _faults(word: str) -> str | None:
    """Return what is wrong with one ``key=value``: ``comma``, ``pair`` or ``literal``."""
    if word.rstrip().endswith(","):
        return "comma"
    key, equals, value = word.partition("=")
    if not equals or not key.strip() or "=" in value:
        return "pair"
    try:
        ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return "literal"
    return None


def _mended(word: str) -> list[str]:
    """Return the words that were meant, as far as that is plain; the word itself otherwise."""
    parts = (
        [part.strip().strip(",") for part in word.split()]
        if word.count("=") > 1
        else [word.strip().rstrip(", ")]
    )
    return [_literal(part) for part in parts if part]


def _literal(word: str) -> str:
    key, equals, value = word.partition("=")
    if not equals or _faults(word) != "literal":
        return word
    lowered = value.strip().lower()
    if lowered in ("true", "false", "none"):
        return f"{key}={lowered.capitalize()}"
    return f'{key}="{value.strip()}"' if value.strip().replace("_", "").isalnum() else word


def check_opt_args(view: View) -> Iterator[Finding]:
    """Items must be ``key=value`` with one ``=`` and a Python literal (train_util.py:4859, 5289)."""
    for name in PAIR_ARGUMENTS:
        words = view.words(name)
        wrong = [word for word in words if _faults(word)]
        if not wrong:
            continue
        mended = [part for word in words for part in (_mended(word) if _faults(word) else [word])]
        fixes = (
            (
                Fix(
                    id="tidy",
                    label=_("write {words}").format(words=" ".join(mended)),
                    changes={name: mended},
                    safe=True,
                ),
            )
            if not any(map(_faults, mended))
            else (
                Fix(
                    id="remove",
                    label=_("leave {name} out").format(name=name),
                    changes={name: None},
                    safe=False,
                ),
            )
        )
        yield Finding(
            id="opt-args",
            severity="stop",
            title=_("{name}: {word} is not what the trainer can read.").format(name=name, word=wrong[0]),
            detail=_(
                "Each item is key=value without a comma after it, the value as in Python: weight_decay=0.01 "
                "betas=0.9,0.99 decouple=True. The trainer stops on anything else, after loading and caching."
            ),
            arguments=(name,),
            where=name,
            fixes=fixes,
            sources=("CONF-07", "CONF-09", "CLI-07", "OOM-05", "trainer: train_util.py:4859, 5289"),
        )


def check_fused(view: View) -> Iterator[Finding]:
    """``fused_backward_pass`` insists on Adafactor and no accumulation (train_util.py:4848-4854)."""
    if not view.flag("fused_backward_pass") or not view.knows("fused_backward_pass"):
        return
    accumulates = (view.number("gradient_accumulation_steps") or 1) > 1
    if view.optimizer == "adafactor" and not accumulates:
        return
    yield Finding(
        id="fused",
        severity="stop",
        title=_("fused_backward_pass works only with Adafactor and without gradient accumulation."),
        detail=_("The trainer checks it in every script and stops, after loading and caching."),
        arguments=("fused_backward_pass", "optimizer_type", "gradient_accumulation_steps"),
        fixes=(
            Fix(
                id="no-fused",
                label=_("leave fused_backward_pass out"),
                changes={"fused_backward_pass": None},
                safe="network" in view.script,
            ),
            Fix(
                id="adafactor",
                label=_("use Adafactor without accumulation"),
                changes={
                    "optimizer_type": "Adafactor",
                    "use_8bit_adam": None,
                    "use_lion_optimizer": None,
                    "gradient_accumulation_steps": None,
                },
                safe=False,
            ),
        ),
        sources=("CONF-16", "trainer: train_util.py:4848-4854"),
    )


def check_no_params(view: View) -> Iterator[Finding]:
    """Nothing to train gives ``optimizer got an empty parameter list`` (CONF-14)."""
    only_unet, only_text = view.flag("network_train_unet_only"), view.flag("network_train_text_encoder_only")
    if only_unet and only_text and view.knows("network_train_text_encoder_only"):
        yield _no_params(
            _("“Only the U-Net” and “only the text encoder” together leave nothing to train."),
            ("network_train_unet_only", "network_train_text_encoder_only"),
            Fix(
                id="unet-only",
                label=_("train the U-Net only"),
                changes={"network_train_text_encoder_only": None},
                safe=True,
            ),
        )
    if view.script.endswith("train_network.py") and _all_rates_zero(view):
        yield _no_params(
            _("All learning rates are 0: nothing is trained."),
            ("learning_rate", "unet_lr", "text_encoder_lr"),
            Fix(
                id="rates",
                label=_("set the learning rate to 1e-4"),
                changes={"learning_rate": 1e-4, "unet_lr": None, "text_encoder_lr": None},
                safe=False,
            ),
        )


def _all_rates_zero(view: View) -> bool:
    base = view.number("learning_rate")
    unet = view.number("unet_lr") if view.given("unet_lr") else base
    words = view.words("text_encoder_lr")
    text = [float(word) for word in words if _is_number(word)] or [base or 0.0]
    rates: list[float | None] = []
    if not view.flag("network_train_text_encoder_only") or view.flag("network_train_unet_only"):
        rates.append(unet)
    if not view.flag("network_train_unet_only"):
        rates.extend(text)
    return bool(rates) and all(rate == 0 for rate in rates)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _no_params(title: str, arguments: tuple[str, ...], fix: Fix) -> Finding:
    return Finding(
        id="no-params",
        severity="stop",
        title=title,
        detail=_(
            "The trainer stops with “optimizer got an empty parameter list”, after loading and caching."
        ),
        arguments=arguments,
        where=arguments[0],
        fixes=(fix,),
        sources=("CONF-14", "trainer: train_network.py:707, lora.py:1188"),
    )


def check_prodigy_lr(view: View) -> Iterator[Finding]:
    """Optimizers that find their own rate want 1.0; the trainer only warns (train_util.py:4990)."""
    own = view.optimizer
    if not (own.startswith(("dadapt", "prodigy")) or "prodigy" in own.rsplit(".", 1)[-1]):
        return
    names = ("learning_rate", "unet_lr", "text_encoder_lr")
    low = [name for name in names if (view.given(name) or name == "learning_rate") and _below(view, name)]
    if low:
        yield Finding(
            id="prodigy-lr",
            severity="warning",
            title=_("{optimizer} finds the rate itself and wants a learning rate of 1.").format(
                optimizer=view.text("optimizer_type") or own
            ),
            detail=_("The rate multiplies what it finds: with a small one almost nothing is learnt."),
            arguments=tuple(low),
            fixes=(
                Fix(
                    id="one",
                    label=_("set the learning rates to 1"),
                    changes=dict.fromkeys(low, 1.0),
                    safe=True,
                ),
            ),
            sources=("CONF-17", "trainer: train_util.py:4990"),
        )


def _below(view: View, name: str) -> bool:
    rates = [float(word) for word in view.words(name) if _is_number(word)]
    return any(0 < rate <= 0.1 for rate in rates)


RULES: tuple[Rule, ...] = (
    Rule("old-flags", check_old_flags, ("CONF-13",), lambda: _("Old spellings of the optimizer")),
    Rule("opt-args", check_opt_args, ("CONF-07", "CONF-09"), lambda: _("Optimizer and scheduler arguments")),
    Rule("fused", check_fused, ("CONF-16",), lambda: _("fused_backward_pass and what it needs")),
    Rule("no-params", check_no_params, ("CONF-14",), lambda: _("Something is left to train")),
    Rule("prodigy-lr", check_prodigy_lr, ("CONF-17",), lambda: _("Rates of optimizers that find their own")),
)
