"""Loads what the memory forecast knows beside the traced tables: ``resources/memory/figures.yaml``."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from gui.engine.documents import Document
from gui.engine.hardware.memory.correction import Estimate, MemoryCorrection
from gui.engine.resources import resource_path
from gui.engine.yaml_text import read_yaml


class OptimizerFigures(Document):
    """What an optimizer keeps.

    Attributes:
        fp32: Bytes of state for each trained number that is kept in fp32.
        bf16: The same for numbers kept in bf16.
        step: Bytes of temporary tensors in its step, by bytes of the trained numbers.
        factored: Bytes more for each number of a 3×3 kernel.
        momentum: Bytes more for each trained number with ``beta1``.
        sliced: Whether ``slice_p`` thins half of its states.
    """

    fp32: NonNegativeFloat
    bf16: NonNegativeFloat
    step: NonNegativeFloat = 0.0
    factored: NonNegativeFloat = 0.0
    momentum: NonNegativeFloat = 0.0
    sliced: bool = False


class TextEncoderFigures(Document):
    """What a text encoder has.

    Attributes:
        parameters: Its numbers.
        embeddings: Of them those whose gradients stay when it is trained with checkpointing.
    """

    parameters: PositiveInt
    embeddings: NonNegativeInt = 0


class VaeFigures(Document):
    """What a VAE needs.

    Attributes:
        parameters: Its numbers.
        encode_gib: Working memory for a million pixels encoded in bf16, GiB.
        decode_gib: The same for decoding.
    """

    parameters: PositiveInt
    encode_gib: PositiveFloat
    decode_gib: PositiveFloat


class BlockNumbers(Document):
    """Numbers of a LoRA of rank 1 in each block of a U-Net.

    Attributes:
        linear: Of linear layers and 1×1 convolutions.
        conv: Of 3×3 convolutions.
    """

    linear: tuple[NonNegativeInt, ...]
    conv: tuple[NonNegativeInt, ...]


class FamilyFigures(Document):
    """The shape of one family's network, as far as memory depends on it.

    Attributes:
        vae: Which VAE; None when not known.
        text_encoders: Which text encoders; empty when not known.
        patch_px: Pixels of a side that become one place of the network.
        text: Whether text tokens stand in the same row as the image's.
        largest: Numbers of the largest weight; 0 when not known.
        convolutions: Numbers in 3×3 kernels, and three times those in 1×1 kernels; 0 for transformers.
        blocks: Kind of block to its size, MiB in bf16.
        swap: Kind of block to how many an odd and an even step of ``blocks_to_swap`` take away.
        heads: Pixels of a side for each place, heads and layers, where scores of attention are kept.
        linear_layers: Layers that an adapter is put on.
        groups: Part of the network to keys of ``network_args`` to numbers of a LoRA of rank 1.
        group_blocks: How many blocks each part has.
        block_dims: The same for each block of a U-Net.
    """

    vae: str | None = None
    text_encoders: tuple[str, ...] = ()
    patch_px: PositiveInt
    text: bool = False
    largest: NonNegativeInt = 0
    convolutions: NonNegativeInt = 0
    blocks: dict[str, PositiveFloat] = Field(default_factory=dict)
    swap: dict[str, tuple[int, int]] = Field(default_factory=dict)
    heads: tuple[tuple[int, int, int], ...] = ()
    linear_layers: PositiveInt
    groups: dict[str, dict[str, PositiveInt]] = Field(default_factory=dict)
    group_blocks: dict[str, PositiveInt] = Field(default_factory=dict)
    block_dims: BlockNumbers | None = None

    def swapped_gib(self, steps: int) -> float:
        """Return what ``blocks_to_swap`` keeps on the CPU, GiB of bf16 weights."""
        odd, even = (steps + 1) // 2, steps // 2
        return sum(self.blocks[kind] * (odd * of[0] + even * of[1]) for kind, of in self.swap.items()) / 1024


class ModelFigures(Document):
    """What no trace shows; see the comments of the file."""

    late: float
    late_stored: float
    offloaded: float
    fp8_copies: float
    single: float
    scores_kept: float
    scores_working: float
    sampling: float
    workspace: tuple[float, float]
    largest_px: PositiveInt


class Priors(Document):
    """Mean and standard deviation of what is assumed before any run was measured."""

    context_gib: dict[Literal["linux", "windows", "macos"], tuple[float, float]]
    activation: tuple[float, float]
    fragmentation: tuple[float, float]


class IntervalFigures(Document):
    """How wide low–high is; see the comments of the file."""

    sigmas: PositiveFloat
    unseen: NonNegativeFloat
    batch: NonNegativeFloat
    far: NonNegativeFloat
    guessed: NonNegativeFloat


class MemoryFigures(Document):
    """All of it."""

    schema_: Literal[1] = Field(alias="schema")
    optimizers: dict[str, OptimizerFigures]
    text_encoders: dict[str, TextEncoderFigures]
    vaes: dict[str, VaeFigures]
    families: dict[str, FamilyFigures]
    model: ModelFigures
    priors: Priors
    interval: IntervalFigures
    sources: tuple[str, ...] = ()

    def prior(self, system: str | None) -> MemoryCorrection:
        """Return what is assumed of a machine before any run was measured.

        Args:
            system: ``linux``, ``windows`` or ``macos``; None when not known, which counts as Linux.
        """
        contexts = self.priors.context_gib
        known = next((pair for name, pair in contexts.items() if name == system), contexts["linux"])
        context, activation, fragmentation = (
            Estimate(mean=mean, deviation=deviation)
            for mean, deviation in (known, self.priors.activation, self.priors.fragmentation)
        )
        return MemoryCorrection(context_gib=context, activation=activation, fragmentation=fragmentation)


@lru_cache(maxsize=4)
def load_figures(path: Path | None = None) -> MemoryFigures:
    """Return the figures.

    Args:
        path: The file; None takes the program's own.

    Raises:
        CannotRead: It is missing or damaged.
    """
    file = path or resource_path("memory", "figures.yaml")
    return read_yaml(file, MemoryFigures)
