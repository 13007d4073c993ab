"""The options of the trainer's dataset file, and their counterparts on its command line.

What the trainer can be told in both places lives in a plan's ``dataset`` only, under the
dataset file's own names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from gui.engine.plan.paths import absolute
from gui.engine.texts import _

Level = Literal["general", "datasets", "subsets"]
Style = Literal["dreambooth", "finetuning", "controlnet"]
ValueType = Literal["bool", "int", "float", "number", "text", "size", "range", "table"]

_STYLES: frozenset[Style] = frozenset({"dreambooth", "finetuning", "controlnet"})
_ABOVE: frozenset[Level] = frozenset({"general", "datasets"})
_ALL: frozenset[Level] = frozenset({"general", "datasets", "subsets"})
_SUBSETS: frozenset[Level] = frozenset({"subsets"})


@dataclass(frozen=True)
class DatasetOption:
    """One key of the dataset file.

    Attributes:
        key: Its name.
        type: What the trainer's schema takes: ``number`` whole or not, ``float`` only with a
            point, ``size`` one or two whole numbers (px), ``range`` two floats.
        levels: Where it may stand.
        styles: The kinds of dataset that know it, at the levels below ``general``.
        argument: The command line's name; None when only the file can say it.
        dropout: Whether it is a caption dropout, which textual inversion scripts refuse.
    """

    key: str
    type: ValueType
    levels: frozenset[Level] = _ALL
    styles: frozenset[Style] = _STYLES
    argument: str | None = None
    dropout: bool = False


def _options() -> dict[str, DatasetOption]:
    folders: frozenset[Style] = frozenset({"dreambooth", "controlnet"})
    images: frozenset[Style] = frozenset({"dreambooth", "finetuning"})
    rows = [
        DatasetOption("resolution", "size", _ABOVE, argument="resolution"),
        DatasetOption("batch_size", "int", _ABOVE, argument="train_batch_size"),
        DatasetOption("enable_bucket", "bool", _ABOVE, argument="enable_bucket"),
        DatasetOption("min_bucket_reso", "int", _ABOVE, argument="min_bucket_reso"),
        DatasetOption("max_bucket_reso", "int", _ABOVE, argument="max_bucket_reso"),
        DatasetOption("bucket_reso_steps", "int", _ABOVE, argument="bucket_reso_steps"),
        DatasetOption("bucket_no_upscale", "bool", _ABOVE, argument="bucket_no_upscale"),
        DatasetOption("network_multiplier", "float", _ABOVE),
        DatasetOption("validation_split", "float", _ABOVE, argument="validation_split"),
        DatasetOption("validation_seed", "int", _ABOVE, argument="validation_seed"),
        DatasetOption("resize_interpolation", "text", argument="resize_interpolation"),
        DatasetOption("image_dir", "text", _SUBSETS),
        DatasetOption("num_repeats", "int", argument="dataset_repeats"),
        DatasetOption("class_tokens", "text", styles=frozenset({"dreambooth"})),
        DatasetOption("is_reg", "bool", _SUBSETS, frozenset({"dreambooth"})),
        DatasetOption("metadata_file", "text", _SUBSETS, frozenset({"finetuning"})),
        DatasetOption("conditioning_data_dir", "text", _SUBSETS, frozenset({"controlnet"})),
        DatasetOption("caption_extension", "text", styles=folders, argument="caption_extension"),
        DatasetOption("cache_info", "bool", styles=folders, argument="cache_info"),
        DatasetOption("alpha_mask", "bool", _SUBSETS, images, "alpha_mask"),
        *(
            DatasetOption(key, "bool", argument=key)
            for key in ("shuffle_caption", "flip_aug", "color_aug", "random_crop", "enable_wildcard")
        ),
        *(
            DatasetOption(key, "text", argument=key)
            for key in (
                *("caption_separator", "keep_tokens_separator", "secondary_separator"),
                *("caption_prefix", "caption_suffix"),
            )
        ),
        DatasetOption("keep_tokens", "int", argument="keep_tokens"),
        DatasetOption("token_warmup_min", "int", argument="token_warmup_min"),
        DatasetOption("token_warmup_step", "number", argument="token_warmup_step"),
        DatasetOption("face_crop_aug_range", "range", argument="face_crop_aug_range"),
        DatasetOption("custom_attributes", "table"),
        *(DatasetOption(key, type_, argument=key, dropout=True) for key, type_ in _DROPOUTS),
    ]
    return {row.key: row for row in rows}


_DROPOUTS: tuple[tuple[str, ValueType], ...] = (
    ("caption_dropout_rate", "number"),
    ("caption_dropout_every_n_epochs", "int"),
    ("caption_tag_dropout_rate", "number"),
)

OPTIONS: Mapping[str, DatasetOption] = _options()
"""Every key of the dataset file. Source: trainer-facts 1.7 (config_util.py:165-372)."""

HANDED_DOWN = frozenset({"alpha_mask"})
"""Keys that only subsets accept and that a plan may have above them: they go into every subset."""

KEY_OF_ARGUMENT: Mapping[str, str] = {
    **{option.argument: option.key for option in OPTIONS.values() if option.argument},
    "caption_extention": "caption_extension",
}
"""Command-line name to dataset key; the misspelt one is the trainer's own (train_util.py:5404)."""

