"""Rules about schedulers, step counts and intervals.

Source: trainer-facts 1.9, 2.1, 2.3, 4 (train_util.py:3664, 3952, 5270-5331; train_network.py:799-805).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gui.engine.findings import Finding, Fix
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import leave_out, write
from gui.engine.preflight.steps import SENSELESS, forecast_steps
from gui.engine.preflight.view import View, as_number
from gui.engine.texts import _

ZERO_INTERVALS = (
    "save_every_n_steps",
    "save_every_n_epochs",
    "validate_every_n_steps",
    "validate_every_n_epochs",
    "gradient_accumulation_steps",
)
"""Intervals by which the trainer divides (train_network.py:978, 1497, 1536, 1610, 1694)."""

USUAL = {"max_train_epochs": 10, "max_train_steps": 1600}
"""Lengths to start from where the plan gives none that trains anything."""

UNUSABLE_SCHEDULERS = ("reduce_lr_on_plateau", "cosine_warmup_with_min_lr")
"""Names of the enumeration that get arguments which they do not take (train_util.py:5393)."""

SCHEDULERS = frozenset(
    {
        "constant",
        "constant_with_warmup",
        "linear",
        "cosine",
        "cosine_with_restarts",
        "polynomial",
        "inverse_sqrt",
        "cosine_with_min_lr",
        "warmup_stable_decay",
        "piecewise_constant",
        "adafactor",
        *UNUSABLE_SCHEDULERS,
    }
)
"""transformers 4.54.1 ``SchedulerType``, and the trainer's own ``adafactor``."""


SCHEDULER_ARGS: dict[str, tuple[str, ...]] = {
    "constant": (),
    "constant_with_warmup": (),
    "linear": (),
    "cosine": ("num_cycles",),
    "cosine_with_restarts": (),
    "polynomial": ("lr_end",),
    "inverse_sqrt": (),
    "cosine_with_min_lr": ("min_lr",),
    "warmup_stable_decay": ("warmup_type", "decay_type"),
    "piecewise_constant": ("step_rules",),
}
"""What ``lr_scheduler_args`` may say to each, beside ``last_epoch``: the rest the trainer gives itself
(train_util.py:5321-5391, transformers 4.54.1 optimization.py)."""


def relative_step(view: View) -> bool:
    """Return whether Adafactor finds its own rate: its default unless switched off.

    ``warmup_init=True`` forces it back on (train_util.py:5051).
    """
    pairs = view.pairs("optimizer_args")
    off = pairs.get("relative_step", "True").strip() == "False"
    return view.optimizer == "adafactor" and (not off or pairs.get("warmup_init", "").strip() == "True")


def _share(text: str) -> float | None:
    """Return a share as the trainer reads it: ``"10%"``, or a number below 1 (train_util.py:3664)."""
    number = as_number(text.removesuffix("%"))
    if number is None:
        return None
    return number / 100 if text.endswith("%") else number if number < 1 else None


def _is_no_step(view: View, warmup: Any) -> bool:
    """Return whether a warm-up given as a share is so short that it is none."""
    share = _share(str(warmup).strip())
    forecast = forecast_steps(view) if view.given("max_train_epochs") else None
    total = forecast.total_steps if forecast else view.number("max_train_steps")
    known = forecast is not None or not view.given("max_train_epochs")
    if share is None or total is None or total <= 0 or not known:
        return False
    return abs(share) * max(1, min(view.plan.launch.num_processes, SENSELESS)) < 1 / total


def check_warmup(view: View) -> Iterator[Finding]:
    """A constant rate, a torch scheduler and Adafactor's own take no warm-up (train_util.py:5294-5331)."""
    steps = view.value("lr_warmup_steps")
    if steps in (None, 0, "0", 0.0, "0%") or view.optimizer.endswith("schedulefree"):
        return
    if _is_no_step(view, steps):
        return
    scheduler = view.text("lr_scheduler") or "constant"
    own = relative_step(view)
    foreign = view.text("lr_scheduler_type")
    if not (own or foreign or scheduler in ("constant", "adafactor")):
        return
    drop = Fix(
        id="no-warmup", label=_("no warm-up"), changes={"lr_warmup_steps": None}, safe=own or bool(foreign)
    )
    with_warmup = Fix(
        id="constant-with-warmup",
        label=_("constant rate after a warm-up"),
        changes={"lr_scheduler": "constant_with_warmup"},
        safe=True,
    )
    name = _("Adafactor's own schedule") if own else foreign or scheduler
    yield Finding(
        id="warmup",
        severity="stop",
        title=_("The scheduler {name} takes no warm-up.").format(name=name),
        detail=_("The trainer stops with “does not require num_warmup_steps”, after loading and caching."),
        arguments=("lr_warmup_steps", "lr_scheduler"),
        fixes=(drop,) if own or foreign or scheduler == "adafactor" else (with_warmup, drop),
        sources=("CONF-05", "CLI-05", "N11", "trainer: train_util.py:5294-5331"),
    )


