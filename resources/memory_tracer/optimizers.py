"""Optimizers as the trainer makes them, and stand-ins for those that cannot run on fake tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch

_SMALL = 4096
"""Tensors of fewer numbers keep 32-bit states. Source: bitsandbytes, ``min_8bit_size``."""

_ABSMAX_BLOCK = 256


@dataclass(frozen=True)
class States:
    """What an optimizer keeps of a parameter from step to step.

    Attributes:
        full: Tensors of the shape and type of the parameter.
        bytes8: Tensors of its shape with a byte a number, and a scale in fp32 for each 256.
    """

    full: int = 0
    bytes8: int = 0


STAND_INS = {
    "AdamW8bit": States(bytes8=2),
    "PagedAdamW8bit": States(bytes8=2),
    "Lion8bit": States(bytes8=1),
    "Lion": States(full=1),
    "CAME": States(full=1),
    "Prodigy": States(full=4),
    "DAdaptAdam": States(full=3),
    "DAdaptLion": States(full=2),
}
"""Measured on real tensors with the released packages, after two steps."""


class StandIn(torch.optim.Optimizer):
    """Keeps states as another optimizer does and changes nothing."""

    def __init__(self, parameters: Iterable[Any], states: States) -> None:
        super().__init__(parameters, {})
        self._states = states

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:
        """Make the states of parameters that have a gradient and no states yet."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None and not self.state[parameter]:
                    self.state[parameter] = {"states": self._make(parameter)}

    def _make(self, parameter: torch.Tensor) -> list[torch.Tensor]:
        made = [torch.zeros_like(parameter) for _number in range(self._states.full)]
        for _number in range(self._states.bytes8):
            if parameter.numel() < _SMALL:
                made.append(torch.zeros_like(parameter, dtype=torch.float32))
                continue
            made.append(torch.zeros_like(parameter, dtype=torch.uint8))
            made.append(torch.zeros(-(-parameter.numel() // _ABSMAX_BLOCK), dtype=torch.float32))
        return made


def make_optimizer(name: str, groups: list[dict[str, Any]]) -> torch.optim.Optimizer:
    """Return an optimizer by the trainer's name of it.

    Those of torch run as on a device: many tensors at a time.

    Raises:
        ValueError: Nothing is known about what it keeps.
    """
    if name == "AdamW":
        return torch.optim.AdamW(groups, lr=1e-4, foreach=True)
    if name == "SGDNesterov":
        return torch.optim.SGD(groups, lr=1e-4, momentum=0.9, nesterov=True, foreach=True)
    if name == "Adafactor":
        from transformers.optimization import Adafactor

        optimizer: torch.optim.Optimizer = Adafactor(
            groups, lr=1e-4, scale_parameter=False, relative_step=False, warmup_init=False
        )
        return optimizer
    if name not in STAND_INS:
        raise ValueError(f"nothing is known about the optimizer {name}")
    return StandIn(groups, STAND_INS[name])


def fuse_with_backward(optimizer: Any) -> None:
    """Have each parameter stepped as soon as its gradient is there. Source: trainer: sdxl_train.py."""
    from library import adafactor_fused

    adafactor_fused.patch_adafactor_fused(optimizer)
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.register_post_accumulate_grad_hook(_step_of(optimizer, group))


def _step_of(optimizer: Any, group: dict[str, Any]) -> Callable[[torch.Tensor], None]:
    def step(parameter: torch.Tensor) -> None:
        optimizer.step_param(parameter, group)
        parameter.grad = None

    return step
