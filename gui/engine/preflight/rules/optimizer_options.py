"""Rules about what goes with an optimizer and what it ignores: its own arguments, rates, schedules.

Source: CONF-08; trainer-facts 1.9, 2.10, section 4 (train_util.py:4859-5134, 5047-5081, 5240, 5270, 5300).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from gui.engine.findings import Finding, Fix, Severity
from gui.engine.plan.optimizers import optimizer_keys
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import leave_out, write
from gui.engine.preflight.rules.schedules import relative_step
from gui.engine.preflight.view import View
from gui.engine.texts import _

FIXED_RATE = ("relative_step=False", "scale_parameter=False", "warmup_init=False")
"""With these Adafactor takes the plan's rate (docs/flux_train_network.md:302)."""

SCHEDULES = ("lr_scheduler", "lr_warmup_steps", "lr_decay_steps", "lr_scheduler_num_cycles")

TORCH_SCHEDULES: dict[str, str | None] = {
    **dict.fromkeys(("ConstantLR", "LinearLR", "PolynomialLR")),
    "CosineAnnealingLR": "T_max",
    "CosineAnnealingWarmRestarts": "T_0",
    "CyclicLR": "base_lr",
    "ExponentialLR": "gamma",
    "MultiStepLR": "milestones",
    "OneCycleLR": "max_lr",
    "StepLR": "step_size",
}
"""Classes of ``torch.optim.lr_scheduler`` that can be made of literals, and what they cannot do without."""


def check_opt_keys(view: View) -> Iterator[Finding]:
    """An argument of another optimizer is refused by this one (CONF-08)."""
    known = optimizer_keys().get(view.optimizer)
    words = view.words("optimizer_args")
    if known is None:
        return
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key in known or not key.isidentifier():
            continue  # what is no pair at all is another rule's
        others = [other for other in words if other != word]
        near = difflib.get_close_matches(key, known, n=1, cutoff=0.75) if key != "lr" else []
        rename = [
            write({"optimizer_args": [*others, f"{name}={value}"]}, _("call it {name}").format(name=name))
            for name in near
        ]
        yield Finding(
            id="opt-keys",
            severity="stop",
            title=_("{optimizer} takes no “{key}”.").format(
                optimizer=view.text("optimizer_type") or view.optimizer, key=key
            ),
            detail=(
                _("The learning rate is an argument of its own.")
                if key == "lr"
                else _("The trainer stops after loading and caching. It takes {keys}.").format(
                    keys=", ".join(known)
                )
            ),
            arguments=("optimizer_args", "optimizer_type"),
            where=f"optimizer_args.{key}",
            fixes=(
                *rename,
                write(
                    {"optimizer_args": others or None},
                    _("leave {word} out").format(word=word),
                    identity="leave-out",
                    safe=not near,
                ),
            ),
            sources=("CONF-08", "trainer: train_util.py:4859-5134"),
        )


def check_adafactor_rate(view: View) -> Iterator[Finding]:
    """Adafactor finds its own rate unless told not to, and drops the plan's (train_util.py:5047-5081)."""
    if not relative_step(view):
        return
    dropped = [
        name
        for name in ("unet_lr", "text_encoder_lr", "lr_scheduler")
        if view.given(name) and view.value(name) not in ("constant", "adafactor")
    ]
    pairs = view.pairs("optimizer_args")
    forced = pairs.get("relative_step", "").strip() == "False"
    if not dropped and not forced:
        return
    kept = [w for w in view.words("optimizer_args") if w.partition("=")[0] not in _keys(FIXED_RATE)]
    changes: dict[str, object] = {"optimizer_args": [*kept, *FIXED_RATE]}
    if view.text("lr_scheduler") == "adafactor":
        changes["lr_scheduler"] = None
    yield Finding(
        id="adafactor-rate",
        severity="warning",
        title=(
            _("warmup_init=True switches Adafactor’s own rate on again.")
            if forced
            else _("Adafactor finds its own rate and ignores {names}.").format(names=", ".join(dropped))
        ),
        detail=_("Only with relative_step=False does it take the plan’s rates and schedule."),
        arguments=("optimizer_args", *dropped),
        fixes=(
            write(changes, _("let it take the plan’s rate"), identity="fixed-rate"),
            *((leave_out(*dropped, identity="own-rate"),) if not forced else ()),
        ),
        sources=("trainer: train_util.py:5047-5081, docs/flux_train_network.md:302",),
    )


