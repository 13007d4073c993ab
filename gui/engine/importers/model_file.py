"""Makes a plan of a trained file: train again like this one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gui.engine.errors import CannotRead
from gui.engine.importers.assembling import Draft
from gui.engine.importers.typed_values import typed_value
from gui.engine.plan.dataset_options import KEY_OF_ARGUMENT, OPTIONS, folder_name_parts, read_value
from gui.engine.texts import _
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.safetensors_file import read_header

_NOTHING = frozenset({"", "None", "null"})
_SCRIPTS = (
    ("sdxl", "sdxl_train_network.py"),
    ("sd3", "sd3_train_network.py"),
    ("flux", "flux_train_network.py"),
    ("chroma", "flux_train_network.py"),
    ("lumina", "lumina_train_network.py"),
    ("hunyuan", "hunyuan_image_train_network.py"),
    ("anima", "anima_train_network.py"),
    ("sd_", "train_network.py"),
)
"""Beginnings of ``ss_base_model_version`` and what trains such a model."""

_OTHER_NAMES = {
    "debiased_estimation": "debiased_estimation_loss",
    "batch_size_per_device": "train_batch_size",
}
_NOT_AGAIN = frozenset(
    {"output_name", "optimizer", "network_args", "lr_scheduler_args", "sd_model_name", "epoch"}
)
_SUBSET_KEYS = frozenset(OPTIONS) - {"resolution", "batch_size"}


def looks_like_model(path: Path, first: bytes) -> bool:
    """Return whether a file is a safetensors file, by its ending or by its first nine bytes."""
    length = int.from_bytes(first[:8], "little")
    return path.suffix.lower() in (".safetensors", ".sft") or (first[8:9] == b"{" and 1 < length < 1 << 27)


def read_model(path: Path, script: str | None, catalogue: Catalogue) -> Draft:
    """Gather from a file's metadata how it was trained.

    Args:
        path: A safetensors file that sd-scripts wrote.
        script: The training script, where somebody says which.
        catalogue: The trainer's arguments.

    Raises:
        CannotRead: It is no safetensors file, or does not tell how it was made.
        ScriptNotUsable: The trainer lacks the script.
    """
    metadata = read_header(path).metadata
    told = {key.removeprefix("ss_"): text for key, text in metadata.items() if key.startswith("ss_")}
    if "network_module" not in told:
        raise CannotRead(path, _("its metadata does not tell how it was trained"))
    version = told.get("base_model_version", "")
    chosen = next((name for start, name in _SCRIPTS if version.startswith(start)), "train_network.py")
    known = catalogue.script(script or chosen)
    draft = Draft(known.name)
    for key, text in told.items():
        name = _OTHER_NAMES.get(key, key)
        row = known.arguments.get(name)
        value = _literal(text)
        if (
            row is not None
            and key not in _NOT_AGAIN
            and name not in KEY_OF_ARGUMENT
            and value not in (None, False)
        ):
            draft.arguments[name] = typed_value(row, value)
    _take_lists(draft, told)
    if version.startswith("sd_v2") and version.endswith("_v"):
        draft.arguments["v_parameterization"] = True
    draft.dataset = _dataset(told)
    _tell(draft, told)
    return draft


def _literal(text: str) -> Any:
    if text in _NOTHING:
        return None
    if text.startswith(("[", "{")):
        return _json(text)
    return {"True": True, "False": False}.get(text, text)


def _json(text: str) -> Any:
    try:
        return json.loads(text.replace("'", '"') if text.startswith("['") else text)
    except (ValueError, RecursionError):
        return None


def _take_lists(draft: Draft, told: Mapping[str, str]) -> None:
    """Read what the trainer wrote as one text: optimizer and network with their own arguments."""
    optimizer = told.get("optimizer", "")
    if optimizer not in _NOTHING:
        name, _bracket, rest = optimizer.partition("(")
        module, _dot, short = name.rpartition(".")
        known = module.startswith(
            ("torch.", "bitsandbytes.", "transformers.", "lion_pytorch", "prodigyopt", "dadapt")
        )
        draft.arguments["optimizer_type"] = short if known or not module else name
        pairs = _split(rest.removesuffix(")"))
        if pairs:
            draft.arguments["optimizer_args"] = pairs
    options = _json(told.get("network_args", ""))
    if isinstance(options, dict) and options:
        draft.arguments["network_args"] = [f"{key}={value}" for key, value in options.items()]


def _split(text: str) -> list[str]:
    """Split ``a=1,betas=(0.9, 0.99)`` at the commas outside of brackets."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and depth == 0:
            parts.append("")
        elif not sign.isspace():
            parts[-1] += sign
    return [part for part in parts if "=" in part]


def _dataset(told: Mapping[str, str]) -> dict[str, Any]:
    entries = _json(told.get("datasets", ""))
    made = (
        [_entry(entry) for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    )
    if len(made) == 1:
        return made[0]
    if made:
        return {"datasets": made}
    flat: dict[str, Any] = {}
    for name, key in KEY_OF_ARGUMENT.items():
        value = _literal(told.get(name, ""))
        if name == "train_batch_size":
            value = _literal(told.get("batch_size_per_device", ""))
        if value is not None:
            flat[key] = _read(key, value)
    folders = [
        (name, is_reg)
        for key, is_reg in (("dataset_dirs", False), ("reg_dataset_dirs", True))
        for name in _folders(told.get(key, ""))
    ]
    return {**flat, "subsets": [_folder(name, is_reg) for name, is_reg in folders]}


def _folders(text: str) -> list[str]:
    value = _json(text)
    return [str(name) for name in value] if isinstance(value, dict) else []


def _folder(name: str, is_reg: bool) -> dict[str, Any]:
    subset: dict[str, Any] = {"image_dir": name}
    parts = folder_name_parts(name)
    if parts:
        subset |= {"num_repeats": parts[0], "class_tokens": parts[1]}
    return subset | ({"is_reg": True} if is_reg else {})


def _entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    names = {"batch_size_per_device": "batch_size"}
    own = {names.get(key, key): value for key, value in entry.items()}
    dataset = {key: _read(key, value) for key, value in own.items() if key in OPTIONS and value is not None}
    subsets = entry.get("subsets")
    made = [
        {key: _read(key, v) for key, v in subset.items() if key in _SUBSET_KEYS and v not in (None, False)}
        for subset in (subsets if isinstance(subsets, list) else [])
        if isinstance(subset, dict)
    ]
    return {**dataset, "subsets": made}


def _read(key: str, value: Any) -> Any:
    if key == "resolution" and isinstance(value, str):
        value = value.strip("()[] ")
    return read_value(OPTIONS[key].type, value)


def _tell(draft: Draft, told: Mapping[str, str]) -> None:
    model = told.get("sd_model_name", "")
    draft.note(
        _(
            "The file names its base model “{name}” and its folders, but not where they are: choose them."
        ).format(name=model if model not in _NOTHING else "?")
    )
    if "max_train_steps" in draft.arguments:
        draft.note(
            _("It was to be trained for {count} steps.").format(count=draft.arguments["max_train_steps"])
        )
