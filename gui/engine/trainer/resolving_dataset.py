"""The dataset of a plan in the words of a training script: its own section, its arguments, or a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from gui.engine.errors import CannotRead
from gui.engine.findings import Finding, Fix
from gui.engine.plan.dataset_file import SUFFIXES, read_dataset_file
from gui.engine.plan.dataset_judging import judge_dataset
from gui.engine.plan.dataset_options import (
    FOLDER_ARGUMENTS,
    KEY_OF_ARGUMENT,
    DatasetMapping,
    dataset_from_arguments,
)
from gui.engine.plan.dataset_toml import dataset_toml
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.paths import absolute, dataset_with_paths
from gui.engine.texts import _
from gui.engine.trainer.catalogue import ScriptArguments


@dataclass(frozen=True)
class Said:
    """What a plan says, and how it is read.

    Attributes:
        plan: With what its presets and its family say filled in.
        full: Its arguments, paths absolute.
        script: The training script.
        base: The folder of the plan file.
        files_known: Whether the folders that it names are those of this machine.
        trainer_root: The folder that the trainer runs in; None where that does not matter.
    """

    plan: TrainingPlan
    full: Mapping[str, Any]
    script: ScriptArguments
    base: Path
    files_known: bool = True
    trainer_root: Path | None = None

    @property
    def told(self) -> dict[str, Any]:
        """The arguments that the script or a dataset file knows."""
        known = self.script.arguments
        return {name: value for name, value in self.full.items() if name in known or name in KEY_OF_ARGUMENT}

    @property
    def masked_loss(self) -> bool:
        """Whether masks are wanted."""
        return bool(self.full.get("masked_loss"))


class ResolvedDataset(NamedTuple):
    """What a plan trains on.

    Attributes:
        dataset: Paths absolute.
        mapping: The arguments that are left for the command line.
        findings: What is wrong with it.
        toml: The dataset file's content; None when the plan brings its own, or something is wrong.
        file: The dataset file of the user's own that ``dataset`` was read from.
    """

    dataset: dict[str, Any]
    mapping: DatasetMapping
    findings: list[Finding]
    toml: str | None = None
    file: Path | None = None


def resolve_dataset(said: Said) -> ResolvedDataset:
    """Return what a plan trains on, wherever it says so.

    Args:
        said: The plan.
    """
    if said.full.get("dataset_config") is not None or said.full.get("dataset_class") is not None:
        return _of_own_file(said)
    return _of_plan(said)


def _of_own_file(said: Said) -> ResolvedDataset:
    """Beside the user's own dataset file the trainer takes the command line for what that leaves out."""
    mapping = DatasetMapping({}, said.told)
    findings = _twice_file(said.plan, said.full)
    file = _own_file(said.full) if said.files_known else None
    read, refused = _read_file(file, said) if file is not None else (None, [])
    findings += refused
    if read is None:
        own = dataset_with_paths(dict(said.plan.dataset), lambda value: absolute(value, said.base))
        return ResolvedDataset(own, mapping, findings)
    root = said.trainer_root
    dataset = dataset_with_paths(read, lambda value: absolute(value, root)) if root is not None else read
    return ResolvedDataset(dataset, mapping, findings, file=file)


def _of_plan(said: Said) -> ResolvedDataset:
    plan = said.plan
    mapping = dataset_from_arguments(said.told, said.base, said.script.name)
    folders = [name for name in FOLDER_ARGUMENTS[:3] if plan.arguments.get(name) is not None]
    merged = _merged_dataset(plan.dataset, mapping.dataset)
    dataset = dataset_with_paths(merged, lambda value: absolute(value, said.base))
    judged = _judge_dataset(said, folders, dataset)
    if not judged and not (folders and not said.files_known) and not _has_images(dataset):
        judged.append(_no_images(folders, missing=_missing_folder(said.full)))
    toml = None if judged else dataset_toml(dataset, said.base)
    return ResolvedDataset(dataset, mapping, judged, toml)


def _own_file(full: Mapping[str, Any]) -> Path | None:
    """Return the dataset file of the user's own, where it is there and named as the trainer wants it."""
    name = full.get("dataset_config")
    if (
        not isinstance(name, str)
        or not name.lower().endswith(SUFFIXES)
        or full.get("dataset_class") is not None
    ):
        return None
    try:
        return Path(name) if Path(name).is_file() else None
    except (OSError, ValueError):
        return None


