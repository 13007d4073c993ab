"""Knows under which name a training script writes its last file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gui.engine.trainer.catalogue import ScriptArguments

DEFAULT_OUTPUT_NAME = "last"
"""The name without ``output_name`` (train_util.py:93)."""

_ALWAYS_SAFETENSORS = frozenset({"flux_train.py", "sd3_train.py", "lumina_train.py", "anima_train.py"})
"""Full trainings that pay no heed to ``save_model_as`` (flux_train_utils.py:581-610)."""


def save_extension(arguments: Mapping[str, Any], script: ScriptArguments) -> str | None:
    """Return the extension of what a script saves.

    Args:
        arguments: The trainer's arguments, paths absolute.
        script: The script.

    Returns:
        ``".safetensors"`` and the like, ``""`` for a Diffusers folder, None when it cannot be told.

    Source: trainer-facts 2.4 (train_network.py:1726, sdxl_train.py:238-243, train_util.py:6033).
    """
    if script.name in _ALWAYS_SAFETENSORS:
        return ".safetensors"
    argument = script.arguments.get("save_model_as")
    if argument is None:
        return None
    chosen = arguments.get("save_model_as") or argument.default
    if "use_safetensors" not in script.arguments:
        return f".{chosen}" if chosen else None
    safetensors = bool(arguments.get("use_safetensors")) or "safetensors" in str(chosen or "").lower()
    if chosen is None:
        whole = _is_single_file(arguments.get("pretrained_model_name_or_path"))
    else:
        whole = chosen in ("ckpt", "safetensors")
    return "" if not whole else (".safetensors" if safetensors else ".ckpt")


def _is_single_file(model: Any) -> bool:
    return isinstance(model, str) and Path(model).is_file()


def final_file(arguments: Mapping[str, Any], script: ScriptArguments) -> Path | None:
    """Return the path of the last file or folder that a finished training leaves.

    Args:
        arguments: The trainer's arguments, paths absolute.
        script: The script.

    Returns:
        The path; None when the place or the form cannot be told.
    """
    folder, extension = arguments.get("output_dir"), save_extension(arguments, script)
    if not isinstance(folder, str) or not folder or extension is None:
        return None
    return Path(folder) / f"{output_name(arguments)}{extension}"


def output_name(arguments: Mapping[str, Any]) -> str:
    """Return the beginning of all names that the run writes."""
    name = arguments.get("output_name")
    return DEFAULT_OUTPUT_NAME if name is None else str(name)


def is_written_by(name: str, base: str | None) -> bool:
    """Return whether a run with this ``output_name`` could write a file or folder of this name.

    Args:
        name: Of something in the output folder.
        base: The plan's ``output_name``; None takes the trainer's own names.

    Source: trainer-facts 7.4 (train_util.py:90-103).
    """
    patterns = (
        [rf"{re.escape(base)}(-\d{{6}}|-step\d{{8}})?"]
        if base is not None
        else [DEFAULT_OUTPUT_NAME, r"epoch-\d{6}", r"at-step\d{8}"]
    )
    return re.fullmatch(rf"({'|'.join(patterns)})(-state|\.(safetensors|ckpt|pt))?", name) is not None