def check_sched_adafactor(view: View) -> Iterator[Finding]:
    """The scheduler ``adafactor`` goes only with Adafactor in relative steps (train_util.py:5313-5317)."""
    if view.text("lr_scheduler") != "adafactor" or relative_step(view):
        return
    scheduler = "constant_with_warmup" if view.given("lr_warmup_steps") else "constant"
    yield Finding(
        id="sched-adafactor",
        severity="stop",
        title=_("The scheduler adafactor works only with Adafactor in relative steps."),
        detail=_("The trainer stops after loading and caching."),
        arguments=("lr_scheduler", "optimizer_type", "optimizer_args"),
        fixes=(
            Fix(
                id="constant",
                label=_("use the scheduler {name}").format(name=scheduler),
                changes={"lr_scheduler": scheduler},
                safe=True,
            ),
        ),
        sources=("CONF-06", "trainer: train_util.py:5313-5317"),
    )


def check_scheduler_name(view: View) -> Iterator[Finding]:
    """The scheduler must be one that the trainer can make (train_util.py:5321-5393)."""
    name = view.text("lr_scheduler")
    if name is None or view.text("lr_scheduler_type"):
        return
    cosine = Fix(id="cosine", label=_("use cosine"), changes={"lr_scheduler": "cosine"}, safe=False)
    if name not in SCHEDULERS or name in UNUSABLE_SCHEDULERS:
        yield _scheduler(
            _("The trainer cannot make the scheduler {name}.").format(name=name), ("lr_scheduler",), cosine
        )
    elif name == "cosine_with_min_lr":
        by_ratio = view.given("lr_scheduler_min_lr_ratio")
        by_rate = "min_lr" in view.pairs("lr_scheduler_args")
        if by_ratio == by_rate:
            ratio = Fix(
                id="ratio",
                label=_("end at a tenth of the rate"),
                changes={"lr_scheduler_min_lr_ratio": 0.1, "lr_scheduler_args": None},
                safe=False,
            )
            title = _("cosine_with_min_lr needs lr_scheduler_min_lr_ratio, or min_lr=…, and not both.")
            yield _scheduler(title, ("lr_scheduler_min_lr_ratio", "lr_scheduler_args"), ratio)
    elif name == "piecewise_constant" and "step_rules" not in view.pairs("lr_scheduler_args"):
        title = _("piecewise_constant needs lr_scheduler_args step_rules='…'.")
        yield _scheduler(title, ("lr_scheduler_args", "lr_scheduler"), cosine)


def check_scheduler_args(view: View) -> Iterator[Finding]:
    """A scheduler takes no words that its function does not know (train_util.py:5330-5391)."""
    name = view.text("lr_scheduler") or "constant"
    takes = SCHEDULER_ARGS.get(name)
    if takes is None or view.text("lr_scheduler_type") or view.optimizer.endswith("schedulefree"):
        return
    pairs = view.pairs("lr_scheduler_args")
    wrong = [key for key in pairs if key not in takes and key != "last_epoch"]
    if not wrong or relative_step(view):
        return
    kept = [word for word in view.words("lr_scheduler_args") if word.partition("=")[0] not in wrong]
    yield Finding(
        id="scheduler-args",
        severity="stop",
        title=_("The scheduler {name} does not take {keys}.").format(name=name, keys=", ".join(wrong)),
        detail=_("The trainer stops with “unexpected keyword argument”, after loading and caching."),
        arguments=("lr_scheduler_args", "lr_scheduler"),
        fixes=(
            write(
                {"lr_scheduler_args": kept or None},
                _("leave {names} out").format(names=", ".join(wrong)),
                identity="leave-out",
                safe=True,
            ),
        ),
        sources=("trainer: train_util.py:5330-5391",),
    )


def _scheduler(title: str, arguments: tuple[str, ...], fix: Fix) -> Finding:
    return Finding(
        id="scheduler",
        severity="stop",
        title=title,
        detail=_("The trainer stops after loading and caching."),
        arguments=arguments,
        fixes=(fix,),
        sources=("trainer: train_util.py:5321-5393",),
    )


def check_steps_default(view: View) -> Iterator[Finding]:
    """Without steps and epochs the trainer trains 1600 steps (STEP-01)."""
    if view.given("max_train_steps") or view.given("max_train_epochs"):
        return
    epochs = view.plan.arguments.get("epoch") or view.plan.arguments.get("epochs")
    changes = {
        "max_train_epochs": epochs if isinstance(epochs, int) and epochs > 0 else USUAL["max_train_epochs"]
    }
    default = view.value("max_train_steps") or USUAL["max_train_steps"]
    yield Finding(
        id="steps-default",
        severity="stop",
        title=_("The plan does not say how long to train."),
        detail=_(
            "The trainer would take its default of {steps} steps, whatever the number of images."
        ).format(steps=default),
        arguments=("max_train_epochs", "max_train_steps"),
        fixes=(
            Fix(
                id="epochs",
                label=_("train {epochs} epochs").format(epochs=changes["max_train_epochs"]),
                changes=changes,
                safe=False,
            ),
            Fix(
                id="steps",
                label=_("train {steps} steps, and say so").format(steps=default),
                changes={"max_train_steps": default},
                safe=False,
            ),
        ),
        sources=("STEP-01", "T7", "trainer: train_util.py:3952"),
    )


