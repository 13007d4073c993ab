"""Which keys a dataset config may have, and of which type; refused in the words that users know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class MultipleInvalid(ValueError):
    """The dataset config has a key that is not known, or a value of the wrong type."""


# So that a traceback shows the name that the trainer's own validator has.
MultipleInvalid.__module__ = "voluptuous.error"


class Kind(NamedTuple):
    """A type of values: how it is called when it is missed, and what belongs to it."""

    name: str
    holds: Callable[[Any], bool]


def _resolution(value: Any) -> bool:
    return isinstance(value, int) or (
        isinstance(value, list) and len(value) == 2 and all(isinstance(side, int) for side in value)
    )


def _pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(item, float) for item in value)


TEXT = Kind("str", lambda value: isinstance(value, str))
WHOLE = Kind("int", lambda value: isinstance(value, int))
REAL = Kind("float", lambda value: isinstance(value, float))
NUMBER = Kind("float", lambda value: isinstance(value, int | float))
FLAG = Kind("bool", lambda value: isinstance(value, bool))
TABLE = Kind("dict", lambda value: isinstance(value, dict))
PAIR = Kind("float", _pair)
RESOLUTION = Kind("int", _resolution)

SUBSET_AND_ABOVE: dict[str, Kind] = {
    "color_aug": FLAG,
    "face_crop_aug_range": PAIR,
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
    "custom_attributes": TABLE,
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
    "resolution": RESOLUTION,
    "network_multiplier": REAL,
}


def _refuse(reason: str, path: str) -> None:
    raise MultipleInvalid(f"{reason} @ data{path}")


def _check_table(table: Any, allowed: dict[str, Kind], path: str) -> None:
    if not isinstance(table, dict):
        _refuse("expected a dictionary", path)
    for key, value in table.items():
        place = f"{path}[{key!r}]"
        if key not in allowed:
            _refuse("extra keys not allowed", place)
        if not allowed[key].holds(value):
            _refuse(f"expected {allowed[key].name} for dictionary value", place)


def _check_list(value: Any, path: str) -> list[Any]:
    if not isinstance(value, list):
        _refuse("expected a list", path)
    listed: list[Any] = value
    return listed


def check_user_config(config: dict[str, Any]) -> None:
    """Judge a whole dataset config.

    Raises:
        MultipleInvalid: With the first thing that is wrong and its place.
    """
    for key in config:
        if key not in ("general", "datasets"):
            _refuse("extra keys not allowed", f"[{key!r}]")
    _check_table(config.get("general", {}), DATASET_AND_ABOVE, "['general']")
    for number, dataset in enumerate(_check_list(config.get("datasets", []), "['datasets']")):
        path = f"['datasets'][{number}]"
        own = {key: value for key, value in dataset.items() if key != "subsets"}
        _check_table(own, DATASET_AND_ABOVE, path)
        subsets = _check_list(dataset.get("subsets", []), f"{path}['subsets']")
        for index, subset in enumerate(subsets):
            place = f"{path}['subsets'][{index}]"
            _check_table(subset, SUBSET, place)
            if "image_dir" not in subset:
                _refuse("required key not provided", f"{place}['image_dir']")