FOLDER_ARGUMENTS = ("train_data_dir", "reg_data_dir", "in_json", "conditioning_data_dir")
"""Arguments that become subsets."""

CONTROLNET_SCRIPTS = frozenset(
    {
        *("train_control_net.py", "train_controlnet.py", "flux_train_control_net.py"),
        *("sdxl_train_control_net.py", "sdxl_train_control_net_lllite.py"),
        "sdxl_train_control_net_lllite_old.py",
    }
)
"""Scripts whose every dataset pairs images with conditioning images (train_control_net.py:86)."""

FINETUNING_SCRIPTS = frozenset({"fine_tune.py"})
"""Scripts that read metadata files only (fine_tune.py:69)."""


@dataclass(frozen=True)
class DatasetMapping:
    """What a command line says about the dataset.

    Attributes:
        dataset: The plan's dataset section.
        arguments: What is no dataset option, unchanged.
        notes: What was done that a user should know, in plain sentences.
    """

    dataset: dict[str, Any]
    arguments: dict[str, Any]
    notes: tuple[str, ...] = field(default=())


def dataset_from_arguments(
    arguments: Mapping[str, Any], base: Path | None = None, script: str = "train_network.py"
) -> DatasetMapping:
    """Move the dataset options of a command line to where a plan keeps them.

    The folders of ``train_data_dir`` and ``reg_data_dir`` are looked at, since their names
    ``N_name`` hold repeats and class tokens.

    Args:
        arguments: Name to value; text is read as the trainer would.
        base: The folder against which relative paths are meant; None is the current one.
        script: The training script, which decides what ``train_data_dir`` means.
    """
    if arguments.get("dataset_class") is not None:
        return DatasetMapping({}, dict(arguments))  # the class reads the arguments itself
    rest = dict(arguments)
    dataset: dict[str, Any] = {}
    for name, key in KEY_OF_ARGUMENT.items():
        value = rest.pop(name, None)
        if value is not None:
            dataset[key] = read_value(OPTIONS[key].type, value)
    folders = {name: rest.pop(name, None) for name in FOLDER_ARGUMENTS}
    if script not in CONTROLNET_SCRIPTS:
        kept = folders.pop("conditioning_data_dir")
        if kept is not None:
            rest["conditioning_data_dir"] = kept
    notes: list[str] = []
    subsets = _subsets(folders, base or Path.cwd(), script, notes)
    if subsets or any(value is not None for value in folders.values()):
        dataset["subsets"] = subsets
    return DatasetMapping(dataset, rest, tuple(notes))


def read_value(wanted: ValueType, value: Any) -> Any:
    """Return a value as the dataset file would have it; what cannot be read stays as it is.

    ``"768,512"`` becomes ``[768, 512]``, ``"2.0,4.0"`` ``[2.0, 4.0]``, ``"1"`` ``1``.
    """
    reader = _READERS.get(wanted)
    if reader is None or not isinstance(value, str):
        return typed(wanted, value)
    try:
        return reader(value)
    except (ValueError, KeyError):
        return value


def _size(text: str) -> int | list[int]:
    sizes = [int(part) for part in text.split(",")]
    return sizes[0] if len(sizes) == 1 else sizes


_READERS: Mapping[ValueType, Callable[[str], Any]] = {
    "size": _size,
    "range": lambda text: [float(part) for part in text.split(",")],
    "int": int,
    "float": float,
    "number": float,
    "bool": lambda text: {"true": True, "false": False}[text.lower()],
}
"""How the trainer reads the words of its command line (train_util.py:5402-5423)."""


def typed(wanted: ValueType, value: Any) -> Any:
    """Return a number with the point that the trainer's schema insists on: ``1`` as ``1.0``.

    A size that is written as on the command line, ``"768, 768"``, becomes the list that is meant.
    """

    def pointed(number: Any) -> Any:
        try:
            return float(number) if isinstance(number, int) and not isinstance(number, bool) else number
        except OverflowError:
            return number

    if wanted == "float":
        return pointed(value)
    if wanted == "size" and isinstance(value, str):
        return read_value(wanted, value)
    if wanted == "range" and isinstance(value, list | tuple):
        return [pointed(element) for element in value]
    return list(value) if isinstance(value, tuple) else value


def folder_name_parts(name: str) -> tuple[int, str] | None:
    """Read a folder's name ``N_name`` as the trainer does.

    Returns:
        Repeats and class tokens; None when the folder would be ignored.

    Source: trainer-facts 6.2 (config_util.py:607-638).
    """
    first, *rest = name.split("_")
    try:
        repeats = int(first)
    except ValueError:
        return None
    return (repeats, "_".join(rest)) if repeats >= 1 else None


