"""Rules about noise, timesteps and the loss: what the trainer checks first, and what it checks too late.

Source: trainer-facts 1.3, 1.9, 2.8 (train_util.py:4414-4473, 6062, 6110).
"""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.findings import Finding, Fix
from gui.engine.preflight.rule import Rule
from gui.engine.preflight.rules.fixes import leave_out, write
from gui.engine.preflight.rules.models import predicts_v
from gui.engine.preflight.view import View
from gui.engine.texts import _

HUBER = ("huber", "smooth_l1")
USUAL_SEED = 42
LAST_TIMESTEP = 1000
"""The schedulers of Stable Diffusion have the timesteps 0 to 999."""


def use_v_prediction(*, safe: bool) -> Fix:
    """Return the fix that trains as a v-prediction model wants it."""
    return write(
        {"v_parameterization": True, "v_pred_like_loss": None},
        _("train with v-prediction, as the model wants it"),
        identity="v-prediction",
        safe=safe,
    )


def check_adaptive_noise(view: View) -> Iterator[Finding]:
    """``adaptive_noise_scale`` is a part of ``noise_offset`` (train_util.py:4443)."""
    if not view.given("adaptive_noise_scale") or view.given("noise_offset"):
        return
    yield Finding(
        id="adaptive-noise",
        severity="stop",
        title=_("adaptive_noise_scale needs noise_offset."),
        detail=_("It scales the noise offset; without one the trainer stops at once."),
        arguments=("adaptive_noise_scale", "noise_offset"),
        fixes=(
            leave_out("adaptive_noise_scale", safe=True),
            write({"noise_offset": 0.05}, _("add a noise offset of 0.05"), identity="noise-offset"),
        ),
        sources=("trainer: train_util.py:4443",),
    )


def check_vpred_only(view: View) -> Iterator[Finding]:
    """Options for v-prediction without it, or against it (train_util.py:4446, 4451)."""
    v_prediction = view.flag("v_parameterization")
    if view.flag("scale_v_pred_loss_like_noise_pred") and not v_prediction:
        option = "scale_v_pred_loss_like_noise_pred"
        title = _("{option} works only with v_parameterization.")
    elif view.number("v_pred_like_loss") and v_prediction:
        option, title = "v_pred_like_loss", _("{option} is for models that do not predict v.")
    else:
        return
    meant = predicts_v(view) and not v_prediction
    drop = leave_out(option, safe=not meant)
    fixes: tuple[Fix, ...] = (drop,)
    if meant:
        fixes = (use_v_prediction(safe=True), drop)
    elif not v_prediction:
        fixes = (drop, use_v_prediction(safe=False))
    yield Finding(
        id="vpred-only",
        severity="stop",
        title=title.format(option=option),
        detail=_("The trainer checks it first and stops."),
        arguments=(option, "v_parameterization"),
        fixes=fixes,
        sources=("CONF-11", "trainer: train_util.py:4446, 4451"),
    )


def check_ztsnr(view: View) -> Iterator[Finding]:
    """A zero signal at the last timestep only makes sense, and only holds, with v-prediction (NAN-27)."""
    if not view.flag("zero_terminal_snr") or view.is_transformer:
        return
    if not view.flag("v_parameterization"):
        yield _ztsnr(
            _("zero_terminal_snr is meant for models that predict v."),
            _(
                "At the last timestep nothing is left of the image; a model that predicts noise learns "
                "nothing from it. The trainer only warns."
            ),
            ("zero_terminal_snr", "v_parameterization"),
            (use_v_prediction(safe=predicts_v(view)), leave_out("zero_terminal_snr")),
        )
        return
    if view.flag("scale_v_pred_loss_like_noise_pred"):
        yield _ztsnr(
            _("scale_v_pred_loss_like_noise_pred undoes what zero_terminal_snr is for."),
            _(
                "It weighs the last timesteps with almost nothing, so that the dark and light extremes "
                "are not learnt; older trainers ended in NaN."
            ),
            ("scale_v_pred_loss_like_noise_pred", "zero_terminal_snr"),
            (leave_out("scale_v_pred_loss_like_noise_pred", safe=True),),
        )


def _ztsnr(title: str, detail: str, arguments: tuple[str, ...], fixes: tuple[Fix, ...]) -> Finding:
    return Finding(
        id="ztsnr",
        severity="warning",
        title=title,
        detail=detail,
        arguments=arguments,
        fixes=fixes,
        sources=("NAN-27", "trainer: train_util.py:4456"),
    )


