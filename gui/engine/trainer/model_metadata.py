"""Reads from a model file's metadata how it was made (knowledge S6, trainer-facts 7.6).

All values there are texts that Python's ``str`` or ``json.dumps`` made, and anybody can have edited
them: what cannot be read as it should is left as it is or left out, never an error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from gui.engine.documents import Document

LONGEST_TAG = 40
"""A longer one is a sentence, which calls nothing up."""

_NONE = frozenset({"", "None", "null"})


class ModelFacts(Document):
    """How a model file was made; None where the file does not say.

    Attributes:
        title: ``modelspec.title``, else the output name.
        architecture: Such as ``stable-diffusion-xl-v1-base/lora``.
        base_model: Name of the base model.
        base_sha256: Its SHA-256.
        base_version: The trainer's word for its family, such as ``sdxl_base_v1-0``.
        vae: Name of a VAE of its own.
        resolution: Such as ``1024x1024``; of several datasets joined by commas.
        buckets: ``off``, or smallest and largest side in pixels, such as ``256-2048``.
        network_module: Such as ``networks.lora``.
        network_dim: The rank.
        network_alpha: The scale constant.
        learning_rate: ``--learning_rate``.
        unet_lr: ``--unet_lr``.
        text_encoder_lr: ``--text_encoder_lr``.
        optimizer: Its class, with its arguments.
        lr_scheduler: Its name.
        precision: ``--mixed_precision``.
        seed: ``--seed``.
        steps: Optimizer steps behind this file.
        epoch: Epochs behind this file.
        max_steps: Steps that were planned.
        images: Training images, repeats counted.
        batch_size: Of one device.
        finished: When it was saved, in UTC.
        trainer_commit: Of sd-scripts.
        comment: ``--training_comment``.
        caption_words: How many different caption tags the file names: private ones may be among them.
        folders: Names of the training folders, private ones may be among them.
    """

    title: str | None = None
    architecture: str | None = None
    base_model: str | None = None
    base_sha256: str | None = None
    base_version: str | None = None
    vae: str | None = None
    resolution: str | None = None
    buckets: str | None = None
    network_module: str | None = None
    network_dim: str | None = None
    network_alpha: str | None = None
    learning_rate: str | None = None
    unet_lr: str | None = None
    text_encoder_lr: str | None = None
    optimizer: str | None = None
    lr_scheduler: str | None = None
    precision: str | None = None
    seed: str | None = None
    steps: int | None = None
    epoch: int | None = None
    max_steps: int | None = None
    images: int | None = None
    batch_size: str | None = None
    finished: str | None = None
    trainer_commit: str | None = None
    comment: str | None = None
    caption_words: int = 0
    folders: tuple[str, ...] = ()


_TEXTS = {
    "architecture": "modelspec.architecture",
    "base_model": "ss_sd_model_name",
    "base_sha256": "ss_new_sd_model_hash",
    "base_version": "ss_base_model_version",
    "vae": "ss_vae_name",
    "network_module": "ss_network_module",
    "network_dim": "ss_network_dim",
    "network_alpha": "ss_network_alpha",
    "learning_rate": "ss_learning_rate",
    "unet_lr": "ss_unet_lr",
    "text_encoder_lr": "ss_text_encoder_lr",
    "optimizer": "ss_optimizer",
    "lr_scheduler": "ss_lr_scheduler",
    "precision": "ss_mixed_precision",
    "seed": "ss_seed",
    "trainer_commit": "ss_sd_scripts_commit_hash",
    "comment": "ss_training_comment",
}
_NUMBERS = {
    "steps": "ss_steps",
    "epoch": "ss_epoch",
    "max_steps": "ss_max_train_steps",
    "images": "ss_num_train_images",
}


def model_facts(metadata: Mapping[str, str]) -> ModelFacts:
    """Return what the metadata of a file tells.

    Args:
        metadata: From the header of a safetensors file.
    """
    datasets = [entry for entry in _json(metadata, "ss_datasets", list) if isinstance(entry, dict)]
    words = {
        word
        for folder in _json(metadata, "ss_tag_frequency", dict).values()
        if isinstance(folder, dict)
        for word in folder
    }
    return ModelFacts(
        title=_text(metadata, "modelspec.title") or _text(metadata, "ss_output_name"),
        resolution=_joined(_resolution(entry.get("resolution")) for entry in datasets)
        or _resolution(_text(metadata, "ss_resolution"))
        or _text(metadata, "modelspec.resolution"),
        buckets=_joined(_buckets(entry) for entry in datasets) or _flat_buckets(metadata),
        batch_size=_joined(_shown(entry.get("batch_size_per_device")) for entry in datasets)
        or _text(metadata, "ss_batch_size_per_device"),
        finished=_time(_text(metadata, "ss_training_finished_at")),
        caption_words=len(words),
        folders=tuple(_json(metadata, "ss_dataset_dirs", dict)),
        **{field: _text(metadata, key) for field, key in _TEXTS.items()},
        **{field: number_of(metadata, key) for field, key in _NUMBERS.items()},
    )


def trigger_words(metadata: Mapping[str, str]) -> tuple[str, ...]:
    """Return what calls the trained thing up: what the file says, else the tags on all images of a folder.

    Args:
        metadata: From the header of a safetensors file.
    """
    told = _text(metadata, "modelspec.trigger_phrase")
    if told is not None:
        return (told,)
    folders = _json(metadata, "ss_dataset_dirs", dict)
    found: dict[str, None] = {}
    for name, tags in _json(metadata, "ss_tag_frequency", dict).items():
        count = folders.get(name, {}).get("img_count") if isinstance(folders.get(name), dict) else None
        if isinstance(tags, dict) and isinstance(count, int) and count > 1:
            found |= dict.fromkeys(
                tag.strip()
                for tag, times in tags.items()
                if times == count and 0 < len(tag.strip()) <= LONGEST_TAG
            )
    return tuple(found)


def number_of(metadata: Mapping[str, str], key: str) -> int | None:
    """Return a count such as ``ss_steps``, None where it is missing or no count."""
    text = metadata.get(key, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


def _text(metadata: Mapping[str, str], key: str) -> str | None:
    text = metadata.get(key, "")
    return None if text in _NONE else text


def _json(metadata: Mapping[str, str], key: str, kind: type[Any]) -> Any:
    """Return a value that is kept as JSON, or an empty one where it is not what it should be."""
    try:
        value = json.loads(metadata.get(key, "null"))
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, kind) else kind()


def _joined(texts: Any) -> str | None:
    return ", ".join(dict.fromkeys(text for text in texts if text)) or None


def _shown(value: Any) -> str | None:
    return None if value is None else str(value)


def _resolution(value: Any) -> str | None:
    """Return ``512x768`` for what the trainer writes: ``(512, 768)``, ``[512, 768]``, ``512,768``."""
    if value is None:
        return None
    sides = [side.strip() for side in str(value).strip("()[] ").split(",")]
    return "x".join(sides) if all(side.isdigit() for side in sides) else str(value)


def _buckets(entry: Mapping[str, Any]) -> str | None:
    enabled = entry.get("enable_bucket")
    if enabled is None:
        return None
    least, most = entry.get("min_bucket_reso"), entry.get("max_bucket_reso")
    return f"{least}-{most}" if enabled not in (False, "False") else "off"


def _flat_buckets(metadata: Mapping[str, str]) -> str | None:
    keys = ("enable_bucket", "min_bucket_reso", "max_bucket_reso")
    return _buckets({key: _text(metadata, f"ss_{key}") for key in keys})


def _time(text: str | None) -> str | None:
    try:
        return datetime.fromtimestamp(float(text or ""), UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return None
