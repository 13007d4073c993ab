"""The memory tables: what traced training steps of the trainer's own networks need, family by family.

A table is data in ``resources/memory/<family>.json``, made by the memory tracer
(``resources/memory_tracer``). All figures are bytes, as the caching allocator of PyTorch
counts them: each storage rounded up to 512.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field, NonNegativeInt, PositiveInt, ValidationError, model_validator

from gui.engine.documents import Document, read_text
from gui.engine.errors import CannotRead
from gui.engine.resources import resource_path
from gui.engine.texts import _

FOLDER = "memory"

Weights = Literal["fp32", "bf16", "fp8"]
"""How weights are kept; bf16 stands for fp16 too, which takes the same room."""

WEIGHTS: dict[int, Weights] = {1: "fp8", 2: "bf16", 4: "fp32"}
"""Bytes of each number to how weights are kept."""

Phase = Literal["load", "forward_1", "backward_1", "optimizer_1", "forward_2", "backward_2", "optimizer_2"]
"""A part of the traced steps. The optimizer's state appears in ``optimizer_1``: step 2 is the dear one."""


class StepSetting(Document):
    """How a traced training step was set up.

    Attributes:
        kind: ``lora``: an adapter on frozen weights; ``full``: all weights of the network.
        width_px: Width of the images.
        height_px: Height of the images.
        batch: Images in one step, accumulation not counted.
        text_tokens: Length of the text sequence that the network is given.
        checkpointing: Whether ``gradient_checkpointing`` is on.
        attention: ``sdpa`` stands for xformers and flash attention too; ``none`` keeps the scores.
        weights: How the network's weights are kept.
        autocast: Whether mixed precision is on.
        rank: ``network_dim``; None in full training.
        adapter: How the adapter's weights are kept: fp32 unless ``full_bf16`` or ``full_fp16``.
        text_encoders: Whether the text encoders are trained as well; where not, their outputs are cached.
        optimizer: ``optimizer_type``; None where only forward and backward of one step were traced.
        fused_backward: Whether ``fused_backward_pass`` is on.
    """

    kind: Literal["lora", "full"] = "lora"
    width_px: PositiveInt
    height_px: PositiveInt
    batch: PositiveInt = 1
    text_tokens: PositiveInt
    checkpointing: bool = True
    attention: Literal["sdpa", "none"] = "sdpa"
    weights: Weights = "bf16"
    autocast: bool = True
    rank: PositiveInt | None = 16
    adapter: Literal["fp32", "bf16"] = "fp32"
    text_encoders: bool = False
    optimizer: str | None = None
    fused_backward: bool = False


class StepResult(Document):
    """What a traced training step needed, all in bytes.

    Attributes:
        trainable_parameters: How many numbers are trained; no bytes.
        weights: What the network and, where they are trained, the text encoders weigh.
        adapter: What the adapter weighs; 0 in full training.
        gradients: All gradients together after the backward pass; with a fused backward what is left of them.
        optimizer_state: What the optimizer keeps from step to step; 0 where none was traced.
        phases: Live peak of each phase.
        peak: The highest of them.
        peak_phase: The phase of the peak.
        peak_operation: The operation at the peak.
        allocated: The most that ``torch.cuda.max_memory_allocated`` would tell; None where it was not kept.
        reserved: The most that the caching allocator took from the device.
        operations: How many operations were traced; no bytes.
    """

    trainable_parameters: PositiveInt
    weights: PositiveInt
    adapter: NonNegativeInt
    gradients: NonNegativeInt
    optimizer_state: NonNegativeInt
    phases: dict[Phase, PositiveInt] = Field(min_length=1)
    peak: PositiveInt
    peak_phase: Phase
    peak_operation: str
    allocated: PositiveInt | None = None
    reserved: PositiveInt
    operations: PositiveInt

    @model_validator(mode="after")
    def _peak_is_of_the_phases(self) -> StepResult:
        if self.phases.get(self.peak_phase) != self.peak or self.peak != max(self.phases.values()):
            raise ValueError("the peak is not that of its phase, or of all phases")
        if self.reserved < self.peak:
            raise ValueError("less was reserved than was live")
        return self


