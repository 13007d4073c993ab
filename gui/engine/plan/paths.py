"""Which values of a plan are paths, and where a relative one points: against the plan file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

PATH_ARGUMENTS = frozenset(
    {
        *("ae", "byt5", "clip_g", "clip_l", "gemma2", "llm_adapter_path", "qwen3", "t5_tokenizer_path"),
        *("t5xxl", "text_encoder", "network_weights", "base_weights", "weights", "sample_prompts"),
        *("output_dir", "logging_dir", "console_log_file", "tokenizer_cache_dir", "log_tracker_config"),
        *("config_file", "dataset_config", "in_json", "train_data_dir", "reg_data_dir"),
        *("conditioning_data_dir", "offload_optimizer_nvme_path", "offload_param_nvme_path"),
    }
)
"""Trainer arguments that are always paths; ``base_weights`` is a list of them."""

PATH_OR_HUB_ARGUMENTS = frozenset(
    {"pretrained_model_name_or_path", "vae", "controlnet_model_name_or_path", "resume"}
)
"""Trainer arguments that are a path or the name of a repository on the Hugging Face hub.

``resume`` is the latter only with ``resume_from_huggingface`` (train_util.py:4775)."""

DATASET_PATHS = frozenset({"image_dir", "metadata_file", "conditioning_data_dir"})
"""The keys of the dataset TOML that are paths (config_util.py:165-372)."""

TRAINER_NAMES = frozenset({"", "default", "practice"})
"""What a plan's ``trainer`` may be besides a path."""

_MODEL_SUFFIXES = frozenset({".safetensors", ".ckpt", ".pt", ".pth", ".bin", ".gguf", ".sft"})

Change = Callable[[str], str]


def absolute(value: str, base: Path) -> str:
    """Return a path as the trainer may be given it, whatever folder it runs in.

    Args:
        value: Absolute, relative to ``base``, or with ``~``. An empty one stays empty.
        base: The folder of the plan file.
    """
    if not value.strip():
        return value
    path = Path(value)
    if value.startswith("~"):
        try:
            path = path.expanduser()
        except RuntimeError:
            path = Path(value)  # no such user: a folder really called "~x"
    return os.path.normpath(base.absolute() / path)


def is_anywhere_absolute(value: str) -> bool:
    r"""Whether a path is absolute on this system or on another: ``C:\models`` stays so on Linux."""
    return any(kind(value).is_absolute() for kind in (Path, PurePosixPath, PureWindowsPath))


def is_hub_name(value: str, base: Path) -> bool:
    """Whether a model's name means a repository (``owner/name``) and not a file or folder.

    What exists is never taken for a repository, and neither is what looks like a model file.
    """
    parts = value.split("/")
    plain = all(part and part.strip(".") and part.isascii() and " " not in part for part in parts)
    looks = len(parts) in (1, 2) and plain and "\\" not in value and not value.startswith(("~", "-"))
    if not looks or Path(value).suffix.lower() in _MODEL_SUFFIXES:
        return False
    return len(parts) == 2 and not Path(absolute(value, base)).exists()


def with_paths(plan_data: Mapping[str, Any], change: Change, base: Path) -> dict[str, Any]:
    """Return a plan's data with every path changed: of the trainer, in arguments and dataset.

    Args:
        plan_data: Stays as it is.
        change: From the path as written to the path that is wanted.
        base: The folder of the plan file, to tell a hub name from a folder.
    """
    trainer = plan_data.get("trainer", "")
    return {
        **plan_data,
        "trainer": trainer if trainer in TRAINER_NAMES else change(trainer),
        "arguments": arguments_with_paths(plan_data.get("arguments", {}), change, base),
        "dataset": dataset_with_paths(plan_data.get("dataset", {}), change),
    }


def arguments_with_paths(arguments: Mapping[str, Any], change: Change, base: Path) -> dict[str, Any]:
    """Return trainer arguments with every path changed; values of another type stay."""

    def changed(name: str, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [changed(name, element) for element in value]
        if not isinstance(value, str) or not value.strip():
            return value
        if name in PATH_ARGUMENTS:
            return change(value)
        if name == "resume" and arguments.get("resume_from_huggingface"):
            return value
        if name in PATH_OR_HUB_ARGUMENTS and not (name != "resume" and is_hub_name(value, base)):
            return change(value)
        return value

    return {name: changed(name, value) for name, value in arguments.items()}


def dataset_with_paths(dataset: Any, change: Change) -> Any:
    """Return a dataset section with every path changed, at whatever level it stands."""
    if isinstance(dataset, Mapping):
        return {
            key: change(value)
            if key in DATASET_PATHS and isinstance(value, str) and value.strip()
            else (dataset_with_paths(value, change) if key != "custom_attributes" else value)
            for key, value in dataset.items()
        }
    if isinstance(dataset, list | tuple):
        return [dataset_with_paths(element, change) for element in dataset]
    return dataset