def _keys(words: tuple[str, ...]) -> set[str]:
    return {word.partition("=")[0] for word in words}


def check_schedule_free(view: View) -> Iterator[Finding]:
    """A schedule-free optimizer has no schedule; the trainer knows it by its name (train_util.py:5240)."""
    name = view.optimizer
    if "schedulefree" not in name:
        return
    if not name.endswith("schedulefree"):
        yield _schedule_free(
            "danger",
            _("The trainer does not see that {optimizer} is schedule-free.").format(
                optimizer=view.text("optimizer_type")
            ),
            _("It never switches it between training and saving: saved weights are not the averaged ones."),
            ("optimizer_type",),
            write(
                {"optimizer_type": "AdamWScheduleFree", "optimizer_args": None},
                _("use AdamWScheduleFree"),
                identity="known",
            ),
        )
        return
    ignored = [n for n in SCHEDULES if view.given(n) and view.value(n) not in ("constant", 0, "0")]
    if ignored:
        yield _schedule_free(
            "hint",
            _("{optimizer} ignores {names}.").format(
                optimizer=view.text("optimizer_type"), names=", ".join(ignored)
            ),
            _("It needs no schedule; a warm-up is an argument of its own, warmup_steps."),
            tuple(ignored),
            leave_out(*ignored, safe=True),
        )


def _schedule_free(
    severity: Severity, title: str, detail: str, arguments: tuple[str, ...], fix: Fix
) -> Finding:
    return Finding(
        id="schedule-free",
        severity=severity,
        title=title,
        detail=detail,
        arguments=arguments,
        where="schedule-free",
        fixes=(fix,),
        sources=("trainer: train_util.py:5240, 5270",),
    )


def check_scheduler_type(view: View) -> Iterator[Finding]:
    """``lr_scheduler_type`` is a class of torch, and needs its own arguments (train_util.py:5300-5311)."""
    name = view.text("lr_scheduler_type")
    if name is None or "." in name or view.optimizer.endswith("schedulefree"):
        return
    missing = TORCH_SCHEDULES.get(name)
    if name not in TORCH_SCHEDULES:
        near = difflib.get_close_matches(name, TORCH_SCHEDULES, n=1)
        rename = (
            write({"lr_scheduler_type": near[0]}, _("write {name}").format(name=near[0])) if near else None
        )
        title = _("The trainer can make no schedule called {name} of torch.").format(name=name)
        fixes = (
            *((rename,) if rename and TORCH_SCHEDULES[near[0]] is None else ()),
            leave_out("lr_scheduler_type"),
        )
    elif missing is not None and missing not in view.pairs("lr_scheduler_args"):
        title = _("{name} needs {key} among lr_scheduler_args.").format(name=name, key=missing)
        fixes = (leave_out("lr_scheduler_type"),)
    else:
        return
    yield Finding(
        id="scheduler-type",
        severity="stop",
        title=title,
        detail=_("The trainer stops when it makes the schedule, after loading and caching."),
        arguments=("lr_scheduler_type", "lr_scheduler_args"),
        fixes=fixes,
        sources=("trainer: train_util.py:5300-5311",),
    )


RULES: tuple[Rule, ...] = (
    Rule("opt-keys", check_opt_keys, ("CONF-08",), lambda: _("Arguments of another optimizer")),
    Rule(
        "adafactor-rate",
        check_adafactor_rate,
        ("trainer: train_util.py:5047",),
        lambda: _("Rates that Adafactor ignores"),
    ),
    Rule(
        "schedule-free",
        check_schedule_free,
        ("trainer: train_util.py:5270",),
        lambda: _("Schedules with schedule-free optimizers"),
    ),
    Rule(
        "scheduler-type",
        check_scheduler_type,
        ("trainer: train_util.py:5300",),
        lambda: _("Schedules of torch by name"),
    ),
)
