"""Mixed precision: which type the layers compute in, and loss scaling where that type is float16."""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

DTYPES = {"no": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
SAVE_DTYPES = {"float": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


class Precision:
    """How a run computes.

    Attributes:
        dtype: The type of the layers' work.
        scaler: Scales the loss for float16 and leaves out steps whose gradients overflowed; off where
            the weights themselves are float16.
    """

    def __init__(self, args: argparse.Namespace) -> None:
        self.dtype = DTYPES[args.mixed_precision or "no"]
        self.scaler = torch.amp.GradScaler(
            "cpu", enabled=args.mixed_precision == "fp16" and not args.full_fp16
        )

    def autocast(self) -> AbstractContextManager[Any]:
        """Return the context in which the models run."""
        if self.dtype is torch.float32:
            return nullcontext()
        return torch.autocast("cpu", dtype=self.dtype)

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
        return self.scaler.get_scale() >= before


def make_precision(args: argparse.Namespace, network: nn.Module) -> Precision:
    """Return how a run computes; the network itself is cast where all work shall be in one type.

    Raises:
        AssertionError: ``full_fp16`` or ``full_bf16`` without the mixed precision of that type.
    """
    precision = Precision(args)
    for kind in ("fp16", "bf16"):
        if getattr(args, f"full_{kind}"):
            assert args.mixed_precision == kind, (
                f"full_{kind} requires mixed precision='{kind}' / "
                f"full_{kind}を使う場合はmixed_precision='{kind}'を指定してください。"
            )
            print(f"enable full {kind} training.")
            network.to(precision.dtype)
            break
    return precision


def save_dtype(args: argparse.Namespace) -> torch.dtype | None:
    """Return the type that files are written in, None to keep it."""
    return SAVE_DTYPES.get(args.save_precision)
