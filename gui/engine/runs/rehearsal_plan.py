"""Makes the plan of a rehearsal: the user's own, but short, on few images, and in a folder of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gui.engine.documents import read_text, write_atomically
from gui.engine.errors import CannotRead
from gui.engine.plan.model import GuardSettings, TrainingPlan
from gui.engine.preflight.rules.sampling import wants_samples
from gui.engine.preflight.steps import forecast_steps
from gui.engine.preflight.view import View
from gui.engine.runs.rates import SAFE_RATE
from gui.engine.runs.rehearsal_result import RehearsalKind

STEPS: Mapping[RehearsalKind, int] = {"rehearsal": 8, "isolation": 60}
"""The first two are slower than the others, and the peak is in the second; a loss needs more to fall."""

OUTPUT_NAME = "rehearsal"

_LENGTH = ("max_train_epochs", "resume", "initial_step", "initial_epoch", "skip_until_initial_step")
_SAVES = (
    *("save_every_n_steps", "save_every_n_epochs", "save_n_epoch_ratio", "save_last_n_epochs"),
    *("save_last_n_epochs_state", "save_last_n_steps", "save_last_n_steps_state"),
)
_SAMPLES = ("sample_at_first", "sample_every_n_epochs", "sample_every_n_steps")
_VALIDATION = ("validate_every_n_steps", "validate_every_n_epochs", "validation_split", "validation_seed")
_ELSEWHERE = (
    *("logging_dir", "log_with", "log_prefix", "log_tracker_name", "log_tracker_config", "log_config"),
    *("wandb_run_name", "wandb_api_key", "huggingface_repo_id", "huggingface_repo_type"),
    *("huggingface_path_in_repo", "huggingface_token", "huggingface_repo_visibility"),
    *("save_state_to_huggingface", "resume_from_huggingface", "async_upload"),
)
"""What would leave traces outside of the rehearsal's folder."""

_DATA = ("dataset_config", "dataset_class", "train_data_dir", "reg_data_dir", "in_json")

_SIZE = {side: re.compile(rf"--{side} (\d+)") for side in "wh"}


def rehearsed_plan(view: View, dataset: Mapping[str, Any], folder: Path, kind: RehearsalKind) -> TrainingPlan:
    """Return the plan of a rehearsal; its presets are filled in and its paths absolute.

    Args:
        view: The plan as the trainer would understand it.
        dataset: What it trains on.
        folder: Where all that it writes goes.
        kind: Of the rehearsal.

    Raises:
        CannotWrite: The disk is full, or the folder cannot be written.
    """
    dropped = {*_LENGTH, *_SAVES, *_SAMPLES, *_VALIDATION, *_ELSEWHERE, *_DATA}
    if kind == "isolation":
        dropped |= {"sample_prompts", "save_state", "save_state_on_train_end"}
    arguments = {name: value for name, value in view.plan.arguments.items() if name not in dropped}
    arguments |= {
        "max_train_steps": STEPS[kind],
        "output_dir": str(folder / "out"),
        "output_name": OUTPUT_NAME,
    }
    if kind == "isolation":
        arguments |= _calm(view)
    elif wants_samples(view) and view.given("sample_prompts"):
        arguments |= _one_sample(view, folder)
    arguments |= _warmup(view)
    whole = {
        "presets": (),
        "without": (),
        "script": view.script,
        "arguments": {name: value for name, value in arguments.items() if value is not None},
        "dataset": dict(dataset),
        "guard": GuardSettings(),
    }
    return TrainingPlan.model_validate({**view.plan.data(), **whole})


def _one_sample(view: View, folder: Path) -> dict[str, Any]:
    """Draw the largest sample once, at the end; a file that is no plain list stays as it is."""
    prompts = Path(str(view.value("sample_prompts")))
    changes: dict[str, Any] = {"sample_every_n_steps": STEPS["rehearsal"]}
    try:
        lines = [line.strip() for line in read_text(prompts).splitlines()]
    except CannotRead:
        return changes
    told = [line for line in lines if line and not line.startswith("#")]
    if prompts.suffix.lower() != ".txt" or not told:
        return changes
    write_atomically(folder / "prompts.txt", max(told, key=_pixels) + "\n")
    return {**changes, "sample_prompts": str(folder / "prompts.txt")}


def _pixels(prompt: str) -> int:
    found = [pattern.search(prompt) for pattern in _SIZE.values()]
    width, height = (int(match[1]) if match else 0 for match in found)
    return width * height


def _warmup(view: View) -> dict[str, Any]:
    """Keep a warm-up that is a share of the steps as long as it is in the whole plan."""
    share, steps = view.number("lr_warmup_steps"), forecast_steps(view)
    if share is None or not 0 < share < 1 or steps is None:
        return {}
    return {"lr_warmup_steps": int(share * steps.total_steps)}


def _calm(view: View) -> dict[str, Any]:
    """Return a low learning rate; an optimizer that finds its own gives way to AdamW (N3, N9)."""
    rates = {name: view.number(name) for name in ("learning_rate", "unet_lr", "text_encoder_lr")}
    calm: dict[str, Any] = {
        name: min(rate, SAFE_RATE) for name, rate in rates.items() if rate is not None and view.given(name)
    }
    if any(part in view.optimizer for part in ("prodigy", "dadapt", "schedulefree")):
        calm |= {"optimizer_type": "AdamW", "optimizer_args": None, "learning_rate": SAFE_RATE}
    return calm
