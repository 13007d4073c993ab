"""Rules about options that are read and do nothing, because of what else the plan says.

What a whole family passes over is data (``resources/families``).
Source: trainer-facts 2.1, 2.3, 2.7 to 2.10, 6.7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gui.engine.findings import Finding
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.family_rules import set_in
from gui.engine.preflight.rules.fixes import leave_out, write
from gui.engine.preflight.rules.networks import module_name
from gui.engine.preflight.rules.noise import HUBER
from gui.engine.preflight.rules.sampling import wants_samples
from gui.engine.preflight.view import View, as_number
from gui.engine.texts import _

OWN_TOKENIZERS = (
    "flux_train.py",
    "sd3_train.py",
    "lumina_train.py",
    "anima_train.py",
    "anima_train_network.py",
)
"""Scripts that never look into the folder of tokenizers (trainer-facts 2.7)."""

WITH_CYCLES = ("cosine_with_restarts", "cosine_with_min_lr", "warmup_stable_decay")

STABLE_DECAY = "warmup_stable_decay"


@dataclass(frozen=True)
class Idle:
    """Options that do nothing in some plans.

    Attributes:
        names: The options.
        does_nothing: Tells such a plan.
        reason: Says why; made when it is asked for, in the language of then.
        source: Where that is from.
    """

    names: tuple[str, ...]
    does_nothing: Callable[[View], bool]
    reason: Callable[[], str]
    source: str


def _huber(view: View) -> bool:
    return view.text("loss_type") in HUBER


def _own_schedule(view: View) -> str | None:
    """Return the trainer's own scheduler; None where a class of another library is taken."""
    return None if view.text("lr_scheduler_type") else view.text("lr_scheduler") or "constant"


def _no_validation(view: View) -> bool:
    return view.dataset_known and not any(data.number("validation_split") for data in view.dataset_views)


IDLE: tuple[Idle, ...] = (
    Idle(
        ("huber_schedule", "huber_c", "huber_scale"),
        lambda view: not _huber(view),
        lambda: _("It belongs to the Huber loss, and loss_type is another."),
        "train_util.py:6110-6128",
    ),
    Idle(
        ("huber_scale",),
        lambda view: _huber(view) and (view.text("huber_schedule") or "snr") == "snr",
        lambda: _("The schedule snr does not use it."),
        "train_util.py:6118-6124",
    ),
    Idle(
        ("network_dim", "network_alpha", "network_dropout"),
        lambda view: view.flag("dim_from_weights"),
        lambda: _("With dim_from_weights the file says it."),
        "train_network.py:671",
    ),
    Idle(
        ("network_dropout",),
        lambda view: module_name(view) == "networks.dylora",
        lambda: _("DyLoRA drops nothing."),
        "dylora.py:196",
    ),
    Idle(
        ("lr_scheduler_num_cycles",),
        lambda view: _own_schedule(view) not in (None, *WITH_CYCLES),
        lambda: _("Only schedules with restarts count cycles."),
        "train_util.py:5360-5391",
    ),
    Idle(
        ("lr_scheduler_power",),
        lambda view: _own_schedule(view) not in (None, "polynomial"),
        lambda: _("Only the polynomial schedule has a power."),
        "train_util.py:5360-5391",
    ),
    Idle(
        ("lr_decay_steps",),
        lambda view: _own_schedule(view) not in (None, STABLE_DECAY),
        lambda: _("Only warmup_stable_decay decays at the end."),
        "train_util.py:5360-5391",
    ),
    Idle(
        ("fused_optimizer_groups",),
        lambda view: view.script in ("flux_train.py", "sd3_train.py"),
        lambda: _("This script has its blockwise optimizers in its place."),
        "flux_train.py:808, sd3_train.py:1051",
    ),
    Idle(
        ("tokenizer_cache_dir",),
        lambda view: view.script in OWN_TOKENIZERS,
        lambda: _("This script takes its tokenizers from elsewhere."),
        "flux_train.py:218, sd3_train.py:217, lumina_train.py:224",
    ),
    Idle(
        ("v_pred_like_loss",),
        lambda view: view.script in ("train_db.py", "fine_tune.py"),
        lambda: _("This script never looks at it."),
        "train_db.py:396-401, fine_tune.py:398-412",
    ),
    Idle(
        ("save_every_n_epochs",),
        lambda view: (view.number("save_n_epoch_ratio") or 0) > 0,
        lambda: _("save_n_epoch_ratio is put in its place."),
        "train_network.py:980",
    ),
    Idle(
        ("validate_every_n_steps", "validate_every_n_epochs", "max_validation_steps"),
        _no_validation,
        lambda: _("Nothing is held out: validation_split is 0."),
        "train_network.py:1536-1610",
    ),
    Idle(
        ("sample_prompts",),
        lambda view: not wants_samples(view),
        lambda: _("Nothing says when to make samples."),
        "train_util.py:6385",
    ),
)


