"""Which tensors of a model file belong together, by their names, and with what size they start.

Norms are compared group by group: a LoRA's two halves grow quite differently (one starts at zero),
and so do the U-Net's and the text encoders' parts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

_PART = re.compile(r"^(lora_[a-z]+\d*)_")
"""The part of the model that a LoRA module belongs to: ``lora_unet``, ``lora_te1`` (lora.py:888)."""

_KIND = re.compile(
    r"^(lora_(?:up|down|mid|A|B)|alpha|hada_\w+|lokr_\w+|oft_\w+|dora_scale|diff(?:_b)?|[ab]1_\w+)$"
)
"""What a tensor is within an adapter (networks/*.py; LyCORIS; PEFT writes lora_A, lora_B)."""

_KAIMING_KINDS = frozenset({"lora_down", "lora_A"})
"""Start as uniform within ±1/sqrt(inputs): mean square 1/(3 · inputs) (lora.py:76)."""

_ZERO_KINDS = frozenset({"lora_up", "lora_B"})
"""Start at zero (lora.py:77)."""


def tensor_group(name: str) -> str:
    """Return the part of the model and the kind of a tensor, joined by a dot.

    ``lora_unet_mid_block_1_proj_in.lora_up.weight`` is of ``lora_unet.lora_up``; a tensor of a whole
    model is named by its first two parts and its last one, such as ``model.diffusion_model.weight``.
    """
    parts = name.split(".")
    match = _PART.match(name)
    kind = next((part for part in parts[1:] if _KIND.match(part)), None)
    if kind:
        return f"{match[1] if match else parts[0]}.{kind}"
    if len(parts) < 4:
        return parts[0] if len(parts) == 1 else f"{parts[0]}.{parts[-1]}"
    return ".".join((*parts[:2], parts[-1]))


def is_constant(group: str) -> bool:
    """Whether the group holds scale constants, which training never changes."""
    return group.endswith(".alpha")


def grows_from_little(group: str) -> bool:
    """Whether the group's numbers may start at or near zero, so that early growth is no jump.

    That holds for parts of adapters, but for those that start at a size of their own, and for the
    vectors of a textual inversion.
    """
    kind = group.rpartition(".")[2]
    return kind not in _KAIMING_KINDS and (kind == group or _KIND.match(kind) is not None)


def start_rms(group: str, shapes: Iterable[tuple[int, ...]]) -> float | None:
    """Return the root mean square with which training starts from nothing, where it is known.

    Args:
        group: As :func:`tensor_group` names it.
        shapes: Of its tensors; the first dimension of ``lora_down`` is the rank.
    """
    kind = group.rpartition(".")[2]
    if kind in _ZERO_KINDS:
        return 0.0
    if kind not in _KAIMING_KINDS:
        return None
    squares = elements = 0.0
    for shape in shapes:
        count: int = math.prod(shape)
        if shape and count:
            squares += shape[0] / 3
            elements += count
    return math.sqrt(squares / elements) if elements else None
