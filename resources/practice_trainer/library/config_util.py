"""Which images are trained and how: from the dataset config or from folders named ``N_words``."""

from __future__ import annotations

import argparse
import json
import logging
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from library.buckets import BucketRules, Size
from library.config_schema import check_user_config

logger = logging.getLogger(__name__)


class TomlDecodeError(ValueError):
    """The dataset config is no TOML."""


TomlDecodeError.__module__ = "toml.decoder"  # the name that a traceback of the trainer shows


@dataclass
class Subset:
    """One folder of images; the names are the dataset config's own."""

    image_dir: str = ""
    num_repeats: int = 1
    is_reg: bool = False
    class_tokens: str | None = None
    caption_extension: str = ".caption"
    shuffle_caption: bool = False
    caption_separator: str = ","
    keep_tokens: int = 0
    caption_dropout_rate: float = 0.0
    caption_dropout_every_n_epochs: int = 0
    caption_tag_dropout_rate: float = 0.0
    caption_prefix: str | None = None
    caption_suffix: str | None = None
    enable_wildcard: bool = False
    color_aug: bool = False
    flip_aug: bool = False
    face_crop_aug_range: tuple[float, float] | None = None
    random_crop: bool = False
    token_warmup_min: int = 1
    token_warmup_step: float = 0
    alpha_mask: bool = False
    resize_interpolation: str | None = None
    custom_attributes: dict[str, Any] | None = None
    image_count: int = 0


@dataclass
class DatasetSettings:
    """One dataset; the names are the dataset config's own. ``resolution`` is width and height."""

    batch_size: int = 1
    resolution: Any = None
    enable_bucket: bool = False
    min_bucket_reso: int = 256
    max_bucket_reso: int = 1024
    bucket_reso_steps: int = 64
    bucket_no_upscale: bool = False
    resize_interpolation: str | None = None
    validation_seed: int | None = None
    validation_split: float = 0.0
    subsets: Sequence[Subset] = ()

    def bucket_rules(self) -> BucketRules:
        """Return how sizes are sorted, judged."""
        assert self.resolution is not None, "resolution is required / resolution（解像度）指定は必須です"
        return BucketRules(
            self.resolution,
            self.enable_bucket,
            self.min_bucket_reso,
            self.max_bucket_reso,
            self.bucket_reso_steps,
            self.bucket_no_upscale,
        ).checked()


def parse_resolution(value: Any) -> Size | None:
    """Return width and height of ``512``, ``"512"``, ``"512,768"`` or ``[512, 768]``."""
    if value is None:
        return None
    sides = tuple(int(side) for side in value.split(",")) if isinstance(value, str) else value
    sides = (sides,) if isinstance(sides, int) else tuple(sides)
    if len(sides) == 1:
        sides = (sides[0], sides[0])
    assert len(sides) == 2, (
        "resolution must be 'size' or 'width,height' / "
        f"resolution（解像度）は'サイズ'または'幅','高さ'で指定してください: {value}"
    )
    return sides[0], sides[1]


def load_user_config(path: Path) -> dict[str, Any]:
    """Read a dataset config.

    Raises:
        ValueError: It is missing, or neither ``.toml`` nor ``.json``.
        TomlDecodeError: It is no TOML.
    """
    if not path.is_file():
        raise ValueError(f"file not found / ファイルが見つかりません: {path}")
    kind = path.suffix.lower()
    if kind not in (".toml", ".json"):
        raise ValueError(f"not supported config file format / 対応していない設定ファイルの形式です: {path}")
    try:
        text = path.read_text("utf-8")
        config: dict[str, Any] = json.loads(text) if kind == ".json" else tomllib.loads(text)
    except ValueError as error:
        name = kind[1:].upper()
        logger.error(  # noqa: TRY400 - the traceback follows
            f"Error on parsing {name} config file. Please check the format. / "
            f"{name} 形式の設定ファイルの読み込みに失敗しました。文法が正しいか確認してください。: {path}"
        )
        if isinstance(error, tomllib.TOMLDecodeError):
            raise TomlDecodeError(str(error)) from None
        raise
    return config


def _folder_subsets(parent: str | None, *, is_reg: bool) -> list[dict[str, Any]]:
    if parent is None or not Path(parent).is_dir():
        return []
    subsets: list[dict[str, Any]] = []
    for folder in sorted(Path(parent).iterdir()):
        if not folder.is_dir():
            continue
        number, _, words = folder.name.partition("_")
        try:
            repeats = int(number)
        except ValueError:
            logger.warning(
                "ignore directory without repeats / 繰り返し回数のないディレクトリを無視します: "
                f"{folder.name}"
            )
            continue
        if repeats >= 1:
            subsets.append(
                {
                    "image_dir": str(folder),
                    "num_repeats": repeats,
                    "is_reg": is_reg,
                    "class_tokens": words,
                }
            )
    return subsets


