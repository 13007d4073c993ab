"""Replays passes without gradients: caching of latents and texts, and sampling."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from memory_tracer.building import DTYPES, cast, tensors_of, without_initial_values
from memory_tracer.families.base import Family
from memory_tracer.setting import Setting
from memory_tracer.steps import autocast
from memory_tracer.tracker import StorageTracker


def trace_pass(family: Family, setting: Setting, tracker: StorageTracker) -> dict[str, Any]:
    """Replay one pass; to be called with a ``FakeTensorMode`` on.

    Returns:
        The result as the memory tables have it, all in bytes but for counts.
    """
    modules = _build(family, setting)
    tracker.item = family.item(setting)
    with tracker, torch.no_grad():
        for module in modules:
            tracker.hold(tensors_of(module))
        weights = tracker.live
        tracker.begin("pass")
        _run(family, setting, modules)
    return {
        "weights": weights,
        "peak": max(tracker.peaks.values()),
        "peak_operation": tracker.operation,
        "allocated": tracker.allocator.allocated_peak,
        "reserved": tracker.allocator.reserved_peak,
        "operations": tracker.operations,
    }


def _build(family: Family, setting: Setting) -> list[nn.Module]:
    with without_initial_values():
        if setting.part == "text_encode":
            modules = family.build_text_encoders(setting)
        elif setting.part == "sample":
            modules = [family.build_network(setting)]
            family.use_attention(modules[0], setting.attention)
        else:
            modules = [family.build_vae()]
    for module in modules:
        module.eval().requires_grad_(False)
        cast(module, DTYPES[setting.weights])
    return modules


def _run(family: Family, setting: Setting, modules: list[nn.Module]) -> None:
    dtype = DTYPES[setting.weights]
    if setting.part == "text_encode":
        with autocast(setting):
            family.encode_texts(modules, setting)
    elif setting.part == "sample":
        texts = family.cached_texts(setting)
        noisy = family.latents(setting).to(torch.bfloat16)
        with autocast(setting):
            family.predict(modules[0], noisy, texts, setting)
    elif setting.part == "vae_encode":
        family.encode_images(
            modules[0], torch.zeros(setting.batch, 3, setting.height_px, setting.width_px, dtype=dtype)
        )
    elif family.decodes_with_autocast:
        with autocast(setting):
            family.decode_latents(modules[0], family.latents(setting).to(dtype))
    else:
        family.decode_latents(modules[0], family.latents(setting).to(dtype))
