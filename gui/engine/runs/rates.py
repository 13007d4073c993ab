"""The learning rates of a run whose loss broke down, lower."""

from __future__ import annotations

import math
from typing import Any

from gui.engine.runs.launched import LaunchedSettings

RATES = ("learning_rate", "unet_lr", "text_encoder_lr")

MAD_RATE = 5e-3
"""From here on no LoRA survives, whatever else is well (NAN-29)."""

SAFE_RATE = 1e-4
"""Where to begin (N9)."""


def is_mad(settings: LaunchedSettings) -> bool:
    """Whether a network's rate is so high that half of it is no better."""
    rate = settings.rate
    return rate is not None and bool(settings.text("network_module")) and rate >= MAD_RATE


def lower_rates(settings: LaunchedSettings, parts: int = 2) -> dict[str, Any]:
    """Return each of the run's own rates to its new value, empty where the optimizer finds its own.

    Args:
        settings: What the run was launched with.
        parts: What is left is one of so many; a mad rate is replaced whatever is asked.
    """
    if settings.rate is None:
        return {}
    most = SAFE_RATE if is_mad(settings) else None
    found = ((name, _lower(settings, name, parts, most)) for name in RATES)
    return {name: lower for name, lower in found if lower is not None}


def _lower(
    settings: LaunchedSettings, name: str, parts: int, most: float | None
) -> float | list[float] | None:
    """Return the lower rate or rates of one argument; ``text_encoder_lr`` may have several words."""
    try:
        given = [float(word) for word in settings.arguments.get(name, ())]
    except ValueError:
        return None
    if not given or not all(map(math.isfinite, given)):
        return None
    lower = [_tidy(rate / parts) if most is None else min(rate, most) for rate in given]
    return lower[0] if len(lower) == 1 else lower


def _tidy(rate: float) -> float:
    """Return a rate without the dust of computing in binary."""
    return float(f"{rate:.6g}")
