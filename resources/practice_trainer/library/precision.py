"""Mixed precision: every layer's result is cut to a 16-bit type, and the loss is scaled for float16.

A CPU without 16-bit arithmetic takes a second for what takes a hundredth in float32. So products are
made in float32, as a GPU's tensor cores do it, and only results are cut: what is too large for float16
really becomes infinite, on the way forward and on the way back.
"""

from __future__ import annotations

import argparse
from typing import Any

import torch
from torch import Tensor, nn

DTYPES = {"no": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
SAVE_DTYPES = {"float": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


class Precision:
    """How a run computes.

    Attributes:
        dtype: The type that results are cut to.
        full: Whether the trained weights are kept in that type too.
        scaler: Scales the loss for float16 and leaves out steps whose gradients overflowed; off where
            the weights themselves are float16.
    """

    def __init__(self, args: argparse.Namespace) -> None:
        """Judge the arguments.

        Raises:
            AssertionError: ``full_fp16`` or ``full_bf16`` without the mixed precision of that type.
        """
        chosen = args.mixed_precision or "no"
        self.dtype = DTYPES[chosen]
        self.full = False
        for kind in ("fp16", "bf16"):
            if getattr(args, f"full_{kind}"):
                assert chosen == kind, (
                    f"full_{kind} requires mixed precision='{kind}' / "
                    f"full_{kind}を使う場合はmixed_precision='{kind}'を指定してください。"
                )
                print(f"enable full {kind} training.")
                self.full = True
                break
        self.scaler = torch.amp.GradScaler("cpu", enabled=chosen == "fp16" and not self.full)

    def cut(self, *models: nn.Module) -> None:
        """Cut the results of all layers of some models from now on."""
        if self.dtype is torch.float32:
            return
        for model in models:
            for layer in model.modules():
                if isinstance(layer, nn.Linear | nn.Conv2d):
                    layer.register_forward_hook(lambda _layer, _inputs, result: result.to(self.dtype).float())

    def backward(self, loss: Tensor) -> None:
        """Compute gradients of the scaled loss."""
        self.scaler.scale(loss).backward()

    def step(self, optimizer: Any, weights: list[Tensor], max_grad_norm: float) -> bool:
        """Clip and step; return whether the step was made."""
        self.scaler.unscale_(optimizer)
        if max_grad_norm:
            torch.nn.utils.clip_grad_norm_(weights, max_grad_norm)
        before = self.scaler.get_scale()
        self.scaler.step(optimizer)
        self.scaler.update()
        if self.full:
            with torch.no_grad():
                for weight in weights:
                    weight.copy_(weight.to(self.dtype))
        return self.scaler.get_scale() >= before

    def save_dtype(self, args: argparse.Namespace) -> torch.dtype | None:
        """Return the type that files are written in, None to keep it."""
        return SAVE_DTYPES.get(args.save_precision) or (self.dtype if self.full else None)
