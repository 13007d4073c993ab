"""Builds modules on fake tensors: no memory, no initial values, any type of number."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp8": torch.float8_e4m3fn}


@contextmanager
def without_initial_values() -> Iterator[None]:
    """Leave out what fills weights with numbers: fake tensors have none, and some of it fails on them."""
    names = [name for name in vars(nn.init) if name.endswith("_") and not name.startswith("_")]
    kept = {name: getattr(nn.init, name) for name in names}

    def nothing(tensor: torch.Tensor, *_args: Any, **_kwargs: Any) -> torch.Tensor:
        return tensor

    try:
        for name in names:
            setattr(nn.init, name, nothing)
        yield
    finally:
        for name, function in kept.items():
            setattr(nn.init, name, function)


def cast(module: nn.Module, dtype: torch.dtype) -> None:
    """Cast a module in place, as ``module.to(dtype)`` does; that fails on fake tensors.

    Floating point parameters and buffers are replaced.
    """
    for part in module.modules():
        for name, parameter in part._parameters.items():
            if parameter is not None and parameter.is_floating_point() and parameter.dtype != dtype:
                new = nn.Parameter(parameter.detach().to(dtype), requires_grad=parameter.requires_grad)
                part._parameters[name] = new
        for name, buffer in part._buffers.items():
            if buffer is not None and buffer.is_floating_point():
                part._buffers[name] = buffer.to(dtype)


def tensors_of(module: nn.Module) -> list[torch.Tensor]:
    """Return all parameters and buffers of a module."""
    return [*module.parameters(), *module.buffers()]