class StepRow(Document):
    """One traced training."""

    setting: StepSetting
    result: StepResult


class TracedStep(NamedTuple):
    """A training that was traced apart from the tables.

    Attributes:
        family: The family of the table that it completes.
        row: What was traced.
    """

    family: str
    row: StepRow


class PassSetting(Document):
    """How a pass without gradients was set up.

    Attributes:
        part: ``vae_encode``: latents cached; ``vae_decode``: a sample made visible; ``text_encode``:
            texts cached, by all text encoders; ``sample``: one step of the network while sampling.
        width_px: Width of the images; None for texts.
        height_px: Height of the images; None for texts.
        batch: Images or texts in one pass; with guidance a sample counts twice.
        text_tokens: Length of the text sequence; None for the VAE.
        weights: How the part's weights are kept.
    """

    part: Literal["vae_encode", "vae_decode", "text_encode", "sample"]
    width_px: PositiveInt | None = None
    height_px: PositiveInt | None = None
    batch: PositiveInt = 1
    text_tokens: PositiveInt | None = None
    weights: Weights = "bf16"


class PassResult(Document):
    """What a pass without gradients needed, all in bytes.

    Attributes:
        weights: What the part's modules weigh.
        peak: The live peak, weights included.
        peak_operation: The operation at the peak.
        allocated: The most that ``torch.cuda.max_memory_allocated`` would tell; None where it was not kept.
        reserved: The most that the caching allocator took from the device.
        operations: How many operations were traced; no bytes.
    """

    weights: PositiveInt
    peak: PositiveInt
    peak_operation: str
    allocated: PositiveInt | None = None
    reserved: PositiveInt
    operations: PositiveInt


class PassRow(Document):
    """One traced pass."""

    setting: PassSetting
    result: PassResult


class MemoryTable(Document):
    """What was traced of one family.

    Attributes:
        schema_version: The version of the format.
        family: The family, by the name of its file in ``resources/families``; families that extend it
            have the same networks.
        trainer_commit: The commit of sd-scripts whose networks were traced.
        torch: The version of torch that traced them.
        transformers: The version of transformers whose text encoders were traced.
        parameters: How many numbers each part has, such as ``network``, ``text_encoder``, ``vae``.
        steps: The traced trainings.
        passes: The traced passes without gradients.
    """

    schema_version: Literal[1] = Field(default=1, alias="schema")
    family: str
    trainer_commit: str
    torch: str
    transformers: str
    parameters: dict[str, PositiveInt]
    steps: tuple[StepRow, ...]
    passes: tuple[PassRow, ...] = ()


def load_tables(folder: Path | None = None) -> dict[str, MemoryTable]:
    """Return the memory tables by the name of their family.

    Args:
        folder: Where the files lie; None takes the program's own.

    Raises:
        CannotRead: There are none, or one is damaged.
    """
    return dict(_load_all(folder or resource_path(FOLDER)))


@lru_cache(maxsize=4)
def _load_all(folder: Path) -> dict[str, MemoryTable]:
    tables = {path.stem: read_table(path) for path in sorted(folder.glob("*.json"))}
    if not tables:
        raise CannotRead(folder, _("there are no memory tables in it"))
    return tables


def read_table(path: Path) -> MemoryTable:
    """Read one memory table.

    Raises:
        CannotRead: It is missing, or is no memory table, or that of another family.
    """
    try:
        table = MemoryTable.model_validate_json(read_text(path))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "–"
        raise CannotRead(
            path, _("it is no memory table ({place}: {reason})").format(place=place, reason=first["msg"])
        ) from error
    if table.family != path.stem:
        raise CannotRead(path, _("its family must be that of the file, {name}").format(name=path.stem))
    return table
