"""Rules about what keeps a loss a number: rates and alpha, warm-up, clipping, weights of the loss.

Source: N9 to N13, S3; NAN-21, NAN-24, NLAT-06; trainer-facts 2.8, 2.10, 9 (train_util.py:3664, 3703,
flux_train_utils.py:461, anima_train.py:577, sd3_train.py:855).
"""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.caching import TEXT_CACHES, caches_text, without_text_cache
from gui.engine.preflight.rules.fixes import leave_out, write
from gui.engine.preflight.rules.learning_rates import HIGH, finds_own_rate, model_rate
from gui.engine.preflight.rules.networks import module_name
from gui.engine.preflight.rules.precision import computes_in, use_bf16
from gui.engine.preflight.steps import forecast_steps
from gui.engine.preflight.view import View, as_number
from gui.engine.texts import _

WARM_RATE = 1e-4
"""From this rate on a warm-up belongs to it (N10, N11)."""

WARM_UP_STEPS = 100
"""Tens to hundreds of steps (N11)."""

NO_WARM_UP = ("constant", "adafactor")
"""Schedulers that take no warm-up (train_util.py:5294)."""

LION_RATE = 1e-4
"""Lion moves each weight by its whole rate: it wants a third to a tenth of AdamW's (NAN-21, N13)."""

LION_SHARE = 5

USUAL_CLIP = 1.0

SPLIT_WEIGHTS = ("anima_train.py", "sd3_train.py")
"""Scripts that weigh each image with the weights of all others in the batch (anima_train.py:577)."""

FLAT = ("uniform", "none")
"""Weightings that are the same for all timesteps."""


def check_lr_effective(view: View) -> Iterator[Finding]:
    """Alpha by rank multiplies what a LoRA does: with it a rate can be far too high (NAN-24)."""
    rank, alpha = view.number("network_dim"), view.number("network_alpha")
    module = module_name(view)
    name, rate = model_rate(view)
    if not module.startswith("networks.lora") or not rank or not alpha or view.flag("dim_from_weights"):
        return
    if alpha <= rank or rate is None or rate <= 0 or finds_own_rate(view):
        return
    effective = rate * alpha / rank
    yield Finding(
        id="lr-effective",
        severity="danger" if effective >= HIGH * 2 else "warning",
        title=_("network_alpha {alpha:g} is larger than the rank {rank:g}.").format(alpha=alpha, rank=rank),
        detail=_(
            "What the LoRA does is multiplied by alpha divided by rank: the rate of {rate:g} works like "
            "{effective:.3g}. Losses of NaN were seen with it."
        ).format(rate=rate, effective=effective),
        arguments=("network_alpha", "network_dim", name),
        fixes=(
            write(
                {"network_alpha": rank},
                _("set network_alpha to {alpha:g}").format(alpha=rank),
                identity="as-rank",
            ),
        ),
        sources=("NAN-24", "S4", "trainer: lora.py:71"),
    )


def check_warmup_none(view: View) -> Iterator[Finding]:
    """A warm-up is nearly always right, and must be with a large rate (N10, N11)."""
    rate = model_rate(view)[1]
    scheduler = view.text("lr_scheduler") or "constant"
    if view.given("lr_warmup_steps") or view.text("lr_scheduler_type") or finds_own_rate(view):
        return
    if rate is None or rate < WARM_RATE or view.optimizer.endswith("schedulefree") or not _takes(view):
        return
    changes: dict[str, object] = {"lr_warmup_steps": WARM_UP_STEPS}
    if scheduler in NO_WARM_UP:
        changes["lr_scheduler"] = "constant_with_warmup"
    yield Finding(
        id="warmup-none",
        severity="warning" if rate >= HIGH else "hint",
        title=_("A rate of {rate:g} begins without a warm-up.").format(rate=rate),
        detail=_(
            "The first steps are the wildest; some tens to hundreds of them at a rising rate calm them."
        ),
        arguments=("lr_warmup_steps", "lr_scheduler"),
        fixes=(
            write(changes, _("warm up for {steps} steps").format(steps=WARM_UP_STEPS), identity="warm-up"),
        ),
        sources=("N10", "N11", "S3"),
    )


def _takes(view: View) -> bool:
    """Return whether the script trains with a schedule at all, and for how long is known to be enough."""
    steps = view.number("max_train_steps") if view.given("max_train_steps") else None
    return view.knows("lr_warmup_steps") and (steps is None or steps > WARM_UP_STEPS)


def check_warmup_length(view: View) -> Iterator[Finding]:
    """A warm-up as long as the run never gets to the rate; 1 is one step (train_util.py:3664)."""
    asked = view.value("lr_warmup_steps") if view.given("lr_warmup_steps") else None
    share, steps = _warm_up(asked)
    forecast = forecast_steps(view)
    whole = forecast.total_steps if forecast else None
    if whole is None and not view.given("max_train_epochs"):
        whole = int(view.number("max_train_steps") or 0)
    too_long = (share is not None and share >= 1) or (steps is not None and whole and steps >= whole)
    negative = (share is not None and share < 0) or (steps is not None and steps < 0)
    if not too_long and not negative:
        return
    yield Finding(
        id="warmup-length",
        severity="danger" if too_long else "warning",
        title=(
            _("The warm-up of {asked} is as long as the whole run.")
            if too_long
            else _("A warm-up of {asked} means nothing.")
        ).format(asked=asked),
        detail=_("Below 1 it is a share of the run, 0.1 or 10% for a tenth; from 1 on it counts steps."),
        arguments=("lr_warmup_steps",),
        fixes=(
            write({"lr_warmup_steps": 0.05}, _("warm up for a twentieth of the run"), identity="twentieth"),
            leave_out("lr_warmup_steps"),
        ),
        sources=("N11", "NAN-11", "trainer: train_util.py:3664, 5276"),
    )