def check_huber(view: View) -> Iterator[Finding]:
    """Flow models have no signal-to-noise ratio for the Huber loss to follow (train_util.py:6118)."""
    if view.text("loss_type") not in HUBER or not view.is_transformer:
        return
    schedule = view.text("huber_schedule") or "snr"
    only_constant = view.script == "anima_train.py"
    if schedule == "constant" or (schedule == "exponential" and not only_constant):
        return
    yield Finding(
        id="huber-schedule",
        severity="stop",
        title=_("The Huber loss cannot follow the schedule {schedule} with this model family.").format(
            schedule=schedule
        ),
        detail=_("The trainer loads and caches everything, and stops at the first step."),
        arguments=("huber_schedule", "loss_type"),
        fixes=(
            write(
                {"huber_schedule": "constant"},
                _("use a constant Huber threshold"),
                identity="constant",
                safe=True,
            ),
            write({"loss_type": "l2"}, _("use the plain loss"), identity="l2"),
        ),
        sources=("trainer: train_util.py:6110-6128, anima_train.py:573",),
    )


def check_timesteps(view: View) -> Iterator[Finding]:
    """Timesteps outside of the schedule do not exist; a crossed pair trains one (train_util.py:6062)."""
    low = view.number("min_timestep") if view.given("min_timestep") else 0
    high = view.number("max_timestep") if view.given("max_timestep") else LAST_TIMESTEP
    if view.is_transformer or low is None or high is None:
        return
    if 0 <= low < high <= LAST_TIMESTEP:
        return
    outside = low < 0 or high > LAST_TIMESTEP or low >= LAST_TIMESTEP
    yield Finding(
        id="timesteps",
        severity="stop" if outside else "danger",
        title=(
            _("Timesteps go from 0 to {last}.")
            if outside
            else _("min_timestep is not below max_timestep: only one timestep is trained.")
        ).format(last=LAST_TIMESTEP),
        detail=_("min_timestep {low:g} and max_timestep {high:g} leave nothing usual to train on.").format(
            low=low, high=high
        ),
        arguments=("min_timestep", "max_timestep"),
        fixes=(leave_out("min_timestep", "max_timestep", safe=False),),
        sources=("trainer: train_util.py:6062-6068",),
    )


def check_seed(view: View) -> Iterator[Finding]:
    """A seed has 32 bits, as numpy takes it (train_network.py:505)."""
    seed = view.number("seed") if view.given("seed") else None
    if seed is None or 0 <= seed < 2**32:
        return
    yield Finding(
        id="seed-range",
        severity="stop",
        title=_("The seed must be between 0 and 4294967295."),
        detail=_("The trainer stops when it sets the seed."),
        arguments=("seed",),
        fixes=(write({"seed": int(seed) % 2**32}, _("use the seed’s last 32 bits"), safe=True),),
        sources=("trainer: train_network.py:505",),
    )


def check_seed_none(view: View) -> Iterator[Finding]:
    """LoRA scripts draw a seed and note it; the others train without one (train_network.py:503)."""
    if view.given("seed") or view.trains_network or not view.knows("seed"):
        return
    yield Finding(
        id="seed-none",
        severity="hint",
        title=_("Without a seed this run cannot be repeated."),
        detail=_("{script} draws no seed of its own: two runs of the same plan differ.").format(
            script=view.script
        ),
        arguments=("seed",),
        fixes=(write({"seed": USUAL_SEED}, _("take the seed {seed}").format(seed=USUAL_SEED), safe=True),),
        sources=("N20", "trainer: train_network.py:503"),
    )


RULES: tuple[Rule, ...] = (
    Rule(
        "adaptive-noise",
        check_adaptive_noise,
        ("trainer: train_util.py:4443",),
        lambda: _("adaptive_noise_scale without noise_offset"),
    ),
    Rule("vpred-only", check_vpred_only, ("CONF-11",), lambda: _("Options that belong to v-prediction")),
    Rule("ztsnr", check_ztsnr, ("NAN-27",), lambda: _("zero_terminal_snr and what it goes with")),
    Rule(
        "huber-schedule",
        check_huber,
        ("trainer: train_util.py:6118",),
        lambda: _("The Huber loss with flow models"),
    ),
    Rule("timesteps", check_timesteps, ("trainer: train_util.py:6062",), lambda: _("Limits of timesteps")),
    Rule("seed-range", check_seed, ("trainer: train_network.py:505",), lambda: _("The seed’s range")),
    Rule("seed-none", check_seed_none, ("N20",), lambda: _("A seed to repeat the run with")),
)