def check_idle(view: View) -> Iterator[Finding]:
    """What is said and changes nothing misleads whoever reads the plan."""
    said: set[str] = set()
    for idle in IDLE:
        names = [name for name in idle.names if view.knows(name) and set_in(view, name) and name not in said]
        if not names or not idle.does_nothing(view):
            continue
        said.update(names)
        yield Finding(
            id="idle-option",
            severity="hint",
            title=_("{names} does nothing in this plan.").format(names=", ".join(names)),
            detail=idle.reason(),
            arguments=tuple(names),
            where=names[0],
            fixes=(leave_out(*names, safe=True),),
            sources=(f"trainer: {idle.source}",),
        )


def check_decay_none(view: View) -> Iterator[Finding]:
    """``warmup_stable_decay`` without a decay stays up to the end (train_util.py:5360-5391)."""
    if _own_schedule(view) != STABLE_DECAY or view.value("lr_decay_steps") not in (None, 0, "0", 0.0):
        return
    yield Finding(
        id="decay-none",
        severity="warning",
        title=_("warmup_stable_decay never decays: lr_decay_steps is 0."),
        detail=_("The rate stays at its height to the last step."),
        arguments=("lr_decay_steps", "lr_scheduler"),
        fixes=(
            write({"lr_decay_steps": 0.2}, _("decay over the last fifth"), identity="fifth"),
            write(
                {"lr_scheduler": "constant_with_warmup"}, _("say that it is constant"), identity="constant"
            ),
        ),
        sources=("trainer: train_util.py:5360-5391",),
    )


def check_base_multiplier(view: View) -> Iterator[Finding]:
    """Base weights without a multiplier of their own are merged in full (train_network.py:649)."""
    files, factors = view.words("base_weights"), view.words("base_weights_multiplier")
    if not factors or len(factors) >= len(files):
        return
    numbers = [as_number(factor) for factor in factors]
    full = [1.0 if number is None else number for number in numbers] + [1.0] * (len(files) - len(factors))
    yield Finding(
        id="base-multiplier",
        severity="warning",
        title=_("{files} base weights have {factors} multipliers.").format(
            files=len(files), factors=len(factors)
        ),
        detail=_("What has none is merged in full, with 1."),
        arguments=("base_weights_multiplier", "base_weights"),
        fixes=(
            write({"base_weights_multiplier": full}, _("say 1 for the others"), identity="full", safe=True),
        ),
        sources=("trainer: train_network.py:649",),
    )


RULES: tuple[Rule, ...] = (
    Rule(
        "idle-option",
        check_idle,
        ("trainer: train_util.py:5360, 6118",),
        lambda: _("Options that do nothing in this plan"),
    ),
    Rule(
        "decay-none",
        check_decay_none,
        ("trainer: train_util.py:5360",),
        lambda: _("A schedule that never decays"),
    ),
    Rule(
        "base-multiplier",
        check_base_multiplier,
        ("trainer: train_network.py:649",),
        lambda: _("Multipliers of base weights"),
    ),
)
