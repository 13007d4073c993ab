"""Why a loss stops being a number, by when it did, and what to change: one thing at a time.

Source: knowledge N7-N16 and N19, S3, S9; cases NAN-*.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from gui.engine.runs.launched import LaunchedSettings
from gui.engine.runs.rates import SAFE_RATE, is_mad, lower_rates
from gui.engine.texts import _

Moment = Literal["first-step", "first-steps", "warm-up-peak", "later", "now-and-then", "after-resume"]

FIRST_STEP = 1
FIRST_STEPS = 50
AFTER_RESUME = 20

HIGH_RATE = 5e-4
"""From here on a LoRA is known to go wrong (T3)."""

WARMUP_STEPS = 200
"""A usual warm-up (N11)."""

CALM_PX = 512
"""A size that all images are cut to while it is sought whether the sizes are the cause (N19)."""

TEXT_SHARE = 0.5
"""A text encoder's rate above this share of the model's is dangerous (T16)."""


class Try(NamedTuple):
    """One thing to change.

    Attributes:
        id: Its name.
        words: What to do.
        changes: Target in the plan to its new value; empty where the plan is not what to change.
    """

    id: str
    words: str
    changes: Mapping[str, Any] = {}


def moment_of(step: int, settings: LaunchedSettings, *, recovered: bool) -> Moment:
    """Return when in a run the loss broke down.

    Args:
        step: The step of the first loss that was not finite, as the run counts.
        settings: What it was launched with.
        recovered: Whether it had broken down before and come back.
    """
    if recovered:
        return "now-and-then"
    if settings.resumed and step <= AFTER_RESUME:
        return "after-resume"
    if step <= FIRST_STEP:
        return "first-step"
    warmup = settings.warmup_steps
    if warmup and 0.7 * warmup <= step <= 1.5 * warmup:
        return "warm-up-peak"
    return "first-steps" if step <= FIRST_STEPS else "later"


def causes_of(moment: Moment, settings: LaunchedSettings) -> tuple[str, ...]:
    """Return the likely causes, the likeliest first: what the moment tells, then the run's own values."""
    own = _own_causes(settings)
    usual = {
        "first-step": _(
            "At the first step the usual cause is not the learning rate but the data, the precision or the "
            "VAE."
        ),
        "first-steps": _(
            "Within the first tens of steps the usual cause is a learning rate that comes too early or too "
            "high, or half precision."
        ),
        "warm-up-peak": _(
            "The warm-up had just brought the learning rate to its peak: that peak is most likely too high."
        ),
        "later": _("After hundreds of steps the usual cause is the learning rate."),
        "now-and-then": _(
            "It broke down and came back before: the usual cause is a single image or caption that comes "
            "round now and then."
        ),
        "after-resume": _(
            "Right after going on from a saved state the usual cause is that state: it was saved after the "
            "breakdown, or belongs to other settings."
        ),
    }[moment]
    return (*own[:1], usual, *own[1:]) if is_mad(settings) else (usual, *own)


def _own_causes(settings: LaunchedSettings) -> list[str]:
    """Return what in the run's own values is known to end so."""
    rates, precision = _rate_causes(settings), _precision_causes(settings)
    causes = [*rates, *precision] if is_mad(settings) else [*precision, *rates]
    if settings.number("max_grad_norm") == 0:
        causes.append(_("Gradients were not clipped (max_grad_norm 0)."))
    if "8bit" in settings.optimizer:
        causes.append(_("The optimizer keeps its state in 8 bits, which is less steady."))
    if settings.flag("zero_terminal_snr") and settings.number("min_snr_gamma"):
        causes.append(
            _("min_snr_gamma together with zero_terminal_snr gave NaN in some versions of the trainer.")
        )
    elif settings.flag("v_parameterization") and settings.number("min_snr_gamma"):
        causes.append(_("min_snr_gamma with v-prediction is a risk in some versions of the trainer."))
    return causes


def _precision_causes(settings: LaunchedSettings) -> list[str]:
    if settings.precision != "fp16":
        return []
    causes = []
    if settings.script.startswith("sdxl_") and not settings.flag("no_half_vae"):
        causes.append(_("The SDXL VAE gives NaN in fp16, and no_half_vae is off."))
    if settings.flag("full_fp16"):
        causes.append(_("full_fp16 keeps the weights in fp16, without the scaler of mixed precision."))
    causes.append(_("The run computes in fp16, which overflows easily."))
    return causes


def _rate_causes(settings: LaunchedSettings) -> list[str]:
    causes = []
    rate, text_rate = settings.rate, settings.number("text_encoder_lr")
    if rate is not None and rate >= HIGH_RATE and _trains_network(settings):
        causes.append(
            _("The learning rate of {rate:g} is high; {safe:g} is where to begin.").format(
                rate=rate, safe=SAFE_RATE
            )
        )
    if rate and text_rate and text_rate > TEXT_SHARE * rate:
        causes.append(
            _("The text encoder’s learning rate ({rate:g}) is more than half of the model’s.").format(
                rate=text_rate
            )
        )
    if rate is not None and not settings.warmup_steps:
        causes.append(_("There was no warm-up: the first steps came at the full learning rate."))
    return causes


def _trains_network(settings: LaunchedSettings) -> bool:
    return bool(settings.text("network_module"))


