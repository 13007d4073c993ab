"""Which keys a dataset config may have, and of which type; refused in the words that users know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class MultipleInvalid(ValueError):
    """The dataset config has a key that is not known, or a value of the wrong type."""


# So that a traceback shows the name that the trainer's own validator has.
MultipleInvalid.__module__ = "voluptuous.error"

Check = Callable[[Any], bool]


def _is(*types: type) -> Check:
    return lambda value: isinstance(value, types) and (bool in types or not isinstance(value, bool))


def _resolution(value: Any) -> bool:
    return _is(int)(value) or (
        isinstance(value, list) and len(value) == 2 and all(_is(int)(side) for side in value)
    )


def _pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(_is(float)(item) for item in value)


TEXT, WHOLE, REAL, NUMBER, FLAG = _is(str), _is(int), _is(float), _is(int, float), _is(bool)
NAMES = {TEXT: "str", WHOLE: "int", REAL: "float", NUMBER: "float", FLAG: "bool"}

SUBSET_AND_ABOVE: dict[str, Check] = {
    "color_aug": FLAG,
    "face_crop_aug_range": _pair,
    "flip_aug": FLAG,
    "num_repeats": WHOLE,
    "random_crop": FLAG,
    "shuffle_caption": FLAG,
    "keep_tokens": WHOLE,
    "keep_tokens_separator": TEXT,
    "caption_separator": TEXT,
    "secondary_separator": TEXT,
    "enable_wildcard": FLAG,
    "token_warmup_min": WHOLE,
    "token_warmup_step": NUMBER,
    "caption_prefix": TEXT,
    "caption_suffix": TEXT,
    "custom_attributes": _is(dict),
    "resize_interpolation": TEXT,
    "caption_dropout_every_n_epochs": WHOLE,
    "caption_dropout_rate": NUMBER,
    "caption_tag_dropout_rate": NUMBER,
    "caption_extension": TEXT,
    "class_tokens": TEXT,
    "cache_info": FLAG,
}
SUBSET = SUBSET_AND_ABOVE | {"image_dir": TEXT, "is_reg": FLAG, "alpha_mask": FLAG}
DATASET_AND_ABOVE = SUBSET_AND_ABOVE | {
    "batch_size": WHOLE,
    "bucket_no_upscale": FLAG,
    "bucket_reso_steps": WHOLE,
    "enable_bucket": FLAG,
    "max_bucket_reso": WHOLE,
    "min_bucket_reso": WHOLE,
    "validation_seed": WHOLE,
    "validation_split": REAL,
    "resolution": _resolution,
    "network_multiplier": REAL,
}


def _refuse(reason: str, path: str) -> None:
    raise MultipleInvalid(f"{reason} @ data{path}")


def _check_table(table: Any, allowed: dict[str, Check], path: str) -> None:
    if not isinstance(table, dict):
        _refuse("expected a dictionary", path)
    for key, value in table.items():
        place = f"{path}[{key!r}]"
        if key not in allowed:
            _refuse("extra keys not allowed", place)
        check = allowed[key]
        if not check(value):
            expected = f"expected {NAMES[check]}" if check in NAMES else "not a valid value"
            _refuse(f"{expected} for dictionary value", place)


def check_user_config(config: dict[str, Any]) -> None:
    """Judge a whole dataset config.

    Raises:
        MultipleInvalid: With the first thing that is wrong and its place.
    """
    for key in config:
        if key not in ("general", "datasets"):
            _refuse("extra keys not allowed", f"[{key!r}]")
    _check_table(config.get("general", {}), DATASET_AND_ABOVE, "['general']")
    datasets = config.get("datasets")
    if not isinstance(datasets, list):
        _refuse("required key not provided" if datasets is None else "expected a list", "['datasets']")
    for number, dataset in enumerate(datasets or []):
        path = f"['datasets'][{number}]"
        if not isinstance(dataset, dict) or not isinstance(dataset.get("subsets"), list):
            _refuse("required key not provided", f"{path}['subsets']")
        rest = {key: value for key, value in dataset.items() if key != "subsets"}
        _check_table(rest, DATASET_AND_ABOVE, path)
        for index, subset in enumerate(dataset["subsets"]):
            place = f"{path}['subsets'][{index}]"
            _check_table(subset, SUBSET, place)
            if "image_dir" not in subset:
                _refuse("required key not provided", f"{place}['image_dir']")
