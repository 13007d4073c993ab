"""Rules about values of the plan that resuming makes void, since the state brings its own back.

Loading an optimizer's state restores its parameter groups whole, with their rates and their settings, and
loading a schedule its base rates (torch ``Optimizer.load_state_dict``, ``LRScheduler.load_state_dict``).
Source: trainer-facts 2.3 (train_util.py:4777); accelerate 1.6, ``checkpointing.py`` 236-283.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from gui.engine.findings import Finding, Fix
from gui.engine.preflight.file_facts import StateFact
from gui.engine.preflight.resume_outlook import plan_is_lengthless, processes_of, resumed_state
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import write
from gui.engine.preflight.rules.learning_rates import model_rate, trains_text
from gui.engine.preflight.rules.resume_fixes import from_weights, only_needed, resume_finding
from gui.engine.preflight.view import View, as_number
from gui.engine.texts import _, ngettext

FULL_SHARE = 0.9
"""So much of its moves a schedule has made at least: fp16's scaler drops a step now and then."""

_SETTING = re.compile(r"(\w+)=((?:\([^)]*\)|\[[^\]]*\]|[^,()\[\]])*)")


def check_resume_rate(view: View) -> Iterator[Finding]:
    """A new learning rate takes no effect after resuming: the state brings the old one (S7)."""
    state = resumed_state(view)
    if state is None or not state.rates or _has_more_rates(view):
        return
    new = [rate for rate in _planned(view) if not any(math.isclose(rate, old) for old in state.rates)]
    if not new:
        return
    yield resume_finding(
        "resume-rate",
        "warning",
        _("The learning rate {planned} takes no effect: the state brings {saved} back.").format(
            planned=_listed(new), saved=_listed(state.rates)
        ),
        _(
            "Resuming restores the optimizer with its rates. To train at another rate begin anew with the "
            "saved weights."
        ),
        (*from_weights(view, state), *_as_saved(view, state)),
        "S7",
        "trainer: train_util.py:4777",
    )


def _has_more_rates(view: View) -> bool:
    """Whether the network gives parts of itself rates of their own, so that groups cannot be told apart."""
    return any("lr" in name for name in view.pairs("network_args")) or not view.trains_network


def _planned(view: View) -> list[float]:
    """Return the rates that the plan asks for."""
    asked = [model_rate(view)[1]] if not view.flag("network_train_text_encoder_only") else []
    if trains_text(view):
        own = [as_number(word) for word in view.words("text_encoder_lr")]
        asked += own or [view.number("learning_rate")]
    return list(dict.fromkeys(rate for rate in asked if rate))


def _listed(rates: list[float] | tuple[float, ...]) -> str:
    return ", ".join(f"{rate:g}" for rate in dict.fromkeys(rates))


def _as_saved(view: View, state: StateFact) -> tuple[Fix, ...]:
    """Return the fix that says what will be true: the text encoder's group comes first, the model's last."""
    text, model = state.rates[0], state.rates[-1]
    name = model_rate(view)[0]
    changes: dict[str, Any] = {name: model}
    if trains_text(view):
        changes["text_encoder_lr"] = text if len(state.rates) > 1 else model
    label = _("write {rates} into the plan, as it will be").format(rates=_listed(state.rates))
    return (write(changes, label, identity="as-saved", safe=True),)


def check_resume_optimizer(view: View) -> Iterator[Finding]:
    """Settings of the optimizer come back with its state as well (S7)."""
    state = resumed_state(view)
    if state is None or state.optimizer is None or not view.trains_network:
        return
    saved, planned = _settings(state.optimizer), view.pairs("optimizer_args")
    differs = [name for name in (saved | planned) if _plain(saved.get(name)) != _plain(planned.get(name))]
    if not differs:
        return
    back = [f"{name}={value.strip()}" for name, value in saved.items()] or None
    yield resume_finding(
        "resume-optimizer",
        "warning",
        _("optimizer_args {names} take no effect: the state brings its own back.").format(
            names=", ".join(differs)
        ),
        _(
            "Resuming restores the optimizer with its settings. To train with others begin anew with the "
            "saved weights."
        ),
        (
            *from_weights(view, state),
            write(
                only_needed(view, {"optimizer_args": back}),
                _("take what the state was saved with"),
                identity="as-saved",
                safe=True,
            ),
        ),
        "S7",
        "trainer: train_util.py:4777",
    )


def _settings(told: str) -> dict[str, str]:
    """Return the settings in the trainer's words, such as ``torch.optim.adamw.AdamW(weight_decay=0.1)``."""
    inside = told.partition("(")[2].removesuffix(")")
    return dict(_SETTING.findall(inside))


def _plain(value: str | None) -> str | float | None:
    """Return a value so that the same one in other notation is the same."""
    if value is None:
        return None
    number = as_number(value.strip())
    return value.replace(" ", "") if number is None else number


def check_resume_precision(view: View) -> Iterator[Finding]:
    """fp16 needs the state of its scaler, which only a training in fp16 saves (accelerate)."""
    state = resumed_state(view)
    if state is None or not state.has_optimizer or state.has_scaler is not False:
        return
    if view.text("mixed_precision") != "fp16":
        return
    saved = state.precision if state.precision in ("bf16", "no") else "bf16"
    yield resume_finding(
        "resume-precision",
        "stop",
        _("The state was not saved with fp16: it holds no scaler, and loading it fails."),
        _("The trainer stops after caching: scaler.pt is not found."),
        (
            write(
                {"mixed_precision": saved},
                _("go on in {precision}").format(precision=saved),
                identity="as-saved",
            ),
            *from_weights(view, state),
        ),
        "S7",
        "trainer: train_util.py:4777",
    )


def check_resume_processes(view: View) -> Iterator[Finding]:
    """The schedule moves once a process at each step: another number shifts it (train_util.py:5274).

    That fewer processes go on cannot be told: a state of a training that was resumed looks the same.
    """
    state, planned = resumed_state(view), processes_of(view)
    if state is None or not state.step or state.scheduled is None or plan_is_lengthless(view):
        return
    if state.scheduled >= FULL_SHARE * planned * state.step:
        return
    saved = max(1, round(state.scheduled / state.step))
    yield resume_finding(
        "resume-processes",
        "warning",
        _("The state was saved by {saved} and would go on with {planned} processes.").format(
            saved=saved, planned=planned
        ),
        _(
            "The schedule moves once for each process at each step: it is out of step, and the learning rate "
            "jumps back."
        ),
        (
            write(
                {"launch.num_processes": saved},
                ngettext("go on with {count} process", "go on with {count} processes", saved).format(
                    count=saved
                ),
                identity="as-saved",
            ),
            *from_weights(view, state),
        ),
        "S7",
        "trainer: train_util.py:5274",
    )


RULES: tuple[Rule, ...] = (
    Rule("resume-rate", check_resume_rate, ("S7",), lambda: _("A learning rate that resuming makes void")),
    Rule(
        "resume-optimizer",
        check_resume_optimizer,
        ("S7",),
        lambda: _("Optimizer settings that resuming makes void"),
    ),
    Rule("resume-precision", check_resume_precision, ("S7",), lambda: _("Resuming in another precision")),
    Rule("resume-processes", check_resume_processes, ("S7",), lambda: _("Resuming with other processes")),
)