def check_steps_both(view: View) -> Iterator[Finding]:
    """``max_train_epochs`` silently wins over ``max_train_steps`` (train_network.py:799)."""
    if view.given("max_train_steps") and view.given("max_train_epochs"):
        yield Finding(
            id="steps-both",
            severity="warning",
            title=_("Steps and epochs are both given: the trainer takes the epochs."),
            detail=_("max_train_steps {steps} would be ignored without a word that one notices.").format(
                steps=view.value("max_train_steps")
            ),
            arguments=("max_train_epochs", "max_train_steps"),
            fixes=(
                Fix(id="epochs", label=_("keep the epochs"), changes={"max_train_steps": None}, safe=True),
                Fix(id="steps", label=_("keep the steps"), changes={"max_train_epochs": None}, safe=False),
            ),
            sources=("STEP-02", "trainer: train_network.py:799-805"),
        )


def check_zero_interval(view: View) -> Iterator[Finding]:
    """The trainer divides by its intervals: 0 is no way to switch them off."""
    for name in ZERO_INTERVALS:
        if view.given(name) and view.number(name) == 0 and view.knows(name):
            yield Finding(
                id="zero-interval",
                severity="stop",
                title=_("{name} must not be 0.").format(name=name),
                detail=_("The trainer divides by it and stops; leave it out to switch it off."),
                arguments=(name,),
                where=name,
                fixes=(Fix(id="drop", label=_("leave it out"), changes={name: None}, safe=True),),
                sources=("trainer: train_network.py:978, 1497, 1536, 1610, 1694",),
            )


def check_positive_length(view: View) -> Iterator[Finding]:
    """A run of no steps trains nothing; negative numbers are not checked by the trainer."""
    for name in ("max_train_steps", "max_train_epochs"):
        number = view.number(name) if view.given(name) else None
        if number is not None and number <= 0:
            other = "max_train_epochs" if name == "max_train_steps" else "max_train_steps"
            drop = leave_out(name, identity="drop")
            usual = write(
                {name: USUAL[name]}, _("set {name} to {value}").format(name=name, value=USUAL[name])
            )
            yield Finding(
                id="no-steps",
                severity="stop",
                title=_("{name} {number:g} trains nothing.").format(name=name, number=number),
                detail=_("The trainer does not check it: it would end without a word, or with an error."),
                arguments=(name,),
                where=name,
                fixes=(drop,) if view.given(other) else (usual,),
                sources=("trainer: train_network.py:978-979",),
            )


def check_workers_persistent(view: View) -> Iterator[Finding]:
    """Persistent loader workers need at least one worker (train_network.py:778-787)."""
    none = view.given("max_data_loader_n_workers") and view.number("max_data_loader_n_workers") == 0
    if view.flag("persistent_data_loader_workers") and none:
        yield Finding(
            id="workers0",
            severity="stop",
            title=_("Persistent loader workers need at least one worker."),
            detail=_("With max_data_loader_n_workers 0 the trainer stops after loading and caching."),
            arguments=("persistent_data_loader_workers", "max_data_loader_n_workers"),
            fixes=(
                Fix(
                    id="not-persistent",
                    label=_("leave persistent_data_loader_workers out"),
                    changes={"persistent_data_loader_workers": None},
                    safe=True,
                ),
                Fix(
                    id="workers",
                    label=_("use 2 workers"),
                    changes={"max_data_loader_n_workers": 2},
                    safe=False,
                ),
            ),
            sources=("CONF-10", "trainer: train_network.py:778-787"),
        )


RULES: tuple[Rule, ...] = (
    Rule("warmup", check_warmup, ("CONF-05",), lambda: _("Warm-up with a scheduler that takes none")),
    Rule("sched-adafactor", check_sched_adafactor, ("CONF-06",), lambda: _("The scheduler adafactor")),
    Rule(
        "scheduler", check_scheduler_name, ("trainer: train_util.py:5321",), lambda: _("The scheduler exists")
    ),
    Rule(
        "scheduler-args",
        check_scheduler_args,
        ("trainer: train_util.py:5330",),
        lambda: _("What the scheduler is told"),
    ),
    Rule("steps-default", check_steps_default, ("STEP-01",), lambda: _("The plan says how long to train")),
    Rule("steps-both", check_steps_both, ("STEP-02",), lambda: _("Steps and epochs both given")),
    Rule(
        "zero-interval",
        check_zero_interval,
        ("trainer: train_network.py:1497",),
        lambda: _("Intervals of 0"),
    ),
    Rule(
        "no-steps",
        check_positive_length,
        ("trainer: train_network.py:978",),
        lambda: _("A length of 0 or less"),
    ),
    Rule(
        "workers0",
        check_workers_persistent,
        ("CONF-10",),
        lambda: _("Persistent loader workers without workers"),
    ),
)