def _subsets(folders: Mapping[str, Any], base: Path, script: str, notes: list[str]) -> list[dict[str, Any]]:
    train, reg = folders.get("train_data_dir"), folders.get("reg_data_dir")
    if script in CONTROLNET_SCRIPTS:
        conditioning = folders.get("conditioning_data_dir")
        pair = {"image_dir": train, "conditioning_data_dir": conditioning, "num_repeats": 1}
        return [pair] if train is not None else []
    metadata = folders.get("in_json")
    if metadata is not None or script in FINETUNING_SCRIPTS:
        subset = {"image_dir": train, "metadata_file": metadata}
        return [{key: value for key, value in subset.items() if value is not None}]
    return [*_from_folders(train, base, notes, is_reg=False), *_from_folders(reg, base, notes, is_reg=True)]


def _from_folders(parent: Any, base: Path, notes: list[str], *, is_reg: bool) -> list[dict[str, Any]]:
    if not isinstance(parent, str) or not parent:
        return []
    place = Path(absolute(parent, base))
    try:
        entries = sorted(entry for entry in place.iterdir() if entry.is_dir())
    except (OSError, ValueError):
        notes.append(_("The folder {path} cannot be read, so it gives no subsets.").format(path=place))
        return []
    subsets = []
    for entry in entries:
        parts = folder_name_parts(entry.name)
        if parts is None:
            sentence = _(
                "The folder “{name}” is passed over, as its name does not begin with a number of repeats."
            )
            notes.append(sentence.format(name=entry.name))
            continue
        repeats, class_tokens = parts
        image_dir = str(Path(parent) / entry.name)
        subset = {"image_dir": image_dir, "num_repeats": repeats, "class_tokens": class_tokens}
        subsets.append(subset | ({"is_reg": True} if is_reg else {}))
    return subsets


@dataclass(frozen=True)
class ArgumentMapping:
    """A dataset section in the words of the command line.

    Attributes:
        arguments: Name to value, as a plan's arguments.
        left: Dotted keys of what the command line cannot say.
    """

    arguments: dict[str, Any]
    left: tuple[str, ...]


def arguments_from_dataset(dataset: Mapping[str, Any], base: Path | None = None) -> ArgumentMapping:
    """Tell a dataset section in command-line options, where it can be told so.

    The command line knows one dataset and folders named ``N_name`` in one parent folder; what
    goes beyond is listed as left.

    Args:
        dataset: A plan's dataset section.
        base: The folder against which relative paths are meant; None is the current one.
    """
    top = {key: value for key, value in dataset.items() if key not in ("datasets", "subsets")}
    left: list[str] = []
    datasets = dataset.get("datasets") or []
    subsets = list(dataset.get("subsets") or [])
    if len(datasets) == 1:
        top |= {key: value for key, value in datasets[0].items() if key != "subsets"}
        subsets += datasets[0].get("subsets") or []
    elif datasets:
        left.append("datasets")
    arguments: dict[str, Any] = {}
    for key, value in top.items():
        option = OPTIONS.get(key)
        if option is None or option.argument is None:
            left.append(key)
        else:
            arguments[option.argument] = _as_argument(option, value)
    folders = _folders_of(subsets, base or Path.cwd())
    if folders is None:
        left.append("subsets")
    return ArgumentMapping(arguments | (folders or {}), tuple(left))


def _as_argument(option: DatasetOption, value: Any) -> Any:
    if option.type in ("size", "range") and isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(value) if option.type == "size" else value


def _folders_of(subsets: list[Any], base: Path) -> dict[str, Any] | None:
    """Return the folder arguments that give exactly these subsets; None when none do."""
    if not subsets:
        return {}
    if len(subsets) == 1 and set(subsets[0]) <= {"image_dir", "metadata_file", "conditioning_data_dir"}:
        names = {"image_dir": "train_data_dir", "metadata_file": "in_json"}
        told = {names.get(key, key): value for key, value in subsets[0].items()}
        return told if len(told) > 1 or "in_json" in told else None
    parents: dict[bool, set[str]] = {False: set(), True: set()}
    for subset in subsets:
        if isinstance(subset.get("image_dir"), str):
            parents[bool(subset.get("is_reg"))].add(str(Path(subset["image_dir"]).parent))
    if any(len(folders) > 1 for folders in parents.values()):
        return None
    parent_names = {False: "train_data_dir", True: "reg_data_dir"}
    told = {parent_names[reg]: next(iter(folders)) for reg, folders in parents.items() if folders}
    again = dataset_from_arguments(told, base).dataset.get("subsets", [])
    wanted = [_with_defaults(subset) for subset in subsets]
    return told if sorted(map(repr, map(_with_defaults, again))) == sorted(map(repr, wanted)) else None


def _with_defaults(subset: Mapping[str, Any]) -> list[tuple[str, Any]]:
    full = {"num_repeats": 1, "class_tokens": "", "is_reg": False, **subset}
    return sorted((key, str(Path(value)) if key == "image_dir" else value) for key, value in full.items())