def ways_of(moment: Moment, settings: LaunchedSettings) -> tuple[Try, ...]:
    """Return what to change, one thing at a time, in the order in which to try it (N16, N19)."""
    data = Try(
        "look-at-images",
        _("Look for a broken image or caption: damaged or empty files, transparency, unusual colour modes."),
    )
    few = Try(
        "few-images",
        _("Train on one or two images: a loss that breaks down even there is no matter of the data."),
    )
    rates, precision, others = _rate_ways(settings), _precision_ways(settings), _other_ways(settings)
    if is_mad(settings):
        return (*rates, *precision, *others, data)
    if moment == "first-step":
        return (*precision, data, few, *rates[:1])
    if moment == "now-and-then":
        return (data, few, *precision, *rates)
    if moment == "after-resume":
        older = Try(
            "older-point",
            _("Go on from an older state, or start with the last clean file as network_weights."),
        )
        return (older, *rates, *precision)
    text = _("Train at 512 pixels without buckets to see whether it stays away, then go back up.")
    calm = Try("calm", text, {"dataset.resolution": [CALM_PX, CALM_PX], "dataset.enable_bucket": False})
    return (*rates, *precision, *others, *([calm] if moment == "later" else []), data)


def _rate_ways(settings: LaunchedSettings) -> list[Try]:
    rate, lower = settings.rate, lower_rates(settings)
    if rate is None:
        text = _("Use AdamW with a learning rate of {rate:g}.").format(rate=SAFE_RATE)
        changes = {"optimizer_type": "AdamW", "optimizer_args": None, "learning_rate": SAFE_RATE}
        ways = [Try("known-rate", text, changes)]
    elif is_mad(settings):
        text = _("Take a learning rate of {safe:g} instead of {rate:g}.")
        ways = [Try("safe-rate", text.format(safe=SAFE_RATE, rate=rate), lower)]
    else:
        text = _("Halve the learning rate, from {rate:g} to {half:g}; if that is not enough, take {tenth:g}.")
        ways = [Try("half-rate", text.format(rate=rate, half=rate / 2, tenth=rate / 10), lower)]
    if not settings.warmup_steps:
        ways.append(_warm_up(settings))
    return ways


def _warm_up(settings: LaunchedSettings) -> Try:
    """Return a warm-up of a usual length, at most a tenth of the training; a constant rate takes none."""
    steps = min(WARMUP_STEPS, max(1, int(settings.number("max_train_steps") or 10 * WARMUP_STEPS) // 10))
    schedule = settings.text("lr_scheduler") or "constant"
    changes: dict[str, Any] = {"lr_scheduler": "constant_with_warmup"} if schedule == "constant" else {}
    text = _("Warm the learning rate up over {steps} steps.")
    return Try("warm-up", text.format(steps=steps), {**changes, "lr_warmup_steps": steps})


def _precision_ways(settings: LaunchedSettings) -> list[Try]:
    full = {name: None for name in ("full_fp16", "full_bf16") if settings.flag(name)}
    if settings.precision == "no":
        return []
    if settings.precision != "fp16":
        text = _("Compute in full precision once, to rule it out.")
        return [Try("full-precision", text, {"mixed_precision": "no", **full})]
    text = _("Compute in bf16 (Ampere GPUs and newer), else in full precision.")
    ways = [Try("bf16", text, {"mixed_precision": "bf16", **full})]
    if settings.script.startswith("sdxl_") and not settings.flag("no_half_vae"):
        ways.insert(0, Try("no-half-vae", _("Turn no_half_vae on."), {"no_half_vae": True}))
    return ways


def _other_ways(settings: LaunchedSettings) -> list[Try]:
    ways = []
    if settings.number("max_grad_norm") == 0:
        ways.append(Try("clip", _("Clip gradients: max_grad_norm 1."), {"max_grad_norm": 1.0}))
    if "8bit" in settings.optimizer:
        text = _("Use plain AdamW until a run stays clean, then the 8-bit one again.")
        changes = {"optimizer_type": "AdamW", "optimizer_args": None, "use_8bit_adam": None}
        ways.append(Try("plain-adamw", text, changes))
    return ways


def memory_ways(settings: LaunchedSettings) -> tuple[Try, ...]:
    """Return what to change when the GPU's memory ran out, what helps most first (T15)."""
    ways = []
    batch = settings.number("train_batch_size") or settings.number("batch_size") or 1
    if batch > 1:
        text = _("Train one image at a time instead of {batch:g}; gradient accumulation keeps the effect.")
        times = int(batch * (settings.number("gradient_accumulation_steps") or 1))
        place = "train_batch_size" if settings.flag("train_batch_size") else "dataset.batch_size"
        changes: dict[str, Any] = {place: 1, "gradient_accumulation_steps": times}
        ways.append(Try("batch", text.format(batch=batch), changes))
    if not settings.flag("gradient_checkpointing"):
        text = _("Turn gradient_checkpointing on: it saves about half, for a fifth more time.")
        ways.append(Try("checkpointing", text, {"gradient_checkpointing": True}))
    if settings.optimizer == "adamw":
        text = _("Let the optimizer keep its state in 8 bits (AdamW8bit).")
        ways.append(Try("small-state", text, {"optimizer_type": "AdamW8bit"}))
    if not (settings.flag("cache_latents") or settings.flag("cache_latents_to_disk")):
        text = _("Cache latents, so that the VAE leaves the GPU.")
        ways.append(Try("latents", text, {"cache_latents": True}))
    ways.append(Try("resolution", _("Lower the resolution.")))
    if not settings.flag("fp8_base"):
        ways.append(Try("fp8", _("Keep the base model in fp8 (fp8_base)."), {"fp8_base": True}))
    ways.append(Try("others", _("Close other programs that use the GPU.")))
    return tuple(ways)
