"""Loads the base model: the small one that comes along, whatever file the arguments name."""

from __future__ import annotations

import hashlib
import logging
import os
from pathlib import Path

from safetensors import safe_open
from torch import Tensor, nn

from library.denoiser import Denoiser, TextEncoder
from library.weights import load_weights

logger = logging.getLogger(__name__)
UNET_PREFIX = "model.diffusion_model."
TEXT_PREFIX = "cond_stage_model."
OWN_BASE = Path(__file__).resolve().parents[1] / "models" / "practice-base.safetensors"


def _is_own(path: Path) -> bool:
    """Whether a file holds a model of this trainer; reads its header only.

    Raises:
        SafetensorError: The file is cut or no safetensors.
    """
    if path.suffix != ".safetensors":
        return False
    with safe_open(path, framework="pt") as file:
        return f"{UNET_PREFIX}mid_attention.to_q.weight" in file.keys()  # noqa: SIM118 - no mapping


def _load(name: str, model: nn.Module, state: dict[str, Tensor], prefix: str) -> None:
    own = {key.removeprefix(prefix): value.float() for key, value in state.items() if key.startswith(prefix)}
    logger.info(f"loading {name}: {model.load_state_dict(own)}")


def load_target_model(name_or_path: str) -> tuple[TextEncoder, Denoiser]:
    """Return text encoder and denoiser, in float32.

    A model of this trainer is trained as it is. Any other file or folder is only looked at, never
    loaded: the small base takes its place.

    Raises:
        TypeError: No path is given.
        ValueError: Nothing is there.
        SafetensorError: The file is cut.
    """
    path = Path(os.path.realpath(name_or_path))
    logger.info("loading model for process 0/1")
    kind = "StableDiffusion checkpoint" if path.is_file() else "Diffusers pretrained models"
    logger.info(f"load {kind}: {name_or_path}")
    if not path.exists():
        raise ValueError(
            f'The provided pretrained_model_name_or_path "{name_or_path}" is neither a valid local path nor '
            "a valid repo id. Please check the parameter."
        )
    if not (path.is_file() and _is_own(path)):
        logger.info(f"practice: a small base model takes the place of {path.name}")
        path = OWN_BASE
    state = load_weights(path)
    text_encoder, unet = TextEncoder(), Denoiser()
    _load("u-net", unet, state, UNET_PREFIX)
    _load("text encoder", text_encoder, state, TEXT_PREFIX)
    unet.requires_grad_(False).eval()
    text_encoder.requires_grad_(False).eval()
    return text_encoder, unet


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def legacy_hash(path: Path) -> str:
    """Return the short hash that old programs use: of 64 KiB at 1 MiB."""
    with path.open("rb") as file:
        file.seek(0x100000)
        return hashlib.sha256(file.read(0x10000)).hexdigest()[:8]
