"""What CUDA's kernels take beside their results, and a CPU's do not."""

from __future__ import annotations

from typing import Any

import torch

_ATTENTION = "_scaled_dot_product_flash_attention_for_cpu_backward"


def backward_scratch(func: Any, args: tuple[Any, ...]) -> list[int]:
    """Return the scratch buffers of an operation, in bytes.

    The backward pass of flash attention adds the query's gradient up in fp32, and keeps a sum a row:
    ``dq_accum`` and ``softmax_d`` in ``aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp``.

    Args:
        func: The operation.
        args: Its arguments; of the attention: gradient, query, key, value, each of shape
            batch, heads, tokens, channels.
    """
    if _ATTENTION not in str(func):
        return []
    query: torch.Tensor = args[1]
    batch, heads, tokens, channels = query.shape
    rows = batch * heads * _up(tokens, 128)
    return [rows * _up(channels, 32) * 4, rows * 4]


def _up(number: int, step: int) -> int:
    return -(-number // step) * step
