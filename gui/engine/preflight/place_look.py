"""Looks at the places that a plan names: their disks, and files of the output that cannot be written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gui.engine.hardware.disks import Disks
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.paths import absolute, arguments_with_paths, dataset_with_paths
from gui.engine.preflight.surroundings import DiskFact
from gui.engine.preflight.view import View
from gui.engine.quantities import GIB

PLACES = ("output_dir", "logging_dir", "pretrained_model_name_or_path")
"""Trainer arguments whose disk matters: what is written, and the largest file that is read."""

OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
"""Variables by which nothing is fetched (huggingface_hub/constants.py)."""

OWN_HUB_CACHE = "~/.cache/huggingface/hub"


def disk_facts(view: View, disks: Disks) -> tuple[DiskFact, ...]:
    """Return the disks of output, base model and folders of images."""
    return tuple(_disk(argument, path, disks) for argument, path in named_places(view))


def named_places(view: View) -> Iterator[tuple[str, str]]:
    """Yield the targets that name a place on a disk that matters, each with the place."""
    named = [(name, view.text(name)) for name in PLACES]
    named += [(subset.target_of("image_dir"), subset.value("image_dir")) for subset in view.subsets]
    for argument, path in named:
        if isinstance(path, str) and Path(path).is_absolute():
            yield argument, path


def _disk(argument: str, path: str, disks: Disks) -> DiskFact:
    place = disks.place(Path(path))
    free = None if place.free_bytes is None else place.free_bytes / GIB
    return DiskFact(argument=argument, path=path, kind=place.kind, free_gib=free, answers=place.answers)


def reachable(view: View, disks: Disks, base: Path) -> View:
    """Return the view without paths on drives that do not answer: what lies there is unknown.

    Whoever looked there would wait for good.

    Args:
        view: The plan.
        disks: Asks each drive once.
        base: The folder against which the user's own relative paths are meant.
    """

    def kept(path: str) -> str:
        return path if disks.answers(Path(absolute(path, base))) else ""

    def answering(plan: TrainingPlan) -> TrainingPlan:
        update = {
            "arguments": arguments_with_paths(plan.arguments, kept, base),
            "dataset": dataset_with_paths(plan.dataset, kept),
        }
        return plan.model_copy(update=update)

    return replace(view, plan=answering(view.plan), own=answering(view.own) if view.own else None)


def locked_outputs(view: View, names: Sequence[str]) -> tuple[str, ...]:
    """Return which files in the output folder cannot be written just now: others have them open.

    Nothing in them is changed.

    Args:
        view: The plan.
        names: Of files and folders in its output folder.
    """
    folder = Path(view.text("output_dir") or "")
    return tuple(name for name in names if _is_locked(folder / name))


def _is_locked(path: Path) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open("r+b"):
            return False
    except PermissionError:
        return True
    except OSError:
        return False


def is_offline(environ: Mapping[str, str]) -> bool:
    """Return whether libraries of the Hugging Face hub are told to fetch nothing."""
    return any(environ.get(name, "").upper() in ("1", "ON", "YES", "TRUE") for name in OFFLINE)


def hub_models(view: View, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the hub's models whose files are on this machine: ``owner/name``.

    Those in the plan's own ``tokenizer_cache_dir`` are there under the trainer's names: ``owner_name``
    (strategy_base.py:59).

    Args:
        view: The plan; its environment tells where the cache is.
        environ: What the trainer inherits.
    """
    own: dict[str, Any] = {**environ, **view.plan.launch.env}
    home = own.get("HF_HOME") or (
        own["XDG_CACHE_HOME"] + "/huggingface" if own.get("XDG_CACHE_HOME") else None
    )
    cache = own.get("HF_HUB_CACHE") or own.get("HUGGINGFACE_HUB_CACHE")
    folder = cache or (f"{home}/hub" if home else OWN_HUB_CACHE)
    names = [
        name.removeprefix("models--").replace("--", "/", 1)
        for name in _folders(folder)
        if name.startswith("models--") and _folders(f"{folder}/{name}/snapshots")
    ]
    return tuple(sorted({*names, *_folders(view.text("tokenizer_cache_dir"))}))


def _folders(folder: str | None) -> list[str]:
    try:
        return (
            [entry.name for entry in Path(folder).expanduser().iterdir() if entry.is_dir()] if folder else []
        )
    except (OSError, ValueError, RuntimeError):
        return []