def _warm_up(asked: object) -> tuple[float | None, float | None]:
    """Return a warm-up as a share of the run, or as steps, as the trainer reads it."""
    if isinstance(asked, str) and asked.strip().endswith("%"):
        percent = as_number(asked.strip().removesuffix("%"))
        return (percent / 100 if percent is not None else None), None
    number = as_number(asked)
    if number is None:
        return None, None
    return (number, None) if number < 1 and number != 0 else (None, number)


def check_clip_off(view: View) -> Iterator[Finding]:
    """``max_grad_norm`` 0 switches clipping off, the last guard before NaN (N12)."""
    if view.number("max_grad_norm") != 0 or not view.given("max_grad_norm") or view.optimizer == "adafactor":
        return
    yield Finding(
        id="clip-off",
        severity="hint" if view.given("scale_weight_norms") else "warning",
        title=_("max_grad_norm 0 switches gradient clipping off."),
        detail=_("One bad batch can then ruin the weights. 1.0 is usual, 0.5 is careful."),
        arguments=("max_grad_norm",),
        fixes=(
            write({"max_grad_norm": USUAL_CLIP}, _("clip at {norm:g}").format(norm=USUAL_CLIP)),
            leave_out("max_grad_norm"),
        ),
        sources=("N12", "N16", "trainer: train_util.py:3703"),
    )


def check_lion(view: View) -> Iterator[Finding]:
    """Lion wants a far smaller rate than AdamW (NAN-21, N13)."""
    name, rate = model_rate(view)
    if (
        "lion" not in view.optimizer
        or view.optimizer.startswith("dadapt")
        or rate is None
        or rate < LION_RATE
    ):
        return
    meant = float(f"{rate / LION_SHARE:.3g}")
    changes = {name: meant if meant < LION_RATE else LION_RATE / LION_SHARE}
    yield Finding(
        id="lion-lr",
        severity="warning",
        title=_("A rate of {rate:g} is high for Lion.").format(rate=rate),
        detail=_("Lion moves every weight by the whole rate: take a third to a tenth of what AdamW gets."),
        arguments=(name, "optimizer_type"),
        fixes=(
            write(
                changes, _("set {name} to {rate:g}").format(name=name, rate=changes[name]), identity="lower"
            ),
            write({"optimizer_type": "AdamW", "optimizer_args": None}, _("use AdamW"), identity="adamw"),
        ),
        sources=("N13", "NAN-21"),
    )


def check_te_nan(view: View) -> Iterator[Finding]:
    """Text encoder outputs in fp16 are cached unchecked: a NaN in them stays (NLAT-06)."""
    if computes_in(view) != "fp16" or not caches_text(view) or not view.script.startswith("sdxl_"):
        return
    yield Finding(
        id="te-nan",
        severity="hint",
        title=_("Text encoder outputs are cached in fp16, and nobody looks whether they are numbers."),
        detail=_("An overflow in one of them would be learnt in every epoch. bf16 does not overflow."),
        arguments=("mixed_precision", *filter(view.given, TEXT_CACHES)),
        fixes=(*use_bf16(view, safe=False), without_text_cache(view)),
        sources=("NLAT-06", "trainer: train_util.py:3168"),
    )


def check_weighting(view: View) -> Iterator[Finding]:
    """Some weights of the loss explode near the clean image, or mix up a batch (trainer-facts 2.8, 9)."""
    scheme = view.text("weighting_scheme") if view.given("weighting_scheme") else None
    if scheme is None or scheme in FLAT or not view.is_transformer:
        return
    batch = max((dataset.number("batch_size") or 1 for dataset in view.dataset_views), default=1)
    if scheme == "sigma_sqrt":
        title = _("weighting_scheme sigma_sqrt divides by a noise that may be nearly 0.")
        detail = _("Nothing guards the division: single steps get enormous weights.")
    elif view.script in SPLIT_WEIGHTS and batch > 1:
        title = _("With a batch of {size:g} {script} weighs each image with all others’ weights.").format(
            size=batch, script=view.script
        )
        detail = _("Only a scheme that weighs all the same, uniform, is right then.")
    else:
        return
    yield Finding(
        id="weighting",
        severity="warning",
        title=title,
        detail=detail,
        arguments=("weighting_scheme",),
        fixes=(write({"weighting_scheme": "uniform"}, _("weigh all the same"), identity="uniform"),),
        sources=("trainer: flux_train_utils.py:461, anima_train.py:577-580, sd3_train.py:855-858",),
    )


RULES: tuple[Rule, ...] = (
    Rule("lr-effective", check_lr_effective, ("NAN-24",), lambda: _("Alpha, rank and the rate together")),
    Rule("warmup-none", check_warmup_none, ("N11",), lambda: _("Large rates without warm-up")),
    Rule("warmup-length", check_warmup_length, ("NAN-11",), lambda: _("Warm-ups as long as the run")),
    Rule("clip-off", check_clip_off, ("N12",), lambda: _("Gradient clipping")),
    Rule("lion-lr", check_lion, ("NAN-21", "N13"), lambda: _("Lion’s learning rate")),
    Rule("te-nan", check_te_nan, ("NLAT-06",), lambda: _("Cached text encoder outputs in fp16")),
    Rule(
        "weighting",
        check_weighting,
        ("trainer: flux_train_utils.py:461",),
        lambda: _("Weights of the loss by noise"),
    ),
)
