"""Reads and writes weights: safetensors, and the two formats that only this program's own torch reads."""

from __future__ import annotations

import errno
import hashlib
from pathlib import Path

import torch
from safetensors.torch import load_file, save
from torch import Tensor

CHUNK = 1 << 20


def load_weights(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a file; nothing but tensors is ever read from a pickle."""
    if path.suffix == ".safetensors":
        return load_file(path)
    loaded: dict[str, Tensor] = torch.load(path, map_location="cpu", weights_only=True)
    return loaded


class SafetensorError(Exception):
    """A file could not be written; said in the words of the library that the trainer uses."""


SafetensorError.__module__ = "safetensors_rust"  # the name that a traceback of the trainer shows
KINDS = {
    errno.ENOSPC: "StorageFull",
    getattr(errno, "EDQUOT", 122): "QuotaExceeded",
    errno.EFBIG: "FileTooLarge",
    errno.EACCES: "PermissionDenied",
    errno.EROFS: "ReadOnlyFilesystem",
}


def save_weights(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """Write tensors straight under the final name, as the trainer does.

    Raises:
        SafetensorError: The disk is full, or the file cannot be written; what was written stays behind.
    """
    if path.suffix != ".safetensors":
        torch.save(tensors, path)
        return
    data = save(tensors, metadata or None)
    try:
        with path.open("wb", buffering=0) as file:
            written = 0
            while written < len(data):
                written += file.write(data[written : written + CHUNK])
    except OSError as error:
        kind = KINDS.get(error.errno or 0, "Other")
        reason = f'Os {{ code: {error.errno}, kind: {kind}, message: "{error.strerror}" }}'
        raise SafetensorError(f"Error while serializing: IoError({reason})") from None


def weight_hashes(state: dict[str, Tensor]) -> dict[str, str]:
    """Return the hashes over the weights alone, so that a renamed file is known again."""
    data = save(state)
    body = data[8 + int.from_bytes(data[:8], "little") :]
    return {
        "sshs_model_hash": hashlib.sha256(body).hexdigest(),
        "sshs_legacy_hash": hashlib.sha256(body[0x100000:0x110000]).hexdigest()[:8],
    }
