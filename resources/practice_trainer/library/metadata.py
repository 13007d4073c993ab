"""What is written into a checkpoint about its training; all values are text."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from library.dataset import DatasetGroup, ImageDataset
from library.model_util import legacy_hash, sha256

MINIMUM = (
    "ss_v2",
    "ss_base_model_version",
    "ss_network_module",
    "ss_network_dim",
    "ss_network_alpha",
    "ss_network_args",
)
# Metadata name → argument name, where the value is the argument's own.
FROM_ARGUMENTS = [
    "output_name",
    "learning_rate",
    "unet_lr",
    "gradient_checkpointing",
    "gradient_accumulation_steps",
    "max_train_steps",
    "lr_warmup_steps",
    "lr_scheduler",
    "network_module",
    "network_dim",
    "network_alpha",
    "network_dropout",
    "mixed_precision",
    "clip_skip",
    "max_token_length",
    "seed",
    "lowram",
    "noise_offset",
    "multires_noise_iterations",
    "multires_noise_discount",
    "adaptive_noise_scale",
    "zero_terminal_snr",
    "training_comment",
    "max_grad_norm",
    "caption_dropout_rate",
    "caption_dropout_every_n_epochs",
    "caption_tag_dropout_rate",
    "face_crop_aug_range",
    "prior_loss_weight",
    "min_snr_gamma",
    "scale_weight_norms",
    "ip_noise_gamma",
    "noise_offset_random_strength",
    "ip_noise_gamma_random_strength",
    "loss_type",
    "huber_schedule",
    "huber_scale",
    "huber_c",
    "validation_seed",
    "validation_split",
    "max_validation_steps",
    "validate_every_n_epochs",
    "validate_every_n_steps",
    "resize_interpolation",
]
LARGEST_HASHED_BYTES = 1 << 26
FLAGS = {
    "full_fp16": "full_fp16",
    "v2": "v2",
    "cache_latents": "cache_latents",
    "debiased_estimation": "debiased_estimation_loss",
    "fp8_base": "fp8_base",
    "fp8_base_unet": "fp8_base_unet",
}


def _subsets(dataset: ImageDataset) -> list[dict[str, Any]]:
    names = [
        "num_repeats",
        "color_aug",
        "flip_aug",
        "random_crop",
        "shuffle_caption",
        "keep_tokens",
        "enable_wildcard",
        "caption_prefix",
        "caption_suffix",
        "resize_interpolation",
        "class_tokens",
        "is_reg",
    ]
    return [
        {
            "img_count": subset.image_count,
            "image_dir": Path(subset.image_dir).name,
            **{name: getattr(subset, name) for name in names},
        }
        for subset in dataset.settings.subsets
    ]


def _buckets(dataset: ImageDataset) -> dict[str, Any] | None:
    if not dataset.settings.enable_bucket:
        return None
    listed = enumerate(dataset.buckets.items())
    return {"buckets": {n: {"resolution": size, "count": len(images)} for n, (size, images) in listed}}


def _folders(dataset: ImageDataset, *, is_reg: bool) -> dict[str, dict[str, int]]:
    return {
        Path(subset.image_dir).name: {"n_repeats": subset.num_repeats, "img_count": subset.image_count}
        for subset in dataset.settings.subsets
        if subset.is_reg == is_reg
    }


def _of_config(datasets: list[ImageDataset]) -> dict[str, Any]:
    listed, tags, folders = [], {}, {}
    for dataset in datasets:
        settings = dataset.settings
        listed.append(
            {
                "is_dreambooth": True,
                "batch_size_per_device": settings.batch_size,
                "num_train_images": dataset.train_count,
                "num_reg_images": dataset.reg_count,
                "resolution": settings.resolution,
                "enable_bucket": settings.enable_bucket,
                "min_bucket_reso": settings.min_bucket_reso,
                "max_bucket_reso": settings.max_bucket_reso,
                "tag_frequency": dataset.tag_frequency,
                "bucket_info": _buckets(dataset),
                "subsets": _subsets(dataset),
            }
        )
        tags |= dataset.tag_frequency
        folders |= _folders(dataset, is_reg=False)
    return {
        "ss_datasets": json.dumps(listed),
        "ss_tag_frequency": json.dumps(tags),
        "ss_dataset_dirs": json.dumps(folders),
    }


def _of_arguments(args: argparse.Namespace, dataset: ImageDataset) -> dict[str, Any]:
    settings = dataset.settings
    flags = ("color_aug", "flip_aug", "random_crop", "shuffle_caption")
    buckets = ("enable_bucket", "bucket_no_upscale", "min_bucket_reso", "max_bucket_reso")
    return {
        "ss_batch_size_per_device": args.train_batch_size,
        "ss_total_batch_size": args.train_batch_size * args.gradient_accumulation_steps,
        "ss_resolution": args.resolution,
        **{f"ss_{name}": bool(getattr(args, name)) for name in flags},
        **{f"ss_{name}": getattr(settings, name) for name in buckets},
        "ss_keep_tokens": args.keep_tokens,
        "ss_dataset_dirs": json.dumps(_folders(dataset, is_reg=False)),
        "ss_reg_dataset_dirs": json.dumps(_folders(dataset, is_reg=True)),
        "ss_tag_frequency": json.dumps(dataset.tag_frequency),
        "ss_bucket_info": json.dumps(_buckets(dataset)),
    }


def _of_base(path: str) -> dict[str, str]:
    file = Path(path)
    found: dict[str, str] = {"ss_sd_model_name": file.name}
    # A large model is not what was trained, and hashing it would take longer than the training.
    if file.is_file() and file.stat().st_size <= LARGEST_HASHED_BYTES:
        found["ss_sd_model_hash"] = legacy_hash(file)
        found["ss_new_sd_model_hash"] = sha256(file)
    return found


def describe_training(
    args: argparse.Namespace, group: DatasetGroup, held_out: DatasetGroup | None, **facts: Any
) -> dict[str, str]:
    """Return the metadata that all files of a run share.

    Args:
        args: The run's arguments.
        group: The trained images.
        held_out: Those of the validation.
        **facts: What only the run knows, under the names without ``ss_``.
    """
    metadata: dict[str, Any] = {f"ss_{name}": getattr(args, name) for name in FROM_ARGUMENTS}
    metadata |= {f"ss_{name}": bool(getattr(args, argument)) for name, argument in FLAGS.items()}
    metadata |= {
        "ss_num_train_images": group.train_count,
        "ss_num_validation_images": held_out.train_count if held_out else 0,
        "ss_num_reg_images": group.reg_count,
        "ss_num_batches_per_epoch": len(group),
        "ss_sd_scripts_commit_hash": "(unknown)",
        # Nobody shall take such a file for a LoRA of a real model.
        "ss_practice_trainer": True,
    }
    metadata |= {f"ss_{name}": value for name, value in facts.items()}
    if args.dataset_config:
        metadata |= _of_config(group.datasets)
    else:
        metadata |= _of_arguments(args, group.datasets[0])
    if args.network_args:
        pairs = dict(word.split("=", 1) for word in args.network_args)
        metadata["ss_network_args"] = json.dumps(pairs)
    metadata |= _of_base(args.pretrained_model_name_or_path)
    return {name: str(value) for name, value in metadata.items()}


def modelspec(args: argparse.Namespace) -> dict[str, str]:
    """Return the keys of the model specification."""
    given = {
        f"modelspec.{name}": str(getattr(args, f"metadata_{name}"))
        for name in ("author", "description", "license", "tags")
        if getattr(args, f"metadata_{name}", None)
    }
    title = args.metadata_title or args.output_name or "LoRA"
    return {
        "modelspec.sai_model_spec": "1.0.0",
        "modelspec.architecture": "practice/lora",
        "modelspec.implementation": "practice trainer of Kohya Preflight",
        "modelspec.title": title,
        "modelspec.resolution": "32x32",
        "modelspec.prediction_type": "epsilon",
        "modelspec.date": time.strftime("%Y-%m-%dT%H:%M:%S"),
        **given,
    }
