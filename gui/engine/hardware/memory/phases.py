"""Adds up what each phase of a run needs. Source: train_network.py:598-900 and the scripts built on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from gui.engine.hardware.memory.activations import Activations
from gui.engine.hardware.memory.curves import beyond, rising
from gui.engine.hardware.memory.figures import FamilyFigures, MemoryFigures
from gui.engine.hardware.memory.forecasts import MemoryParts, PhaseName
from gui.engine.hardware.memory.question import MemoryQuestion, SamplesQuestion
from gui.engine.hardware.memory.tables import WEIGHTS, MemoryTable, PassRow
from gui.engine.hardware.memory.trained import OptimizerNeeds, Trained
from gui.engine.quantities import GIB

MEGAPIXEL = 1_000_000
DDP_GIB = 0.5
"""What NCCL takes when several GPUs train together: 23.0 GB became 23.5."""

ENCODING_GIB = 0.2
"""Working memory for encoding a caption, small against the encoders themselves."""

SMALL_TEXT_ENCODERS = ("clip_l", "clip_h", "clip_g")
"""Those that can be trained while the large one is cached (flux_train_network.py:204)."""


@dataclass(frozen=True)
class Budgeting:
    """Everything that phases are added up from.

    Attributes:
        question: What is asked.
        table: The traced table.
        shape: The shape of the family's network.
        figures: What no trace shows.
        trained: What is trained.
        optimizer: What the optimizer takes.
        activations: What a step needs beside that.
    """

    question: MemoryQuestion
    table: MemoryTable
    shape: FamilyFigures
    figures: MemoryFigures
    trained: Trained
    optimizer: OptimizerNeeds
    activations: Activations

    def phases(self) -> Iterator[tuple[PhaseName, MemoryParts]]:
        """Yield each phase with its parts; context is left to whoever knows the machine."""
        if self.question.latents_cached and self._vae_gib:
            yield "latents", self._latents()
        if self.question.text_cached and self._text_all_gib:
            yield "text", self._text()
        yield "load", MemoryParts(weights=self._loaded_gib + self._beside_gib, adapter=self._adapter_gib)
        yield "step", self._step()
        if self.question.samples is not None and self._vae_gib:
            yield "samples", self._samples(self.question.samples)
        yield (
            "saving",
            MemoryParts(
                weights=self._model_gib + self._beside_gib,
                adapter=self._adapter_gib,
                optimizer=self.optimizer.state,
            ),
        )

    @cached_property
    def _model_gib(self) -> float:
        """What the U-Net or transformer weighs on the GPU, blocks that are swapped left out."""
        asked = self.question
        swapped = self.shape.swapped_gib(asked.blocks_to_swap) * asked.weight_bytes / 2
        return max(0.0, self._weight_gib(asked.weight_bytes) - swapped)

    def _weight_gib(self, each: int) -> float:
        for row in self.table.steps:
            if row.setting.weights == WEIGHTS[each] and not row.setting.text_encoders:
                return row.result.weights / GIB
        return self.table.parameters["network"] * each / GIB

    @cached_property
    def _loaded_gib(self) -> float:
        """With ``lowram`` the weights arrive on the GPU before they become fp8."""
        asked = self.question
        early = asked.lowram and asked.weight_bytes == 1 and not asked.blocks_to_swap
        return self._weight_gib(2) if early else self._model_gib

    @cached_property
    def _adapter_gib(self) -> float:
        if self.question.kind == "full":
            return 0.0
        return (self.trained.numbers + self.trained.frozen) * self.question.trained_bytes / GIB

    @cached_property
    def _gradients_gib(self) -> float:
        asked = self.question
        whole = self.trained.numbers * asked.trained_bytes / GIB
        if asked.optimizer.fused:
            return min(whole, self.shape.largest * asked.trained_bytes / GIB)
        return whole / asked.optimizer.groups if asked.optimizer.groups > 1 else whole

    @cached_property
    def _left_over_gib(self) -> float:
        """Gradients of embeddings, made for checkpointing, that nothing takes away after a step."""
        asked = self.question
        if asked.network is None or not asked.network.trains_text or not asked.checkpointing:
            return 0.0
        known = [self.figures.text_encoders[name] for name in self.shape.text_encoders]
        return sum(each.embeddings for each in known) * (2 if asked.half else 4) / GIB

    @cached_property
    def _copies_gib(self) -> float:
        """Under autocast each trained fp32 weight has a bf16 copy until the forward pass ends."""
        asked = self.question
        return self.trained.numbers * 2 / GIB if asked.half and asked.trained_bytes == 4 else 0.0

    @cached_property
    def _beside_gib(self) -> float:
        """What text encoders and VAE weigh that stay on the GPU while training."""
        vae = 0.0 if self.question.latents_cached else self._vae_gib
        return vae + self._text_resident_gib

    @cached_property
    def _vae_gib(self) -> float:
        known = self.figures.vaes.get(self.shape.vae or "")
        return known.parameters * (4 if self._vae_single else 2) / GIB if known else 0.0

    @property
    def _vae_single(self) -> bool:
        return self.question.vae_single or not self.question.half

    def _encoders_gib(self, names: tuple[str, ...], each: int, *, large_each: int) -> float:
        return sum(
            self.figures.text_encoders[name].parameters
            * (each if name in SMALL_TEXT_ENCODERS else large_each)
            / GIB
            for name in names
        )

    @cached_property
    def _text_all_gib(self) -> float:
        """What all text encoders weigh while captions are encoded."""
        each = 2 if self.question.half else 4
        large = 1 if self.question.fp8_t5_file else each
        return self._encoders_gib(self.shape.text_encoders, each, large_each=large)

    @cached_property
    def _text_resident_gib(self) -> float:
        asked = self.question
        names = self.shape.text_encoders
        if asked.text_cached and not asked.trains_text:
            return 0.0
        if asked.text_cached:
            names = tuple(name for name in names if name in SMALL_TEXT_ENCODERS)
        each = (1 if asked.fp8_text else 2) if asked.half else 4
        if asked.kind == "full" and asked.text_trained:
            each = asked.trained_bytes
        return self._encoders_gib(names, each, large_each=each)

    def _step(self) -> MemoryParts:
        """The step from the second on: states are there; the peak is in one of three places."""
        asked, needs, grads = self.question, self.activations, self._gradients_gib
        kept = grads if asked.accumulation > 1 else 0.0
        buckets = grads + DDP_GIB if asked.gpus > 1 else 0.0
        stored = 0.0 if asked.checkpointing else self._copies_gib
        largest = self.shape.largest * 8 / GIB if asked.optimizer.fused else 0.0
        weights = self._model_gib + self._beside_gib
        encoding = 0.0 if asked.latents_cached else self._encoding_gib(asked.batch)
        candidates = (
            self._moment(weights, kept, needs.forward, self._copies_gib),
            self._moment(
                weights, max(kept, grads if asked.optimizer.fused else 0.0), needs.early, stored + largest
            ),
            self._moment(weights, grads, needs.late, 0.0),
            self._moment(weights, grads, 0.0, 0.0, self.optimizer.step),
            self._moment(weights, kept, encoding, 0.0),
        )
        most = max(candidates, key=lambda parts: parts.total)
        return most.model_copy(
            update={
                "activations": most.activations + self._workspace_gib,
                "gradients": most.gradients + buckets + self._left_over_gib,
                "fragmentation": needs.spare,
            }
        )

    @property
    def _workspace_gib(self) -> float:
        """What the kernels of convolutions take beside the tensors that a trace shows."""
        asked, (once, each) = self.question, self.figures.model.workspace
        pixels = asked.width_px * asked.height_px * asked.batch
        return once + each * pixels / MEGAPIXEL if self.shape.convolutions else 0.0

    def _moment(
        self, weights: float, gradients: float, activations: float, copies: float, temporary: float = 0.0
    ) -> MemoryParts:
        return MemoryParts(
            weights=weights,
            adapter=self._adapter_gib,
            gradients=gradients,
            optimizer=self.optimizer.state + temporary,
            activations=activations + copies,
        )

    def _encoding_gib(self, images: int) -> float:
        """What the VAE works with while it encodes images of the largest bucket."""
        asked = self.question
        return self._pass_gib("vae_encode", asked.width_px * asked.height_px * images)

    def _pass_gib(self, part: str, pixels: float) -> float:
        kept = "fp32" if self._vae_single else "bf16"
        rows = [row for row in self.table.passes if row.setting.part == part and row.setting.weights == kept]
        if rows:
            return beyond(rising((_pixels(row), _working(row)) for row in rows), pixels)
        known = self.figures.vaes.get(self.shape.vae or "")
        if known is None:
            return 0.0
        each = known.encode_gib if part == "vae_encode" else known.decode_gib
        return each * pixels / MEGAPIXEL * (2 if self._vae_single else 1)

    def _latents(self) -> MemoryParts:
        working = self._encoding_gib(max(1, self.question.vae_batch))
        return MemoryParts(weights=self._vae_gib, activations=working)

    def _text(self) -> MemoryParts:
        """What the text encoders hold while captions are encoded (train_util.py:1304)."""
        asked = self.question
        rows = [row for row in self.table.passes if row.setting.part == "text_encode"]
        traced = rising((row.setting.batch, _working(row)) for row in rows)
        captions = max(1, asked.text_batch or asked.batch)
        working = beyond(traced, captions) if traced else ENCODING_GIB
        return MemoryParts(weights=self._text_all_gib, activations=working)

    def _samples(self, samples: SamplesQuestion) -> MemoryParts:
        asked = self.question
        pixels = samples.width_px * samples.height_px
        images = 2 if samples.guided else 1
        share = images * pixels / max(1, asked.batch * asked.width_px * asked.height_px)
        part = 1.0 if asked.checkpointing else 0.1  # a pass without gradients stores nothing
        drawing = self.activations.early * part * self.figures.model.sampling * share
        decoding = self._pass_gib("vae_decode", pixels) + (self._vae_gib if asked.latents_cached else 0.0)
        return MemoryParts(
            weights=self._model_gib + self._beside_gib,
            adapter=self._adapter_gib,
            optimizer=self.optimizer.state,
            activations=max(drawing, decoding),
        )


def _pixels(row: PassRow) -> float:
    return (row.setting.width_px or 1) * (row.setting.height_px or 1) * row.setting.batch


def _working(row: PassRow) -> float:
    return (row.result.reserved - row.result.weights) / GIB
