"""Optimizers and learning rate schedules by the names that the arguments have."""

from __future__ import annotations

import argparse
import ast
import importlib
import logging
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch.optim.lr_scheduler import LambdaLR

logger = logging.getLogger(__name__)

# Lower-case name → package, class, name in the log, module that must be there.
FOREIGN = {
    "lion": ("lion_pytorch", "Lion", "Lion"),
    "adamw8bit": ("bitsandbytes", "optim.AdamW8bit", "8-bit AdamW"),
    "sgdnesterov8bit": ("bitsandbytes", "optim.SGD8bit", "8-bit SGD with Nesterov"),
    "lion8bit": ("bitsandbytes", "optim.Lion8bit", "8-bit Lion"),
    "pagedadamw8bit": ("bitsandbytes", "optim.PagedAdamW8bit", "8-bit PagedAdamW"),
    "pagedlion8bit": ("bitsandbytes", "optim.PagedLion8bit", "8-bit Paged Lion"),
    "pagedadamw": ("bitsandbytes", "optim.PagedAdamW", "PagedAdamW"),
    "pagedadamw32bit": ("bitsandbytes", "optim.PagedAdamW32bit", "32-bit PagedAdamW"),
    "prodigy": ("prodigyopt", "Prodigy", "Prodigy"),
    "adafactor": ("transformers", "optimization.Adafactor", "Adafactor"),
    "radamschedulefree": ("schedulefree", "RAdamScheduleFree", "RAdamScheduleFree"),
    "adamwschedulefree": ("schedulefree", "AdamWScheduleFree", "AdamWScheduleFree"),
    "sgdschedulefree": ("schedulefree", "SGDScheduleFree", "SGDScheduleFree"),
}
DADAPTATION = "dadapt"
DEFAULT_TIMESCALE = 10_000


def literal_options(words: Sequence[str] | None) -> dict[str, Any]:
    """Read ``key=value`` words whose values are Python literals."""
    options = {}
    for word in words or ():
        key, value = word.split("=")
        options[key] = ast.literal_eval(value)
    return options


def _chosen_type(args: argparse.Namespace) -> str:
    chosen = args.optimizer_type or ""
    for flag, name in (("use_8bit_adam", "AdamW8bit"), ("use_lion_optimizer", "Lion")):
        if getattr(args, flag):
            assert not chosen, (
                f"both option {flag} and optimizer_type are specified / "
                f"{flag}とoptimizer_typeの両方のオプションが指定されています"
            )
            return name
    return chosen or "AdamW"


def _foreign_class(lower: str, options: dict[str, Any]) -> Any:
    package, path, shown = FOREIGN[lower]
    try:
        found: Any = importlib.import_module(package)
    except ImportError:
        raise ImportError(f"No {package} / {package}がインストールされていないようです") from None
    logger.info(f"use {shown} optimizer | {options}")
    for part in path.split("."):
        found = getattr(found, part)
    return found


def _class_by_path(name: str) -> Any:
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module) if module else torch.optim, last)


def make_optimizer(args: argparse.Namespace, groups: list[dict[str, Any]]) -> tuple[str, str, Any]:
    """Return the optimizer's full name, its options as text, and itself.

    Args:
        args: The run's arguments.
        groups: The trained weights with their learning rates.

    Raises:
        ImportError: It needs a package that is not here.
        AttributeError: There is no optimizer of that name.
        ValueError: There is nothing to train.
    """
    name = _chosen_type(args)
    options = literal_options(args.optimizer_args)
    lower = name.lower()
    if lower in FOREIGN:
        kind = _foreign_class(lower, options)
    elif lower.startswith(DADAPTATION):
        raise ImportError("No dadaptation / dadaptation がインストールされていないようです")
    elif lower == "sgdnesterov":
        logger.info(f"use SGD with Nesterov optimizer | {options}")
        options = {"momentum": 0.9, "nesterov": True, **options}
        kind = torch.optim.SGD
    elif lower == "adamw":
        logger.info(f"use AdamW optimizer | {options}")
        kind = torch.optim.AdamW
    else:
        logger.info(f"use {name} | {options}")
        kind = _class_by_path(name)
    optimizer = kind(groups, lr=args.learning_rate, **options)
    text = ",".join(f"{key}={value}" for key, value in options.items())
    return f"{kind.__module__}.{kind.__name__}", text, optimizer


