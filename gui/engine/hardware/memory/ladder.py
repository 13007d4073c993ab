"""The steps that save GPU memory, the cheapest first, and what each costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gui.engine.documents import Document
from gui.engine.hardware.memory.question import MemoryQuestion, OptimizerQuestion
from gui.engine.texts import _

Confidence = Literal["high", "medium", "low"]

FIXED_ADAFACTOR = ("relative_step=False", "scale_parameter=False", "warmup_init=False")
"""Adafactor that keeps to the learning rate (docs/flux_train_network.md:302)."""

SMALL_STATES = frozenset(
    {
        "adamw8bit",
        "pagedadamw8bit",
        "lion8bit",
        "pagedlion8bit",
        "adafactor",
        "rmsprop8bit",
        "sgdnesterov8bit",
    }
)
"""Optimizers whose state is as small as that of the step that would be offered."""

LEAST_RANK = 8
LEAST_SIDE_PX = {"sd15": 512, "sd2": 512}
"""Below these sides families learn badly; 768 where none is named."""

T5_FAMILIES = frozenset({"flux1", "flux1-schnell", "chroma", "sd3", "sd35-medium", "sd35-large"})
"""Families whose captions T5-XXL encodes."""

SMALLER_SIDES_PX = (1024, 896, 768, 640, 512)


class Ways(Document):
    """What a plan can be changed to, besides what memory depends on.

    Attributes:
        known: The script's arguments that do something for the family; None when not known.
        image_changes: Whether images are changed anew at each look, so that latents cannot be cached.
        caption_changes: Whether captions are, so that they cannot be encoded before.
        bf16: Whether the GPU works in bf16; None when not known.
        fp16: Whether the family can be trained in fp16.
        batch_target: Where fixes write the batch size.
        resolution_target: Where they write the resolution.
        most_swapped: The most blocks that can be swapped; 0 for none.
        can_fuse: Whether the script uses gradients up as they are made.
        fp16_optimizers: Those that survive weights in fp16.
    """

    known: frozenset[str] | None = None
    image_changes: bool = False
    caption_changes: bool = False
    bf16: bool | None = None
    fp16: bool = True
    batch_target: str = "dataset.batch_size"
    resolution_target: str = "dataset.resolution"
    most_swapped: int = 0
    can_fuse: bool = False
    fp16_optimizers: frozenset[str] = frozenset()

    def knows(self, name: str) -> bool:
        """Return whether the script has the argument; True when its arguments are not known."""
        return self.known is None or name in self.known


@dataclass(frozen=True)
class Option:
    """One way to do a step.

    Attributes:
        question: What is asked after it.
        changes: Target to value.
    """

    question: MemoryQuestion
    changes: Mapping[str, Any]


Choices = Callable[[MemoryQuestion, Ways], Iterator[Option]]


@dataclass(frozen=True)
class Step:
    """A step that saves memory.

    Attributes:
        id: Its name.
        options: The ways to do it, the mildest first; none where it does not apply.
        cost: What it costs in speed or quality.
        confidence: How sure the saving is.
        source: Where this is from.
        by_hand: What to do, where it is no value of the plan.
    """

    id: str
    options: Choices
    cost: Callable[[], str]
    confidence: Confidence
    source: str
    by_hand: Callable[[], str] | None = None


def _with(question: MemoryQuestion, **changes: Any) -> MemoryQuestion:
    return question.model_copy(update=changes)


def _latents(asked: MemoryQuestion, ways: Ways) -> Iterator[Option]:
    if not asked.latents_cached and not ways.image_changes and ways.knows("cache_latents"):
        yield Option(_with(asked, latents_cached=True), {"cache_latents": True})


def _vae_batch(asked: MemoryQuestion, _ways: Ways) -> Iterator[Option]:
    if asked.vae_batch > 1:
        yield Option(_with(asked, vae_batch=1), {"vae_batch_size": 1})


def _captions(asked: MemoryQuestion, ways: Ways) -> Iterator[Option]:
    possible = not ways.caption_changes and ways.knows("cache_text_encoder_outputs")
    if possible and not asked.text_cached and not asked.trains_text and asked.kind != "textual_inversion":
        yield Option(_with(asked, text_cached=True), {"cache_text_encoder_outputs": True})


def _model_only(asked: MemoryQuestion, ways: Ways) -> Iterator[Option]:
    network = asked.network
    if network is None or not network.trains_text or not network.trains_model:
        return
    changed = _with(asked, network=network.model_copy(update={"trains_text": False}))
    changes: dict[str, Any] = {"network_train_unet_only": True}
    if not ways.caption_changes and ways.knows("cache_text_encoder_outputs") and not asked.text_cached:
        changed, changes = _with(changed, text_cached=True), changes | {"cache_text_encoder_outputs": True}
    yield Option(changed, changes)


def _attention(asked: MemoryQuestion, ways: Ways) -> Iterator[Option]:
    if asked.attention == "none" and ways.knows("sdpa"):
        yield Option(_with(asked, attention="sdpa"), {"sdpa": True})


def _half(asked: MemoryQuestion, ways: Ways) -> Iterator[Option]:
    if not asked.half:
        name = "fp16" if ways.bf16 is False and ways.fp16 else "bf16"
        yield Option(_with(asked, mixed_precision=name), {"mixed_precision": name})


def _checkpointing(asked: MemoryQuestion, ways: Ways) -> Iterator[Option]:
    if not asked.checkpointing and ways.knows("gradient_checkpointing"):
        yield Option(_with(asked, checkpointing=True), {"gradient_checkpointing": True})


def _small_state(asked: MemoryQuestion, _ways: Ways) -> Iterator[Option]:
    if asked.optimizer.name in SMALL_STATES or asked.optimizer.fused:
        return
    small = OptimizerQuestion(name="adamw8bit", groups=asked.optimizer.groups)
    rates = {"optimizer_args": None} if asked.optimizer.arguments else {}
    yield Option(_with(asked, optimizer=small), {"optimizer_type": "AdamW8bit", **rates})


def _batch(asked: MemoryQuestion, ways: Ways) -> Iterator[Option]:
    """Smaller batches, as many images to a step by accumulation."""
    if asked.optimizer.fused or asked.optimizer.groups > 1:
        for size in range(asked.batch - 1, 0, -1):
            yield Option(_with(asked, batch=size), {ways.batch_target: size})
        return
    whole = asked.batch * asked.accumulation
    for size in range(asked.batch - 1, 0, -1):
        if whole % size == 0:
            times = whole // size
            yield Option(
                _with(asked, batch=size, accumulation=times),
                {ways.batch_target: size, "gradient_accumulation_steps": times},
            )


def _fused(asked: MemoryQuestion, ways: Ways) -> Iterator[Option]:
    if asked.kind != "full" or asked.optimizer.fused or not ways.can_fuse:
        return
    arguments = dict(pair.split("=") for pair in FIXED_ADAFACTOR)
    fused = OptimizerQuestion(name="adafactor", arguments=arguments, fused=True)
    changes: dict[str, Any] = {
        "optimizer_type": "Adafactor",
        "optimizer_args": list(FIXED_ADAFACTOR),
        "fused_backward_pass": True,
        "max_grad_norm": 0.0,
    }
    if asked.accumulation > 1:
        changes["gradient_accumulation_steps"] = 1
    yield Option(_with(asked, optimizer=fused, accumulation=1), changes)


def _full_half(asked: MemoryQuestion, ways: Ways) -> Iterator[Option]:
    name = "full_fp16" if asked.mixed_precision == "fp16" else "full_bf16"
    if name == "full_fp16" and asked.optimizer.name not in ways.fp16_optimizers:
        return
    if asked.kind == "full" and asked.half and not asked.full_half and ways.knows(name):
        yield Option(_with(asked, full_half=True), {name: True})


def _fp8(asked: MemoryQuestion, ways: Ways) -> Iterator[Option]:
    possible = asked.kind == "lora" and asked.half and not asked.fp8 and asked.checkpointing
    if not possible or asked.family == "anima":
        return
    name = "fp8_scaled" if asked.family == "hunyuan-image" else "fp8_base"
    if ways.knows(name):
        resident = not (asked.text_cached and not asked.trains_text)
        yield Option(_with(asked, fp8=True, fp8_text=resident), {name: True})


def _small_t5(asked: MemoryQuestion, _ways: Ways) -> Iterator[Option]:
    """A T5 file in fp8 stays so beside ``fp8_base`` (flux_train_network.py:130)."""
    if asked.fp8 and not asked.fp8_t5_file and asked.family in T5_FAMILIES:
        yield Option(_with(asked, fp8_t5_file=True), {})


def _swap(asked: MemoryQuestion, ways: Ways) -> Iterator[Option]:
    if not ways.knows("blocks_to_swap") or asked.gpus > 1 or asked.offloads:
        return
    for blocks in range(asked.blocks_to_swap + 1, ways.most_swapped + 1):
        yield Option(_with(asked, blocks_to_swap=blocks), {"blocks_to_swap": blocks})


def _rank(asked: MemoryQuestion, _ways: Ways) -> Iterator[Option]:
    network, rank = asked.network, asked.network.rank if asked.network else 0
    while network is not None and rank // 2 >= LEAST_RANK:
        rank //= 2
        yield Option(
            _with(asked, network=network.model_copy(update={"rank": rank})),
            {"network_dim": rank},
        )


def _resolution(asked: MemoryQuestion, ways: Ways) -> Iterator[Option]:
    now = (asked.width_px * asked.height_px) ** 0.5
    least = LEAST_SIDE_PX.get(asked.family, 768)
    for side in SMALLER_SIDES_PX:
        if least <= side < now:
            times = side / now
            smaller = {"width_px": round(asked.width_px * times), "height_px": round(asked.height_px * times)}
            yield Option(_with(asked, **smaller), {ways.resolution_target: [side, side]})


def _no_samples(asked: MemoryQuestion, _ways: Ways) -> Iterator[Option]:
    if asked.samples is not None:
        names = ("sample_every_n_steps", "sample_every_n_epochs", "sample_at_first")
        yield Option(_with(asked, samples=None), dict.fromkeys(names))


def ladder() -> tuple[Step, ...]:
    """Return the steps, the cheapest first."""
    return (
        Step("vae-batch", _vae_batch, lambda: _("Caching latents takes a little longer."), "high", "§2.7"),
        Step("latents", _latents, lambda: _("It costs nothing, and is faster."), "high", "§5.2 1"),
        Step("captions", _captions, lambda: _("It costs nothing, and is faster."), "high", "§5.2 1"),
        Step("attention", _attention, lambda: _("It costs nothing, and is faster."), "high", "§5.2 2"),
        Step(
            "half",
            _half,
            lambda: _("On GPUs with bf16 it costs nothing; on others bf16 is slow, and fp16 can overflow."),
            "high",
            "§5.2 3",
        ),
        Step(
            "checkpointing",
            _checkpointing,
            lambda: _("A step takes 36 to 97 % longer; the result is the same."),
            "high",
            "§5.2 4",
        ),
        Step("small-state", _small_state, lambda: _("A very small loss of precision."), "high", "§5.2 5"),
        Step(
            "batch",
            _batch,
            lambda: _("No speed is gained or lost; as many images make a step."),
            "medium",
            "§5.2 6",
        ),
        Step(
            "model-only",
            _model_only,
            lambda: _("The text encoders are not trained; captions must not change."),
            "high",
            "§5.2 1",
        ),
        Step("fused", _fused, lambda: _("Adafactor, and no accumulation."), "high", "§5.2 7"),
        Step("full-half", _full_half, lambda: _("Less precise weights; watch the loss."), "high", "§5.2 8"),
        Step("fp8", _fp8, lambda: _("About 2 % slower; results may vary."), "high", "§5.2 9"),
        Step(
            "small-t5",
            _small_t5,
            lambda: _("Another file; results may vary a little."),
            "high",
            "§2.7",
            lambda: _("Take a T5 file in fp8 (e4m3fn)."),
        ),
        Step(
            "swap",
            _swap,
            lambda: _("A step takes 4 to 11 % longer or more; it wants RAM, 64 GB for FLUX."),
            "medium",
            "§5.2 10",
        ),
        Step("rank", _rank, lambda: _("A smaller network learns less detail."), "high", "§5.2 12"),
        Step("resolution", _resolution, lambda: _("Smaller images, less detail."), "medium", "§5.2 12"),
        Step("samples", _no_samples, lambda: _("No images while training."), "high", "§2.7"),
    )
