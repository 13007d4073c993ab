"""Makes mixed precision on a CPU choose the types that it chooses on CUDA.

On CUDA more operations run in fp32. Here they are registered for the CPU at the place where the
dispatcher looks for them, so that also recomputation in the backward pass and operations inside of
others are cast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

FP32 = (
    *("acos", "asin", "cosh", "erfinv", "exp", "expm1", "log", "log10", "log2", "log1p", "reciprocal"),
    *("rsqrt", "sinh", "tan", "pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar", "softplus"),
    *("layer_norm", "native_layer_norm", "rms_norm", "group_norm", "cosine_similarity", "l1_loss"),
    *("smooth_l1_loss", "huber_loss", "mse_loss", "dist", "logsumexp"),
    *("upsample_nearest1d", "_upsample_nearest_exact1d", "upsample_nearest2d", "_upsample_nearest_exact2d"),
    *("upsample_nearest3d", "_upsample_nearest_exact3d", "upsample_bilinear2d", "upsample_bicubic2d"),
)
"""Operations whose arguments are cast to fp32. Source: torch/include/ATen/autocast_mode.h, AT_FORALL_FP32."""

FP32_RESULT = (
    *("prod", "prod.dim_int", "softmax.int", "log_softmax.int", "cumprod", "cumsum"),
    *("linalg_vector_norm", "sum", "sum.dim_IntList"),
)
"""Operations that are asked for a result in fp32. Source: there, AT_FORALL_FP32_SET_OPT_DTYPE."""

_HALVES = (torch.bfloat16, torch.float16)
_KEYS = ("AutocastCUDA", "AutocastCPU")


@contextmanager
def cuda_autocast_rules() -> Iterator[None]:
    """Have CUDA's rules of mixed precision on the CPU while it is entered."""
    library = torch.library.Library("aten", "IMPL")
    for name in FP32:
        _register(library, name, _in_fp32)
    for name in FP32_RESULT:
        _register(library, name, _with_fp32_result)
    try:
        yield
    finally:
        library._destroy()


def _register(library: Any, name: str, rule: Callable[[Any], Callable[..., Any]]) -> None:
    """Register a rule where this torch has one for CUDA and none for the CPU."""
    on_cuda, on_cpu = (_has_rule(name, key) for key in _KEYS)
    if on_cuda and not on_cpu:
        packet, _dot, overload = name.partition(".")
        operation = getattr(getattr(torch.ops.aten, packet), overload or "default")
        library.impl(name, rule(operation), "AutocastCPU")


def _has_rule(name: str, key: str) -> bool:
    try:
        return bool(torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", key))
    except RuntimeError:  # this torch has no such operation
        return False


def _without_autocast() -> Any:
    return torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU))


def _in_fp32(operation: Any) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        with _without_autocast():
            return operation(
                *(_cast(value) for value in args), **{key: _cast(value) for key, value in kwargs.items()}
            )

    return call


def _with_fp32_result(operation: Any) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        if args[0].dtype in _HALVES and kwargs.get("dtype") is None:
            kwargs["dtype"] = torch.float32
        with _without_autocast():
            return operation(*args, **kwargs)

    return call


def _cast(value: Any) -> Any:
    return value.float() if isinstance(value, torch.Tensor) and value.dtype in _HALVES else value
