"""The argument parser, made from the rows that the trainer's own parser gave."""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

from library.records import logging, setup_logging

logger = logging.getLogger(__name__)
ROWS = Path(__file__).resolve().parents[2] / "trainer_arguments" / "sd-scripts-0.10.1.json"


def int_or_float(value: str) -> int | float:
    """Read a number of steps: a plain integer from 1 on, or a share (``0.1``, ``10%``)."""
    if value.endswith("%"):
        try:
            return float(value[:-1]) / 100.0
        except ValueError:
            raise argparse.ArgumentTypeError(f"Value '{value}' is not a valid percentage") from None
    try:
        number = float(value)
        return int(value) if number >= 1 else number
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{value}' is not an int or float") from None


TYPES = {"str": str, "int": int, "float": float, "int_or_float": int_or_float, "Path": Path}


def build_parser(script: str) -> argparse.ArgumentParser:
    """Return the parser of one training script.

    Args:
        script: Its file name, as in the bundled rows.
    """
    document = json.loads(ROWS.read_text("utf-8"))
    parser = argparse.ArgumentParser()
    groups: dict[str, Any] = {"options": parser}
    for index in document["scripts"][script]:
        row = document["arguments"][index]
        if row["action"] == "_HelpAction":
            continue
        group = groups.get(row["group"])
        if group is None:
            group = groups[row["group"]] = parser.add_argument_group(row["group"])
        options: dict[str, Any] = {"dest": row["dest"], "default": row["default"]}
        if row["action"] == "_StoreTrueAction":
            options["action"] = "store_true"
        else:
            options["nargs"] = row["nargs"]
            options["choices"] = row["choices"]
            options["metavar"] = row["metavar"]
            if row["type"]:
                options["type"] = TYPES[row["type"]]
        group.add_argument(*row["flags"], **options)
    return parser


def _flat(table: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            flat.update(value)
        else:
            flat[key] = value
    return flat


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, int | float):
        return repr(value)
    return json.dumps(str(value), ensure_ascii=False)


def _write_config(parser: argparse.ArgumentParser, args: argparse.Namespace, path: Path) -> None:
    """Write what was given and is not the default as a settings file, then leave."""
    if path.exists():
        logger.error(
            f"Config file already exists. Aborting... / 出力先の設定ファイルが既に存在します: {path}"
        )
        sys.exit(1)
    left_out = {"config_file", "output_config", "wandb_api_key", "huggingface_token"}
    given = {
        key: value
        for key, value in vars(args).items()
        if key not in left_out and value is not None and value != parser.get_default(key)
    }
    path.write_text("".join(f"{key} = {_toml(value)}\n" for key, value in given.items()), "utf-8")
    logger.info(f"Saved config file / 設定ファイルを保存しました: {path}")
    sys.exit(0)


def read_config_file(parser: argparse.ArgumentParser, args: argparse.Namespace) -> argparse.Namespace:
    """Merge the settings file of ``--config_file``; what the command line gives wins.

    Its values are taken as they are: no type, choice or name is judged, as the trainer does.
    """
    if not args.config_file:
        return args
    path = Path(args.config_file if args.config_file.endswith(".toml") else args.config_file + ".toml")
    if args.output_config:
        _write_config(parser, args, path)
    if not path.exists():
        logger.info(f"{path} not found.")
        sys.exit(1)
    logger.info(f"Loading settings from {path}...")
    settings = _flat(tomllib.loads(path.read_text("utf-8")))
    merged = parser.parse_args(namespace=argparse.Namespace(**settings))
    merged.config_file = args.config_file
    return merged


def verify(args: argparse.Namespace) -> None:
    """Refuse what the trainer refuses before it does anything else; warn where it warns."""
    if args.v2 and args.clip_skip is not None:
        logger.warning(
            "v2 with clip_skip will be unexpected / v2でclip_skipを使用することは想定されていません"
        )
    if args.cache_latents_to_disk and not args.cache_latents:
        args.cache_latents = True
        logger.warning(
            "cache_latents_to_disk is enabled, so cache_latents is also enabled / "
            "cache_latents_to_diskが有効なため、cache_latentsを有効にします"
        )
    if args.adaptive_noise_scale is not None and args.noise_offset is None:
        raise ValueError(
            "adaptive_noise_scale requires noise_offset / "
            "adaptive_noise_scaleを使用するにはnoise_offsetが必要です"
        )
    if args.scale_v_pred_loss_like_noise_pred and not args.v_parameterization:
        raise ValueError(
            "scale_v_pred_loss_like_noise_pred can be enabled only with v_parameterization / "
            "scale_v_pred_loss_like_noise_predはv_parameterizationが有効なときのみ有効にできます"
        )
    if args.v_pred_like_loss and args.v_parameterization:
        raise ValueError(
            "v_pred_like_loss cannot be enabled with v_parameterization / "
            "v_pred_like_lossはv_parameterizationが有効なときには有効にできません"
        )
    for name in ("sample_every_n_epochs", "sample_every_n_steps"):
        value = getattr(args, name)
        if value is not None and value <= 0:
            logger.warning(
                f"{name} is less than or equal to 0, so it will be disabled / "
                f"{name}に0以下の値が設定されたため無効になります"
            )
            setattr(args, name, None)


def prepare_logging(args: argparse.Namespace) -> None:
    """Install the record handler that the arguments ask for."""
    setup_logging(
        args.console_log_level, args.console_log_file, simple=bool(args.console_log_simple), again=True
    )