def _steps(value: float | None, total: int) -> int:
    return int(value * total) if isinstance(value, float) else value or 0


def _cosine(share: float, waves: float = 0.5) -> float:
    """Return the height, 0…1, of so many cosine waves at a share of their length."""
    return max(0.0, 0.5 * (1 + math.cos(2 * math.pi * waves * share)))


def _height(name: str, args: argparse.Namespace, share: float) -> float:
    """Return the factor of a learning rate that falls, at a share, 0…1, of the way after the warm-up."""
    if name == "linear":
        return 1 - share
    if name == "polynomial":
        return float((1 - share) ** args.lr_scheduler_power)
    if name == "cosine_with_restarts":
        return _cosine(share * args.lr_scheduler_num_cycles % 1.0) if share < 1 else 0.0
    if name == "cosine_with_min_lr":
        lowest = args.lr_scheduler_min_lr_ratio or 0.0
        return _cosine(share, args.lr_scheduler_num_cycles / 2) * (1 - lowest) + lowest
    return _cosine(share)


def _factor(args: argparse.Namespace, name: str, total: int, step: int) -> float:
    """Return what the learning rate is multiplied with at a step, from 0."""
    warmup = _steps(args.lr_warmup_steps, total)
    lowest = args.lr_scheduler_min_lr_ratio or 0.0
    if step < warmup:
        start = lowest if name == "warmup_stable_decay" else 0.0
        return step / warmup * (1 - start) + start
    if name == "constant_with_warmup":
        return 1.0
    if name == "inverse_sqrt":
        scale = args.lr_scheduler_timescale or warmup or DEFAULT_TIMESCALE
        return math.sqrt(scale / (step - warmup + scale))
    if name == "warmup_stable_decay":
        decay = _steps(args.lr_decay_steps, total)
        gone = step - (total - decay)
        if gone < 0 or not decay:
            return 1.0
        if gone >= decay:
            return lowest
        return _cosine(gone / decay, args.lr_scheduler_num_cycles / 2) * (1 - lowest) + lowest
    return _height(name, args, min(1.0, (step - warmup) / max(1, total - warmup)))


NAMES = [
    "linear",
    "cosine",
    "cosine_with_restarts",
    "polynomial",
    "constant",
    "constant_with_warmup",
    "inverse_sqrt",
    "cosine_with_min_lr",
    "warmup_stable_decay",
]


def make_scheduler(args: argparse.Namespace, optimizer: Any) -> Any:
    """Return the learning rate schedule over ``max_train_steps`` optimizer steps.

    Raises:
        ValueError: The name is not known, or warm-up steps are given where they are not allowed.
    """
    options = literal_options(args.lr_scheduler_args)
    warmup = _steps(args.lr_warmup_steps, args.max_train_steps)
    name = args.lr_scheduler
    needless = bool(args.lr_scheduler_type) or name == "constant"
    if args.lr_scheduler_type:
        logger.info(f"use {args.lr_scheduler_type} | {options} as lr_scheduler")
        module, _, last = args.lr_scheduler_type.rpartition(".")
        place = importlib.import_module(module) if module else torch.optim.lr_scheduler
        scheduler = getattr(place, last)(optimizer, **options)
    elif name not in NAMES:
        raise ValueError(f"'{name}' is not a valid SchedulerType")
    elif name == "constant":
        scheduler = LambdaLR(optimizer, lambda _step: 1.0)
    else:
        total = args.max_train_steps
        scheduler = LambdaLR(optimizer, lambda step: _factor(args, name, total, step))
    if needless and warmup:
        raise ValueError(f"{name} does not require `num_warmup_steps`. Set None or 0.")
    return scheduler
