"""Which block of the model a tensor belongs to, by its name: training does not move all of them alike."""

from __future__ import annotations

import re

_PART = re.compile(
    r"^lora_([a-z]+\d*)_|^(?:[a-z_]+\.)*?(text_encoder\w*|text_model|cond_stage_model|conditioner)\b"
)
_BLOCK = re.compile(
    r"(?:^|[._])((?:(?:down|up|input|output|double|single|joint|middle|transformer|encoder|decoder|context_refiner"
    r"|noise_refiner|llm_adapter)_?)*(?:blocks?|layers))[._](\d+)(?=[._]|$)"
)
_MIDDLE = re.compile(r"(?:^|[._])(mid_block|middle_block)(?=[._]|$)")
_NUMBER = re.compile(r"(\d+)")
_WAY = {"input": 0, "down": 0, "mid": 1, "middle": 1, "output": 2, "up": 2}
"""The order in which a U-Net is gone through."""

REST = "other"


def tensor_block(name: str) -> str:
    """Return the part and the block of a tensor, such as ``unet down_blocks_0`` or ``te1 layers_5``.

    Args:
        name: Of an adapter's tensor or a model's; what lies in no numbered block is ``other``.
    """
    found = _PART.match(name)
    part = (found[1] or "te") if found else ""
    rest = name[found.end() :] if found and found[1] else name
    middle, block = _MIDDLE.search(rest), _BLOCK.search(rest)
    if middle is not None and (block is None or middle.start() <= block.start()):
        where = middle[1]
    elif block is not None:
        where = f"{block[1]}_{block[2]}"
    else:
        where = REST
    return f"{part} {where}".strip()


def block_order(block: str) -> tuple[object, ...]:
    """Return by what blocks are sorted: by part, then as the model goes through them."""
    part, _space, where = block.rpartition(" ")
    pieces = [int(piece) if piece.isdigit() else piece for piece in _NUMBER.split(where)]
    way = _WAY.get(where.partition("_")[0], 1)
    numbers = tuple(piece for piece in pieces if isinstance(piece, int))
    return (where == REST, part, way, str(pieces[0]), numbers)
