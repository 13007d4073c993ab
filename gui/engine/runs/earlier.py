"""Tells how long a step took in an earlier run of the same kind on this machine.

Only a run whose command differs in nothing that may change its speed counts: no figure is better than
a wrong one.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import islice
from typing import Any, NamedTuple

from gui.engine.documents import read_text
from gui.engine.errors import PreflightError
from gui.engine.paths import Home
from gui.engine.runs.folder import RunFolder, run_names
from gui.engine.runs.records import CommandRecord, Manifest
from gui.engine.runs.rehearsal_reading import rehearsal_result, rehearsals_in
from gui.engine.runs.status import RunStatus
from gui.engine.trainer.command import TrainerCommand

MOST_LOOKED_AT = 200
"""Older runs are hardly of the same kind, and looking at all would take long."""

FEWEST_STEPS = 20
"""The first steps of a run are slower than the others."""

_SAME_SPEED = frozenset(
    {
        *("--output_dir", "--output_name", "--logging_dir", "--log_prefix", "--dataset_config", "--seed"),
        *("--learning_rate", "--unet_lr", "--text_encoder_lr", "--lr_scheduler", "--lr_warmup_steps"),
        *("--lr_scheduler_num_cycles", "--lr_scheduler_power", "--lr_decay_steps", "--max_grad_norm"),
        *("--max_train_steps", "--max_train_epochs", "--save_every_n_epochs", "--save_every_n_steps"),
        *("--save_last_n_epochs", "--save_last_n_steps", "--save_precision", "--save_model_as"),
        *("--save_state", "--save_state_on_train_end", "--network_alpha", "--scale_weight_norms"),
        *("--min_snr_gamma", "--noise_offset", "--training_comment", "--metadata_title", "--metadata_author"),
        *("--metadata_description", "--metadata_license", "--metadata_tags", "--no_metadata"),
        *("--sample_prompts", "--sample_every_n_steps", "--sample_every_n_epochs", "--sample_at_first"),
        *("--sample_sampler", "--pretrained_model_name_or_path", "--accelerate_config", "--config_file"),
    }
)
"""Arguments that do not change how long a step takes, and those that name files."""

_SAME_SPEED_DATA = frozenset(
    {"image_dir", "num_repeats", "class_tokens", "caption_extension", "keep_tokens", "metadata_file"}
)
"""Keys of the dataset file that do not change how long a step takes."""


class EarlierPace(NamedTuple):
    """How fast an earlier run was.

    Attributes:
        run: Its name.
        seconds_per_step: On average.
    """

    run: str
    seconds_per_step: float


def earlier_pace(home: Home, command: TrainerCommand, gpus: Sequence[str]) -> EarlierPace | None:
    """Return how fast the newest run or rehearsal of the same kind was; None when there is none.

    Args:
        home: Where runs are kept.
        command: What would be launched.
        gpus: Names of the GPUs that the trainer sees.
    """
    found = (_earlier_run(home, command, gpus), _rehearsed(home, speed_key(command), gpus))
    return max((pace for pace in found if pace is not None), key=lambda pace: pace.run, default=None)


def speed_key(command: TrainerCommand) -> str:
    """Return what is the same for two commands only if nothing in them may make one of them faster."""
    words = json.dumps([_kind(command), _data(command.dataset_toml or "")], default=str)
    return sha256(words.encode("utf-8")).hexdigest()


def _rehearsed(home: Home, key: str, gpus: Sequence[str]) -> EarlierPace | None:
    for run in rehearsals_in(home)[:MOST_LOOKED_AT]:
        try:
            manifest = Manifest.read(run.manifest)
            order = manifest.rehearsal
            if order is None or order.speed_key != key or manifest.gpus != tuple(gpus):
                continue
            pace = rehearsal_result(run).seconds_per_step
        except PreflightError:
            continue
        if pace is not None:
            return EarlierPace(run.name, pace)
    return None


def _earlier_run(home: Home, command: TrainerCommand, gpus: Sequence[str]) -> EarlierPace | None:
    kind, data = _kind(command), _data(command.dataset_toml or "")
    for run in _runs(home):
        try:
            if _kind(CommandRecord.read(run.command)) != kind:
                continue
            if Manifest.read(run.manifest).gpus != tuple(gpus) or _data(read_text(run.dataset)) != data:
                continue
            status = RunStatus.read(run.status)
        except (PreflightError, tomllib.TOMLDecodeError):
            continue
        if status.mean_rate and (status.step or 0) >= FEWEST_STEPS:
            return EarlierPace(run.name, 1 / status.mean_rate)
    return None


def _runs(home: Home) -> Iterator[RunFolder]:
    for name in islice(run_names(home), MOST_LOOKED_AT):
        yield RunFolder(home.runs / name)


def _kind(command: TrainerCommand | CommandRecord) -> Any:
    """Return what may change the speed: the trainer, its GPUs, the script and its options in any order."""
    groups: list[list[str]] = [[]]
    for word in command.argv:
        if word.startswith("--"):
            groups.append(word.split("=", 1) if "=" in word else [word])
        else:
            groups[-1].append(word)
    options = sorted(group for group in groups[1:] if group[0] not in _SAME_SPEED)
    devices = command.environment.get("CUDA_VISIBLE_DEVICES")
    return command.cwd, command.script, str(command.python), devices, options


def _data(text: str) -> Any:
    """Return what may change the speed of the dataset file: sizes and batches, not the images themselves."""
    return _without_names(tomllib.loads(text))


def _without_names(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_names(each) for key, each in value.items() if key not in _SAME_SPEED_DATA}
    return [_without_names(each) for each in value] if isinstance(value, list) else value
