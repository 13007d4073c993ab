"""Completes fixes: values that were meant for what a fix takes away would ruin the training without it.

Source: N9, N15, NAN-29 (train_util.py:4990, 5047-5081). A fix that asks for more memory than the GPU has
says so (NAN-01, OOM-02).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gui.engine.findings import Fix
from gui.engine.plan.changes import UnknownTarget, apply_changes
from gui.engine.preflight.rules.learning_rates import (
    FULL_START,
    MAD,
    START,
    TEXT_SHARE,
    finds_own_rate,
    model_rate,
    trains_text,
)
from gui.engine.preflight.rules.memory_forecast import severity_of
from gui.engine.preflight.rules.memory_needs import forecast_memory, least_memory, room_of
from gui.engine.preflight.rules.schedules import relative_step
from gui.engine.preflight.view import View, as_number
from gui.engine.texts import _

CHOICE = frozenset({"optimizer_type", "optimizer_args", "use_8bit_adam", "use_lion_optimizer"})
"""What decides whether an optimizer finds its rate itself."""

COSTLY = frozenset(
    {
        *("mixed_precision", "full_fp16", "full_bf16", "fp8_base", "fp8_base_unet", "fp8_scaled"),
        *("cache_text_encoder_outputs", "cache_latents", "network_train_unet_only", "optimizer_type"),
        *("gradient_checkpointing", "blocks_to_swap", "train_batch_size", "resolution"),
        *("dataset.batch_size", "dataset.resolution"),
    }
)
"""What may ask for more memory when it is changed."""

RATES = ("learning_rate", "unet_lr", "text_encoder_lr")


def fitted(fix: Fix, view: View) -> Fix:
    """Return a fix that also writes what must follow from it.

    Usual learning rates, where it takes away an optimizer that finds its own; an alpha in proportion,
    where it makes the rank smaller. Its label tells when the GPU has not the memory for it.

    Args:
        fix: Of any rule.
        view: The plan that it is for.
    """
    if "network_dim" in fix.changes:
        fix = _with(fix, _alpha(fix, view), fix.label)
    after = _after(fix, view) if fix.changes.keys() & (CHOICE | COSTLY) else None
    if after is None:
        return fix
    if not CHOICE.isdisjoint(fix.changes) and finds_own_rate(view) and not finds_own_rate(after):
        label = _("{label}; the learning rate becomes {rate:g}").format(label=fix.label, rate=_start(after))
        fix = _with(fix, _rates(after) | _scheduler(after), label)
    return _with_memory(fix, view, after)


def _after(fix: Fix, view: View) -> View | None:
    try:
        return replace(view, plan=apply_changes(view.plan, fix.changes))
    except UnknownTarget:
        return None


def _with_memory(fix: Fix, before: View, after: View) -> Fix:
    """Say what the training would take where the GPU's memory makes more of a problem after a fix."""
    room = room_of(after)
    if room is None or _pressure(after) <= _pressure(before):
        return fix
    label = _("{label}; it would take about {likely:.1f} GiB, {free:.1f} GiB of the GPU are free").format(
        label=fix.label, likely=max(phase.likely for phase in least_memory(after).phases), free=room.free
    )
    return fix.model_copy(update={"label": label})


def _pressure(view: View) -> int:
    """Return 2 where the training cannot fit the GPU, 1 where it hardly will, else 0."""
    room, known = room_of(view), forecast_memory(view).unknown is None
    phases = least_memory(view).phases if room else ()
    found = {severity_of(phase, room, view.facts.ram_gib) for phase in phases if room}
    return 2 if "stop" in found else int(known and "danger" in found)


def _with(fix: Fix, more: Mapping[str, Any], label: str) -> Fix:
    more = {name: value for name, value in more.items() if name not in fix.changes}
    return fix.model_copy(update={"label": label, "changes": {**fix.changes, **more}}) if more else fix


def _alpha(fix: Fix, view: View) -> dict[str, Any]:
    """Alpha by rank multiplies what the network does (lora.py:71): it stays as it was."""
    rank, alpha = view.number("network_dim"), view.number("network_alpha")
    smaller = as_number(fix.changes["network_dim"])
    if not view.given("network_alpha") or not rank or not alpha or not smaller or smaller >= rank:
        return {}
    fitting = float(f"{alpha * smaller / rank:.4g}")
    return {"network_alpha": int(fitting) if fitting.is_integer() else fitting}


def _start(view: View) -> float:
    return FULL_START if view.trains_model else START


def _rates(view: View) -> dict[str, Any]:
    start = _start(view)
    rates: dict[str, Any] = {name: start for name in RATES[:2] if view.given(name) and _is_mad(view, name)}
    name, rate = model_rate(view)
    if name not in rates and rate is not None and rate >= MAD:
        rates[name] = start
    text_is_mad = _is_mad(view, "text_encoder_lr") if view.given("text_encoder_lr") else bool(rates)
    if text_is_mad and trains_text(view) and view.knows("text_encoder_lr"):
        rates["text_encoder_lr"] = [float(f"{start * TEXT_SHARE:.6g}")]
    elif text_is_mad and view.given("text_encoder_lr"):
        rates["text_encoder_lr"] = None
    return rates


def _is_mad(view: View, name: str) -> bool:
    return any((as_number(word) or 0.0) >= MAD for word in view.words(name))


def _scheduler(view: View) -> dict[str, Any]:
    """The scheduler ``adafactor`` goes only with Adafactor in relative steps (train_util.py:5313)."""
    wrong = view.text("lr_scheduler") == "adafactor" and not relative_step(view)
    return {"lr_scheduler": "constant"} if wrong else {}
