"""What is to be traced, as the task file says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Setting:
    """One training step or one pass to trace; absent values are those that people usually have.

    Attributes:
        family: The family of models, such as ``sdxl``.
        part: ``step``, ``sample``, ``vae_encode``, ``vae_decode`` or ``text_encode``.
        kind: ``lora`` or ``full``.
        width_px: Width of the images.
        height_px: Height of the images.
        batch: Images or texts at a time.
        text_tokens: Length of the text sequence.
        checkpointing: Whether activations are recomputed in the backward pass.
        attention: ``sdpa``, or ``none`` for the formula written out.
        weights: ``fp32``, ``bf16`` or ``fp8``.
        autocast: Whether mixed precision is on.
        rank: Rank of the adapter.
        adapter: ``fp32`` or ``bf16``, for the weights of the adapter.
        text_encoders: Whether the text encoders are trained too.
        optimizer: The trainer's name of it; None ends the trace after the first backward pass.
        fused_backward: Whether the optimizer steps while gradients come.
    """

    family: str
    part: str = "step"
    kind: str = "lora"
    width_px: int = 1024
    height_px: int = 1024
    batch: int = 1
    text_tokens: int = 77
    checkpointing: bool = True
    attention: str = "sdpa"
    weights: str = "bf16"
    autocast: bool = True
    rank: int | None = 16
    adapter: str = "fp32"
    text_encoders: bool = False
    optimizer: str | None = None
    fused_backward: bool = False

    @classmethod
    def of(cls, task: dict[str, Any]) -> Setting:
        """Return the setting of a task, whose absent and null values are the usual ones."""
        kept = {key: value for key, value in task.items() if value is not None}
        if task.get("kind") == "full":
            kept["rank"] = None
        return cls(**kept)
