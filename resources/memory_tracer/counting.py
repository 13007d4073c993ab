"""Counts the numbers that the parts of a family have."""

from __future__ import annotations

from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from memory_tracer.building import without_initial_values
from memory_tracer.families.base import Family
from memory_tracer.setting import Setting


def count_parts(family: Family, name: str) -> dict[str, int]:
    """Return the parameters of the network, of each text encoder and of the VAE.

    Parts that cannot be built without a download are left out.
    """
    setting = Setting(family=name)
    counts = {}
    with FakeTensorMode(), without_initial_values():
        counts["network"] = _count(family.build_network(setting))
        counts["vae"] = _count(family.build_vae())
        if family.has_text_encoders:
            for number, encoder in enumerate(family.build_text_encoders(setting), 1):
                counts[f"text_encoder_{number}"] = _count(encoder)
    return counts


def _count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())
