"""The trainer's hard constraints, each as plans that just break it and plans that just keep it.

Changes are written as in findings: a bare name is a trainer argument, ``dataset.x`` an option of the
dataset, ``subset.x`` one of its first subset; None leaves it out. A text that begins with ``@`` is a
file of the test's own, with ``@!`` one that is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gui.engine.plan.dataset_options import CONTROLNET_SCRIPTS, FINETUNING_SCRIPTS

Changes = Mapping[str, Any]
Where = Callable[[str], bool]


@dataclass(frozen=True)
class Constraint:
    """One constraint.

    Attributes:
        name: Its name.
        breaking: Changes that break it, each alone, for scripts where it holds.
        keeping: Changes that come near and keep it.
        where: Which scripts it is drawn for, also such that have no such constraint.
    """

    name: str
    breaking: tuple[Changes, ...]
    keeping: tuple[Changes, ...] = ()
    where: Where = lambda script: True


def lora(script: str) -> bool:
    """Whether it is a LoRA script."""
    return script.endswith("train_network.py")


def named(*names: str) -> Where:
    """Return whether a script's name begins with one of the names."""
    return lambda script: script.startswith(names)


def folders(script: str) -> bool:
    """Whether its datasets are plain folders."""
    return script not in CONTROLNET_SCRIPTS | FINETUNING_SCRIPTS


def both(first: Where, second: Where) -> Where:
    """Return whether both hold."""
    return lambda script: first(script) and second(script)


def inversion(script: str) -> bool:
    """Whether it trains embeddings."""
    return "textual_inversion" in script


def caches_text(script: str) -> bool:
    """Whether it can cache what text encoders give."""
    return (TRANSFORMERS(script) or script.startswith("sdxl_")) and not inversion(script)


TRANSFORMERS = named("flux_", "sd3_", "lumina_", "hunyuan_", "anima_")
CACHE = {"cache_text_encoder_outputs": True}
CACHE_ONLY = {**CACHE, "network_train_unet_only": True}

PARSER = (
    Constraint("enum", ({"save_precision": "fp32"}, {"loss_type": "l3"}), ({"save_precision": "float"},)),
    Constraint("token-length", ({"max_token_length": 75},), ({"max_token_length": 150},)),
    Constraint("warmup-text", ({"lr_warmup_steps": "1e2"}, {"lr_warmup_steps": "100.0"}), ()),
    Constraint("prior-weight", ({"prior_loss_weight": 0.5},)),
    Constraint("swap-known", ({"blocks_to_swap": 1},)),
    Constraint("cache-known", (CACHE,), where=lambda script: not lora(script)),
    Constraint("unknown", ({"text_encoder_lr1": 1e-5}, {"learning_rate_te": 1e-5})),
    Constraint("vae-known", ({"no_half_vae": True},)),
    Constraint("train-text", ({"train_text_encoder": True},), where=lambda script: not lora(script)),
    Constraint("dropout-known", ({"dataset.caption_dropout_rate": 0.1},), where=folders),
)

FILES = tuple(
    Constraint(f"file-{name}", ({name: None}, {name: "@!gone.safetensors"}), where=where)
    for name, where in (
        ("pretrained_model_name_or_path", lambda _script: True),
        ("clip_l", named("flux_", "sd3_")),
        ("t5xxl", named("flux_", "sd3_")),
        ("clip_g", named("sd3_")),
        ("ae", named("flux_", "lumina_")),
        ("gemma2", named("lumina_")),
        ("text_encoder", named("hunyuan_")),
        ("byt5", named("hunyuan_")),
        ("qwen3", named("anima_")),
        ("vae", named("hunyuan_", "anima_")),
    )
)

PATHS = (
    *FILES,
    Constraint("output", ({"output_dir": None},), ({"output_name": None},)),
    Constraint("module", ({"network_module": None},), where=lora),
    Constraint("module-there", ({"network_module": "networks.nothing"},), where=lora),
    Constraint("token-string", ({"token_string": None},), where=inversion),
    Constraint(
        "prompts",
        ({"sample_every_n_steps": 1}, {"sample_at_first": True}, {"sample_every_n_epochs": 1}),
        ({"sample_every_n_steps": 1, "sample_prompts": "@!gone.txt"}, {"sample_every_n_steps": 0}),
    ),
    Constraint("prompts-kind", ({"sample_every_n_steps": 1, "sample_prompts": "@prompts.md"},)),
    Constraint("dim-file", ({"dim_from_weights": True},), where=lora),
)

