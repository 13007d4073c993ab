"""What a forecast of memory is asked: a plan, boiled down to what memory depends on."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from gui.engine.documents import Document

Kind = Literal["lora", "full", "textual_inversion", "other"]


class NetworkQuestion(Document):
    """The network that is trained beside a frozen model.

    Attributes:
        module: ``network_module``.
        rank: ``network_dim``.
        arguments: ``network_args`` as a table.
        trains_model: Whether it is put on the U-Net or transformer.
        trains_text: Whether it is put on the text encoders.
    """

    module: str = "networks.lora"
    rank: int = Field(default=4, ge=0)
    arguments: dict[str, str] = Field(default_factory=dict)
    trains_model: bool = True
    trains_text: bool = False


class OptimizerQuestion(Document):
    """The optimizer.

    Attributes:
        name: In lower case, without ``torch.optim.`` and the like.
        arguments: ``optimizer_args`` as a table.
        fused: Whether each gradient is used up as soon as it is made.
        groups: Into how many groups ``fused_optimizer_groups`` splits the gradients; 0 for none.
    """

    name: str = "adamw"
    arguments: dict[str, str] = Field(default_factory=dict)
    fused: bool = False
    groups: int = Field(default=0, ge=0)


class SamplesQuestion(Document):
    """Sample images made while training.

    Attributes:
        width_px: Width of the largest.
        height_px: Height of the largest.
        guided: Whether each is worked out twice, with and without its prompt.
    """

    width_px: int = 512
    height_px: int = 512
    guided: bool = True


class MemoryQuestion(Document):
    """Everything that GPU memory depends on.

    Attributes:
        family: Name of the model family.
        kind: How the weights are trained; ``other`` is not forecast.
        width_px: Width of the largest bucket that is used.
        height_px: Height of the largest bucket.
        batch: Images that go through the network at once.
        accumulation: Batches whose gradients are added up before a step.
        checkpointing: Whether activations are worked out twice instead of kept.
        offloads: Whether the checkpoints wait on the CPU.
        attention: ``sdpa`` for all kernels that keep no scores.
        mixed_precision: As the trainer has it.
        full_half: ``full_bf16`` or ``full_fp16``.
        fp8: Whether the model's weights are kept in fp8.
        fp8_text: Whether the text encoders' are too, while they are on the GPU in training.
        fp8_t5_file: Whether T5, or another large text encoder, is in fp8 from the start.
        blocks_to_swap: As the trainer has it.
        network: The network; None in full training.
        text_trained: Whether full training includes the text encoders.
        optimizer: The optimizer.
        latents_cached: Whether latents are made before training.
        text_cached: Whether captions are encoded before training.
        text_batch: Captions that are encoded at once; None for as many as images are trained at once.
        vae_single: Whether the VAE stays in fp32.
        vae_batch: Images that are encoded at once.
        samples: Sample images; None for none.
        lowram: Whether models are loaded straight onto the GPU.
        gpus: GPUs that train together.
        obstacle: Why it cannot be forecast, in words; empty when nothing stands against it.
    """

    family: str
    kind: Kind = "lora"
    width_px: int = 0
    height_px: int = 0
    batch: int = 1
    accumulation: int = 1
    checkpointing: bool = False
    offloads: bool = False
    attention: Literal["sdpa", "none"] = "sdpa"
    mixed_precision: Literal["no", "fp16", "bf16"] = "no"
    full_half: bool = False
    fp8: bool = False
    fp8_text: bool = False
    fp8_t5_file: bool = False
    blocks_to_swap: int = 0
    network: NetworkQuestion | None = None
    text_trained: bool = False
    optimizer: OptimizerQuestion = OptimizerQuestion()
    latents_cached: bool = False
    text_cached: bool = False
    text_batch: int | None = None
    vae_single: bool = False
    vae_batch: int = 1
    samples: SamplesQuestion | None = None
    lowram: bool = False
    gpus: int = 1
    obstacle: str = ""

    @property
    def half(self) -> bool:
        """Whether half precision is used at all."""
        return self.mixed_precision != "no"

    @property
    def trains_text(self) -> bool:
        """Whether any text encoder is trained."""
        return (
            self.network.trains_text
            if self.network
            else self.text_trained or self.kind == "textual_inversion"
        )

    @property
    def trained_bytes(self) -> int:
        """Bytes of each trained number: fp32 unless ``full_bf16`` or ``full_fp16``."""
        return 2 if self.full_half else 4

    @property
    def weight_bytes(self) -> int:
        """Bytes of each weight of the model."""
        if self.kind == "full":
            return self.trained_bytes
        if not self.half:
            return 4
        return 1 if self.fp8 else 2