def _from_arguments(args: argparse.Namespace) -> dict[str, Any]:
    """Return the command line's dataset options under the config's names."""
    options = {name: value for name, value in vars(args).items() if value is not None}
    options["batch_size"] = args.train_batch_size
    if args.dataset_repeats is not None:
        options["num_repeats"] = args.dataset_repeats
    return options


def _filled(kind: Any, levels: Sequence[dict[str, Any]], **given: Any) -> Any:
    """Make settings of a kind; the first level that has a value wins, as the trainer does it."""
    values = {}
    for field in fields(kind):
        if field.name in given:
            continue
        found = [level[field.name] for level in levels if level.get(field.name) is not None]
        if found:
            values[field.name] = found[0]
    return kind(**values, **given)


def _dataset(config: dict[str, Any], above: Sequence[dict[str, Any]]) -> DatasetSettings:
    levels = [config, *above]
    subsets = []
    for entry in config.get("subsets", []):
        subset: Subset = _filled(Subset, [entry, *levels], image_count=0)
        if not subset.caption_extension.startswith("."):
            subset.caption_extension = "." + subset.caption_extension
        subset.custom_attributes = subset.custom_attributes or {}
        subsets.append(subset)
    settings: DatasetSettings = _filled(DatasetSettings, levels, subsets=subsets)
    settings.resolution = parse_resolution(settings.resolution)
    return settings


def _refuse_other_kinds(args: argparse.Namespace, config: dict[str, Any]) -> None:
    subsets = [entry for dataset in config.get("datasets", []) for entry in dataset.get("subsets", [])]
    wanted = {"metadata_file", "conditioning_data_dir"}.intersection(*[set().union(*subsets)])
    if wanted or (args.in_json and not args.dataset_config):
        raise NotImplementedError(
            "the practice trainer reads folders of images with captions; "
            f"{' and '.join(sorted(wanted)) or 'in_json'} is not for it"
        )


def read_datasets(args: argparse.Namespace) -> list[DatasetSettings]:
    """Return the datasets that the arguments ask for.

    Raises:
        MultipleInvalid: The dataset config has an unknown key or a wrong type.
        ValueError: The dataset config cannot be read.
    """
    if args.dataset_config:
        logger.info(f"Loading dataset config from {args.dataset_config}")
        ignored = [name for name in ("train_data_dir", "reg_data_dir", "in_json") if getattr(args, name)]
        if ignored:
            logger.warning(
                f"ignoring the following options because config file is found: {', '.join(ignored)} / "
                f"設定ファイルが利用されるため以下のオプションは無視されます: {', '.join(ignored)}"
            )
        config = load_user_config(Path(args.dataset_config))
    else:
        logger.info("Using DreamBooth method.")
        folders = _folder_subsets(args.train_data_dir, is_reg=False)
        folders += _folder_subsets(args.reg_data_dir, is_reg=True)
        config = {"datasets": [{"subsets": folders}]}
    _refuse_other_kinds(args, config)
    try:
        check_user_config(config)
    except ValueError:
        # The traceback follows when the error reaches the top.
        logger.error("Invalid user config / ユーザ設定の形式が正しくないようです")  # noqa: TRY400
        raise
    general = config.get("general", {})
    above = [general, _from_arguments(args)]
    return [_dataset(entry, above) for entry in config.get("datasets", [])]


def _subset_lines(subset: Subset, title: str) -> list[str]:
    names = [
        "num_repeats",
        "shuffle_caption",
        "keep_tokens",
        "caption_dropout_rate",
        "caption_dropout_every_n_epochs",
        "caption_tag_dropout_rate",
        "caption_prefix",
        "caption_suffix",
        "color_aug",
        "flip_aug",
        "face_crop_aug_range",
        "random_crop",
        "token_warmup_min",
        "token_warmup_step",
        "alpha_mask",
        "resize_interpolation",
        "custom_attributes",
        "is_reg",
        "class_tokens",
        "caption_extension",
    ]
    with_comma = {"token_warmup_min", "token_warmup_step"}
    lines = [f'image_dir: "{subset.image_dir}"', f"image_count: {subset.image_count}"]
    lines += [f"{name}: {getattr(subset, name)}{',' if name in with_comma else ''}" for name in names]
    return [f"  {title}", *(f"    {line}" for line in lines), "", ""]


def describe(datasets: Sequence[DatasetSettings], kind: str = "Dataset") -> str:
    """Return the block that lists all settings, as it stands in the log."""
    lines: list[str] = []
    for number, dataset in enumerate(datasets):
        lines.append(f"[{kind} {number}]")
        names = ["batch_size", "resolution", "resize_interpolation", "enable_bucket"]
        if dataset.enable_bucket:
            names += ["min_bucket_reso", "max_bucket_reso", "bucket_reso_steps", "bucket_no_upscale"]
        lines += [f"  {name}: {getattr(dataset, name)}" for name in names]
        lines.append("")
        for index, subset in enumerate(dataset.subsets):
            lines += _subset_lines(subset, f"[Subset {index} of {kind} {number}]")
    return "\n".join(lines)
