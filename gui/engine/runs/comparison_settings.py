"""What a run was really launched with, in a form that can be compared, and who said so."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gui.engine.dataset.listing import list_folder
from gui.engine.documents import read_text
from gui.engine.errors import PreflightError
from gui.engine.paths import Home
from gui.engine.plan.families import families
from gui.engine.plan.preset_filling import family_arguments, fill_plan, kind_of
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.runs.comparison_models import Cell
from gui.engine.runs.event_search import told_settings
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.launched import launched_settings
from gui.engine.runs.reuse import plan_of_run

PLACES = frozenset(
    {
        *("output_dir", "output_name", "logging_dir", "log_prefix", "log_tracker_name", "log_tracker_config"),
        *("wandb_run_name", "dataset_config", "config_file", "console_log_file", "sample_prompts"),
        *("train_data_dir", "reg_data_dir", "in_json", "tokenizer_cache_dir", "training_comment"),
        *("metadata_title", "metadata_author", "metadata_description", "image_dir", "metadata_file"),
        *("conditioning_data_dir", "main_process_port", "config"),
    }
)
"""Arguments and keys of the dataset file that only say where something lies or what it is called."""


def arguments_used(run: RunFolder) -> dict[str, Cell]:
    """Return the arguments that the trainer was given, presets included; a flag is true.

    What lies in the run's own folder is named from there, since it lies elsewhere in each.
    """
    own = str(run.path)
    found: dict[str, Cell] = {}
    for name, words in launched_settings(run).arguments.items():
        found[name] = True if not words else " ".join(words).replace(own, "<run>")
    return found


def origins_of(run: RunFolder, home: Home, arguments: Mapping[str, Cell]) -> dict[str, str]:
    """Return who said so of each argument; empty where the plan cannot be read any more."""
    try:
        plan = plan_of_run(run).plan
        filled = fill_plan(plan, PresetLibrary(home.presets))
    except PreflightError:
        return {}
    family = families().get(plan.family)
    given = family_arguments(family, kind_of(plan, family))
    origins: dict[str, str] = {}
    for name in arguments:
        preset = filled.values.get(name)
        if plan.arguments.get(name) is not None:
            origins[name] = "plan"
        elif preset is not None:
            origins[name] = f"preset:{preset.layer}"
        else:
            origins[name] = "family" if name in given else "program"
    return origins


def dataset_used(run: RunFolder) -> dict[str, Cell]:
    """Return the options of the dataset file, each by its key, and what was counted.

    Where there are several datasets or subsets, keys begin with their number.
    """
    try:
        data = tomllib.loads(read_text(run.dataset))
    except (PreflightError, ValueError, RecursionError):
        data = {}
    found: dict[str, Cell] = {}
    for where, options in _parts(data):
        found |= {f"{where}{key}": _cell(value) for key, value in options.items()}
        found |= {f"{where}{key}": count for key, count in _counts(options).items()}
    return found | trained_images(run)


def trained_images(run: RunFolder) -> dict[str, Cell]:
    """Return how many images the trainer said it trains on."""
    told = told_settings(run)
    names = {
        "images × repeats": ("num train images * repeats", "train images with repeats"),
        "regularisation images": ("num reg images", "reg images with repeats"),
        "batches per epoch": ("num batches per epoch",),
    }
    return {
        key: next(told[each] for each in known if each in told)
        for key, known in names.items()
        if any(each in told for each in known)
    }


def images_per_step(run: RunFolder) -> int | None:
    """Return batch size × accumulation × processes; None where datasets have batches of other sizes."""
    told, settings = told_settings(run), launched_settings(run)
    batch = told.get("batch size per device")
    if batch is None:
        batch = settings.dataset.get("batch_size", settings.text("train_batch_size") or 1)
    gathered = told.get("gradient accumulation steps", settings.text("gradient_accumulation_steps") or 1)
    processes = settings.text("num_processes") or 1
    try:
        count = int(batch) * int(gathered) * int(processes)
    except (TypeError, ValueError):
        return None
    return count if count > 0 else None


def _parts(data: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the options of each dataset and of each subset, with what their keys begin with."""
    general = _table(data.get("general"))
    datasets = [_table(each) for each in _list(data.get("datasets"))] or [{}]
    for number, dataset in enumerate(datasets):
        where = f"{number}." if len(datasets) > 1 else ""
        subsets = [_table(each) for each in _list(dataset.get("subsets"))]
        yield where, {**general, **{key: value for key, value in dataset.items() if key != "subsets"}}
        for place, subset in enumerate(subsets):
            inner = f"{where}subsets.{place}." if len(subsets) > 1 else where
            above = {"caption_extension": dataset.get("caption_extension", general.get("caption_extension"))}
            yield inner, {**{key: value for key, value in above.items() if value}, **subset}


def _counts(options: Mapping[str, Any]) -> dict[str, Cell]:
    """Return how many images and captions lie in a folder now."""
    folder = options.get("image_dir")
    if not isinstance(folder, str):
        return {}
    extension = options.get("caption_extension")
    try:
        listing = list_folder(Path(folder), extension if isinstance(extension, str) else ".caption")
    except PreflightError:
        return {}
    return {"images now": len(listing.images), "captions now": listing.captioned}


def _cell(value: Any) -> Cell:
    return value if isinstance(value, str | int | float | bool) else str(value)


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