LOSS = (
    Constraint(
        "adaptive-noise",
        ({"adaptive_noise_scale": 0.005},),
        ({"adaptive_noise_scale": 0.005, "noise_offset": 0.05},),
    ),
    Constraint(
        "scale-v",
        ({"scale_v_pred_loss_like_noise_pred": True},),
        ({"scale_v_pred_loss_like_noise_pred": True, "v_parameterization": True},),
    ),
    Constraint(
        "v-like",
        ({"v_pred_like_loss": 0.5, "v_parameterization": True},),
        ({"v_pred_like_loss": 0.5}, {"v_pred_like_loss": 0.0, "v_parameterization": True}),
    ),
    Constraint(
        "huber",
        ({"loss_type": "huber"}, {"loss_type": "smooth_l1", "huber_schedule": "snr"}),
        ({"loss_type": "huber", "huber_schedule": "constant"}, {"loss_type": "l1"}),
    ),
    Constraint("huber-exponential", ({"loss_type": "huber", "huber_schedule": "exponential"},)),
    Constraint("seed", ({"seed": -1}, {"seed": 2**32}), ({"seed": 2**32 - 1}, {"seed": 0})),
    Constraint("v2", ({"v2": True},), where=named("sdxl_", "flux_", "sd3_")),
)

PRECISION = (
    Constraint(
        "full-fp16",
        ({"full_fp16": True}, {"full_fp16": True, "mixed_precision": "bf16"}),
        ({"full_fp16": True, "mixed_precision": "fp16"},),
    ),
    Constraint(
        "full-bf16",
        ({"full_bf16": True}, {"full_bf16": True, "mixed_precision": "fp16"}),
        ({"full_bf16": True, "mixed_precision": "bf16"},),
    ),
    Constraint(
        "fp8",
        ({"fp8_base": True}, {"fp8_base_unet": True}),
        ({"fp8_base_unet": True, "mixed_precision": "bf16"},),
        where=lora,
    ),
)

CACHES = (
    Constraint(
        "cache-aug",
        (
            {"cache_latents": True, "dataset.color_aug": True},
            {"cache_latents_to_disk": True, "subset.random_crop": True},
        ),
        (
            {"cache_latents": True, "dataset.flip_aug": True},
            {"cache_latents": True, "dataset.color_aug": True, "subset.color_aug": False},
            {"dataset.random_crop": True},
        ),
    ),
    Constraint(
        "cache-te-aug",
        (
            {**CACHE_ONLY, "dataset.shuffle_caption": True},
            {**CACHE_ONLY, "subset.caption_dropout_rate": 0.1},
            {**CACHE_ONLY, "dataset.caption_tag_dropout_rate": 0.1},
            {**CACHE_ONLY, "dataset.token_warmup_step": 10},
        ),
        (
            CACHE_ONLY,
            {**CACHE_ONLY, "dataset.shuffle_caption": True, "subset.shuffle_caption": False},
            {**CACHE_ONLY, "dataset.caption_dropout_every_n_epochs": 2},
            {"dataset.shuffle_caption": True, "network_train_unet_only": True},
        ),
        where=both(lora, caches_text),
    ),
    Constraint(
        "cache-te-aug-full",
        ({**CACHE, "dataset.shuffle_caption": True}, {**CACHE, "dataset.caption_dropout_rate": 0.1}),
        (CACHE,),
        where=lambda script: caches_text(script) and not lora(script),
    ),
    Constraint("cache-te", (CACHE,), (CACHE_ONLY,), where=both(lora, caches_text)),
    Constraint(
        "cache-te-disk",
        ({"cache_text_encoder_outputs_to_disk": True},),
        ({"cache_text_encoder_outputs_to_disk": True, "network_train_unet_only": True},),
        where=both(lora, caches_text),
    ),
    Constraint(
        "weighted",
        ({"weighted_captions": True},),
        ({"weighted_captions": True, **CACHE_ONLY},),
        where=lora,
    ),
    Constraint("weighted-full", ({"weighted_captions": True, **CACHE},), ({"weighted_captions": True},)),
    Constraint(
        "text-trained-cached",
        ({"train_text_encoder": True, **CACHE},),
        ({"train_text_encoder": True, **CACHE, "use_t5xxl_cache_only": True},),
        where=named("sdxl_train.", "sd3_train."),
    ),
    Constraint(
        "t5-trained",
        ({"train_t5xxl": True}, {"train_t5xxl": True, "train_text_encoder": True, **CACHE}),
        ({"train_t5xxl": True, "train_text_encoder": True},),
        where=named("sd3_train."),
    ),
    Constraint(
        "t5-lora",
        ({"network_args": ["train_t5xxl=True"], **CACHE},),
        ({"network_args": ["train_t5xxl=True"]}, {"network_args": ["train_t5xxl=False"], **CACHE_ONLY}),
        where=both(lora, named("flux_", "sd3_")),
    ),
)

