"""Headers of real models: names and shapes of the trainer's own model classes, written as small files.

``tests/data/model_headers`` holds a line for each group of tensors: ``blocks.[0-18].proj.weight
3072x3072`` stands for nineteen. They were read off the classes that sd-scripts 0.10.1 itself loads
weights into, built without memory; of ``flux-dev-diffusers`` the names alone are real, from the
trainer's own table of names.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

from gui.engine.trainer.safetensors_file import DTYPE_BITS, SafetensorsHeader, TensorInfo

HEADERS = Path(__file__).parents[1] / "data" / "model_headers"
Shapes = dict[str, tuple[int, ...]]


def shapes_of(name: str, prefix: str = "") -> Shapes:
    """Return tensor name to shape of a model, each name behind a prefix."""
    lines = (HEADERS / f"{name}.txt").read_text("utf-8").splitlines()
    return {prefix + tensor: shape for line in lines for tensor, shape in _expanded(line)}


def _expanded(line: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    pattern, _, sizes = line.rpartition(" ")
    shape = () if sizes == "-" else tuple(map(int, sizes.split("x")))
    parts = re.split(r"\[([\d,-]+)\]", pattern)
    choices = [list(_numbers(part)) if odd % 2 else [part] for odd, part in enumerate(parts)]
    for chosen in itertools.product(*choices):
        yield "".join(chosen), shape


def _numbers(text: str) -> Iterator[str]:
    for run in text.split(","):
        first, _, last = run.partition("-")
        yield from map(str, range(int(first), int(last or first) + 1))


def header_of(
    shapes: Shapes, metadata: Mapping[str, str] | None = None, dtype: str = "BF16"
) -> SafetensorsHeader:
    """Return the header that a whole file with these tensors has; offsets are left out."""
    tensors = {name: TensorInfo(dtype, shape, 0, 0) for name, shape in shapes.items()}
    return SafetensorsHeader(tensors, dict(metadata or {}), 0, 8, 8)


def write_model(
    path: Path, shapes: Shapes, metadata: Mapping[str, str] | None = None, dtype: str = "BF16", less: int = 0
) -> Path:
    """Write a model as a file with holes, which takes no room on the disk.

    Args:
        path: The file.
        shapes: Its tensors.
        metadata: Its text fields.
        dtype: Of all tensors.
        less: How many bytes are missing at its end.
    """
    at = 0
    fields: dict[str, object] = {"__metadata__": dict(metadata)} if metadata else {}
    for name, shape in shapes.items():
        size = math.prod(shape) * DTYPE_BITS[dtype] // 8
        fields[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    raw = json.dumps(fields).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(raw)) + raw)
        file.truncate(8 + len(raw) + at - less)
    return path
