"""Reads and writes weights: safetensors, and the two formats that only this program's own torch reads."""

from __future__ import annotations

import hashlib
from pathlib import Path

import torch
from safetensors.torch import load_file, save, save_file
from torch import Tensor


def load_weights(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a file; nothing but tensors is ever read from a pickle."""
    if path.suffix == ".safetensors":
        return load_file(path)
    loaded: dict[str, Tensor] = torch.load(path, map_location="cpu", weights_only=True)
    return loaded


def save_weights(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None) -> None:
    """Write tensors straight under the final name, as the trainer does: a full disk leaves a cut file."""
    if path.suffix == ".safetensors":
        save_file(tensors, path, metadata or None)
    else:
        torch.save(tensors, path)


def weight_hashes(state: dict[str, Tensor]) -> dict[str, str]:
    """Return the hashes over the weights alone, so that a renamed file is known again."""
    data = save(state)
    body = data[8 + int.from_bytes(data[:8], "little") :]
    return {
        "sshs_model_hash": hashlib.sha256(body).hexdigest(),
        "sshs_legacy_hash": hashlib.sha256(body[0x100000:0x110000]).hexdigest()[:8],
    }