BUCKETS = {"dataset.enable_bucket": True, "dataset.min_bucket_reso": 64}

DATA = (
    Constraint("resolution", ({"dataset.resolution": None},), ({"dataset.resolution": [64, 64]},)),
    Constraint(
        "bucket-range",
        (
            {"dataset.enable_bucket": True, "dataset.min_bucket_reso": 128},
            {**BUCKETS, "dataset.max_bucket_reso": 32},
            {**BUCKETS, "dataset.resolution": [1088, 64]},
        ),
        (BUCKETS, {"dataset.min_bucket_reso": 128}, {**BUCKETS, "dataset.max_bucket_reso": 64}),
    ),
    Constraint(
        "bucket-steps",
        tuple({**BUCKETS, "dataset.bucket_reso_steps": steps} for steps in (8, 16, 32, 48)),
        ({**BUCKETS, "dataset.bucket_reso_steps": 64}, {"dataset.bucket_reso_steps": 8}),
    ),
    Constraint("bucket-zero", ({**BUCKETS, "dataset.bucket_reso_steps": 0},)),
    Constraint(
        "size",
        ({"subset.image_dir": "@other sizes"},),
        (
            {"subset.image_dir": "@other sizes", "cache_latents": True},
            {"subset.image_dir": "@other sizes", **BUCKETS},
        ),
        where=folders,
    ),
    Constraint(
        "thin",
        ({"subset.image_dir": "@thin", **BUCKETS, "dataset.bucket_no_upscale": True},),
        ({"subset.image_dir": "@thin", **BUCKETS},),
        where=folders,
    ),
    Constraint("crop", ({"dataset.face_crop_aug_range": [4.0, 2.0]},), ()),
    Constraint("caption-empty", ({"subset.image_dir": "@empty captions"},), (), where=folders),
    Constraint("caption-bytes", ({"subset.image_dir": "@other encoding"},), (), where=folders),
    Constraint("no-images", ({"subset.image_dir": "@nothing"},), (), where=folders),
    Constraint("no-folder", ({"subset.image_dir": "@!gone"},), ()),
    Constraint("repeats", ({"subset.num_repeats": 0},), ({"subset.num_repeats": 2},)),
    Constraint("batch", ({"dataset.batch_size": 0},), ({"dataset.batch_size": 2},)),
    Constraint(
        "meta-cache",
        ({"subset.metadata_file": "@meta.json", "dataset.caption_extension": None},),
        (
            {
                "subset.metadata_file": "@meta.json",
                "dataset.caption_extension": None,
                "cache_latents": True,
            },
        ),
        where=lambda script: script not in CONTROLNET_SCRIPTS and script != "train_db.py",
    ),
    Constraint("meta-there", ({"subset.metadata_file": "@!gone.json", "cache_latents": True},), ()),
    Constraint(
        "masks",
        (
            {"subset.conditioning_data_dir": "@images"},
            {"masked_loss": True, "subset.conditioning_data_dir": "@nothing"},
            {"masked_loss": True, "subset.conditioning_data_dir": "@images", "dataset.random_crop": True},
            {
                "masked_loss": True,
                "subset.conditioning_data_dir": "@images",
                "dataset.validation_split": 0.5,
                "dataset.validation_seed": 1,
            },
        ),
        ({"masked_loss": True, "subset.conditioning_data_dir": "@images"}, {"masked_loss": True}),
        where=folders,
    ),
    Constraint(
        "split",
        ({"dataset.validation_split": 1.0}, {"dataset.validation_split": 2.5}),
        ({"dataset.validation_split": 0.5, "dataset.validation_seed": 1}, {"dataset.validation_split": 1.5}),
        where=folders,
    ),
    Constraint("interpolation", ({"dataset.resize_interpolation": "sharp"},), ()),
    Constraint(
        "workers",
        ({"persistent_data_loader_workers": True, "max_data_loader_n_workers": 0},),
        ({"persistent_data_loader_workers": True, "max_data_loader_n_workers": 1},),
    ),
    Constraint("schema", ({"dataset.batchsize": 2}, {"subset.prior_loss_weight": 1.0}), ()),
    Constraint("debug", ({"debug_dataset": True},), ()),
)
