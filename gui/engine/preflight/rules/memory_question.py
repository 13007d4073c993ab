"""Asks the memory forecast about a plan: what memory depends on, read as the trainer would read it.

Source: trainer-facts 1.10, 2.7, 2.9 (train_network.py:598-900, sdxl_train_network.py:92,
flux_train_network.py:190-290).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gui.engine.dataset.buckets import BucketsImpossible, ImageTooThin, Size
from gui.engine.hardware.memory.question import (
    Kind,
    MemoryQuestion,
    NetworkQuestion,
    OptimizerQuestion,
    SamplesQuestion,
)
from gui.engine.plan.model_sizes import model_size
from gui.engine.preflight.rules.caching import NEEDS_UNET_ONLY, caches_latents, caches_text
from gui.engine.preflight.rules.sampling import wants_samples
from gui.engine.preflight.steps import bucket_settings, measured_sizes
from gui.engine.preflight.surroundings import PROMPTS
from gui.engine.preflight.view import SubsetView, View, as_number
from gui.engine.texts import _

ATTENTION = ("xformers", "sdpa", "mem_eff_attn")
"""Flags that keep no scores; transformers never do."""

FULL_HALF = ("full_fp16", "full_bf16")
"""Flags that keep the weights that are trained in half precision."""

QUESTION = "memory_question"
"""Under which name a view remembers its question: several rules ask it."""

SAMPLE_PX = 512
"""Side of a sample whose prompt names none (train_util.py: sample_image_inference)."""

LUMINA_SAMPLE_PX = 1024
"""The same for Lumina (lumina_train_util.py:293)."""

LEAST = {
    "network_dim": 1,
    "gradient_accumulation_steps": 1,
    "vae_batch_size": 1,
    "text_encoder_batch_size": 1,
    "blocks_to_swap": 0,
    "fused_optimizer_groups": 0,
}
"""What memory depends on and must be a whole number, and the least that it may be."""

DEFAULT_RANK = 4
"""Without ``network_dim`` (lora.py:395)."""


def question_of(view: View) -> MemoryQuestion:
    """Return what memory depends on, of one plan.

    Args:
        view: The plan and the facts.
    """
    if QUESTION not in view.memory:
        view.memory[QUESTION] = _question(view)
    known: MemoryQuestion = view.memory[QUESTION]
    return known


def _question(view: View) -> MemoryQuestion:
    (width, height), batch = largest_batch(view)
    kind = _kind(view)
    mixed = view.text("mixed_precision")
    fp8 = kind != "full" and any(view.flag(name) for name in ("fp8_base", "fp8_base_unet", "fp8_scaled"))
    cached_text = caches_text(view)
    return MemoryQuestion(
        family=view.kin.name if view.kin else view.plan.family,
        kind=kind,
        width_px=width,
        height_px=height,
        batch=batch,
        accumulation=max(1, _whole(view, "gradient_accumulation_steps", 1)),
        checkpointing=view.flag("gradient_checkpointing"),
        offloads=view.flag("cpu_offload_checkpointing") or view.flag("unsloth_offload_checkpointing"),
        attention="sdpa" if view.is_transformer or any(map(view.flag, ATTENTION)) else "none",
        mixed_precision="fp16" if mixed == "fp16" else "bf16" if mixed == "bf16" else "no",
        full_half=any(view.flag(name) for name in FULL_HALF if name not in view.without_effect),
        fp8=fp8,
        fp8_text=fp8 and view.flag("fp8_base") and not view.flag("fp8_base_unet"),
        fp8_t5_file=_has_fp8_t5(view),
        blocks_to_swap=max(0, _whole(view, "blocks_to_swap", 0)),
        network=_network(view, cached_text=cached_text) if kind == "lora" else None,
        text_trained=_trains_text(view) if kind == "full" else False,
        optimizer=_optimizer(view, kind),
        latents_cached=caches_latents(view),
        text_cached=cached_text,
        text_batch=_whole(view, "text_encoder_batch_size", 0) or None,
        vae_single=view.flag("no_half_vae"),
        vae_batch=_whole(view, "vae_batch_size", 1),
        samples=_samples(view, (width, height)),
        lowram=view.flag("lowram"),
        gpus=max(1, view.plan.launch.num_processes),
        obstacle=_obstacle(view),
    )


def largest_batch(view: View) -> tuple[Size, int]:
    """Return the bucket with most pixels in a batch that is really used, and the batch.

    Where no image was measured, the resolution counts; ((0, 0), 1) where that cannot be read.
    """
    found = [
        (size, batch)
        for dataset in view.dataset_views
        for batch in (_batch(view, dataset),)
        for size in _used_sizes(view, dataset)
    ]
    return max(found, key=lambda pair: pair[0][0] * pair[0][1] * pair[1], default=((0, 0), 1))


def _batch(view: View, dataset: SubsetView) -> int:
    """Beside a dataset file the argument counts, whose name is another (config_util.py:549).

    What is no whole number counts as 0, of which nothing is forecast.
    """
    own = None if view.dataset_known else view.value("train_batch_size")
    said = dataset.value("batch_size") if own is None else own
    number = 1 if said is None else as_number(said)
    return 0 if number is None or number % 1 else int(max(-1e9, min(number, 1e9)))


def _used_sizes(view: View, dataset: SubsetView) -> Iterator[Size]:
    settings = bucket_settings(dataset)
    if settings is None:
        return
    prefix = f"{dataset.target}.subsets."
    images = [
        size
        for subset, fact in view.subset_facts
        if subset.target.startswith(prefix)
        for size in measured_sizes(fact)
    ]
    try:
        yield from ({settings.place(image).bucket for image in images} if images else [settings.resolution])
    except (BucketsImpossible, ImageTooThin):
        yield settings.resolution


def _kind(view: View) -> Kind:
    if view.trains_network:
        return "lora"
    if view.trains_model:
        return "full"
    return "textual_inversion" if "textual_inversion" in view.script else "other"


def _network(view: View, *, cached_text: bool) -> NetworkQuestion:
    size = model_size(view.kin.name) if view.kin else None
    has_text = size is not None and size.lora.text > 0 and not view.flag("network_train_unet_only")
    return NetworkQuestion(
        module=view.text("network_module") or "",
        rank=max(0, _whole(view, "network_dim", DEFAULT_RANK)),
        arguments=view.pairs("network_args"),
        trains_model=not view.flag("network_train_text_encoder_only"),
        trains_text=has_text and not (cached_text and view.script in NEEDS_UNET_ONLY),
    )


def _trains_text(view: View) -> bool:
    if view.script == "train_db.py":
        stop = view.number("stop_text_encoder_training") if view.given("stop_text_encoder_training") else None
        return stop is None or stop >= 0
    return view.flag("train_text_encoder")


def _optimizer(view: View, kind: Kind) -> OptimizerQuestion:
    full = kind == "full"
    return OptimizerQuestion(
        name=re.split(r"[.\s]", view.optimizer)[-1],
        arguments=view.pairs("optimizer_args"),
        fused=full and (view.flag("fused_backward_pass") or view.flag("blockwise_fused_optimizers")),
        groups=max(0, _whole(view, "fused_optimizer_groups", 0)) if full else 0,
    )


def _samples(view: View, size: Size) -> SamplesQuestion | None:
    """Prompts may name sizes; where the file was not read, they are taken to name that of the training."""
    if not wants_samples(view) or not view.given("sample_prompts"):
        return None
    usual = LUMINA_SAMPLE_PX if view.script.startswith("lumina_") else SAMPLE_PX
    asked = [each for fact in view.facts.text if fact.argument == PROMPTS for each in fact.sizes_px]
    sizes = [(width or usual, height or usual) for width, height in asked]
    width, height = max(sizes, key=lambda each: each[0] * each[1], default=size)
    return SamplesQuestion(width_px=width, height_px=height, guided=not view.script.startswith("flux_"))


def _has_fp8_t5(view: View) -> bool:
    """T5 stays in fp8 when its file is, and ``fp8_base`` is on (flux_train_network.py:130)."""
    if view.flag("fp8_vl"):
        return True
    fact = view.model("t5xxl")
    dtype = (fact.dtype or "") if fact else ""
    return (
        view.flag("fp8_base")
        and not view.flag("fp8_base_unet")
        and dtype.upper().startswith(("F8", "FLOAT8"))
    )


def _obstacle(view: View) -> str:
    if view.facts.trainer is not None and view.facts.trainer.practice:
        return _("The practice trainer uses no GPU.")
    if view.flag("deepspeed"):
        return _("DeepSpeed moves memory about as it sees fit.")
    if view.flag("torch_compile"):
        return _("torch_compile lays memory out anew; that was not traced.")
    return next(_senseless_numbers(view), "")


def _senseless_numbers(view: View) -> Iterator[str]:
    """Yield what keeps numbers from being understood: the trainer would not take them, either."""
    for name, least in LEAST.items():
        number = view.number(name)
        wrong = number is None or number % 1 or number < least
        if wrong and view.given(name) and view.knows(name):
            text = _("{argument} must be a whole number from {least} on.")
            yield text.format(argument=name, least=least)
    most = view.kin.limits.blocks_to_swap if view.kin else None
    if most is not None and _whole(view, "blocks_to_swap", 0) > most:
        yield _("Of this model at most {count} blocks can be swapped.").format(count=most)


def _whole(view: View, name: str, default: int) -> int:
    number = view.number(name)
    return default if number is None else int(max(-1e9, min(number, 1e9)))