def _read_file(path: Path, said: Said) -> tuple[dict[str, Any] | None, list[Finding]]:
    """Return what a dataset file of the user's own says, and what the trainer would refuse in it."""
    try:
        data = read_dataset_file(path)
    except CannotRead as refusal:
        return None, [_unreadable(path, refusal)]
    judged = judge_dataset(data, said.script.name, masked_loss=said.masked_loss, verbatim=True)
    if not judged and not _has_images(data):
        judged.append(_no_images([], "dataset_config"))
    return data, judged


def _unreadable(path: Path, refusal: CannotRead) -> Finding:
    return Finding(
        id="dataset-file",
        severity="stop",
        title=_("The trainer cannot read {file}: {reason}.").format(file=path.name, reason=refusal.reason),
        detail=_(
            "It must be UTF-8. In TOML a backslash in double quotes begins a sign: write / in paths, or use "
            "single quotes."
        ),
        arguments=("dataset_config",),
        where="dataset_config",
        sources=("ENC-02", "ENC-05", "trainer: config_util.py:675-698"),
    )


def _merged_dataset(own: Mapping[str, Any], mapped: Mapping[str, Any]) -> dict[str, Any]:
    """The trainer takes the command line only for what its dataset file leaves out; so do we."""
    general = own.get("general")
    said = {*own, *(general if isinstance(general, Mapping) else ())}
    return {**{key: value for key, value in mapped.items() if key not in said}, **own}


def _judge_dataset(said: Said, folders: list[str], dataset: Mapping[str, Any]) -> list[Finding]:
    if folders and _has_images(said.plan.dataset):
        return [_twice(folders[0], ["dataset.subsets"])]
    return judge_dataset(dataset, said.script.name, masked_loss=said.masked_loss)


def _has_images(dataset: Mapping[str, Any]) -> bool:
    """Whether any subset is named; what has another form than it should is judged elsewhere."""
    several = dataset.get("datasets")
    entries = [entry for entry in several if isinstance(entry, Mapping)] if isinstance(several, list) else []
    return any(entry.get("subsets") for entry in (dataset, *entries))


def _missing_folder(full: Mapping[str, Any]) -> str | None:
    """Return the folder of images that is not there, or is none; None where that is not what is wrong."""
    folder = full.get("train_data_dir")
    try:
        return folder if isinstance(folder, str) and folder and not Path(folder).is_dir() else None
    except (OSError, ValueError):
        return None


def _no_images(folders: list[str], place: str = "dataset.subsets", *, missing: str | None = None) -> Finding:
    title = _("The plan names no images.")
    detail = _("Without images the trainer ends at once, and says that all is well.")
    if missing is not None:
        title = _("train_data_dir: there is no folder {path}.").format(path=missing)
    elif folders:
        title = _("{name} gives no images.").format(name=folders[0])
        detail = _(
            "The folder must hold folders named like “10_name”: the number of repeats, then the class. "
            "Or name the folder of images itself as image_dir of a subset."
        )
    return Finding(
        id="no-data",
        severity="stop",
        title=title,
        detail=detail,
        arguments=(*folders, place),
        where="dataset.subsets",
        sources=("DATA-01", "trainer: train_network.py:575"),
    )


def _twice_file(plan: TrainingPlan, full: Mapping[str, Any]) -> list[Finding]:
    name = "dataset_config" if full.get("dataset_config") is not None else "dataset_class"
    also = [f"dataset.{key}" for key in plan.dataset]
    return [_twice(name, also)] if also else []


def _twice(name: str, also: list[str]) -> Finding:
    return Finding(
        id="dataset-twice",
        severity="stop",
        title=_("{name} and the plan's own dataset section both say what to train on.").format(name=name),
        detail=_("The trainer would take one of them in silence."),
        arguments=(name, *also),
        where=name,
        fixes=(remove(name),),
        sources=("trainer: train_network.py:521",),
    )


def remove(name: str) -> Fix:
    """Return the fix that takes an argument out."""
    return Fix(id="remove", label=_("leave {name} out").format(name=name), changes={name: None}, safe=False)
