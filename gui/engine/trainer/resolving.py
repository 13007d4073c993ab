"""Fills in what a plan leaves to its family, makes paths absolute, and says what is wrong or missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gui.engine.errors import CannotRead, UnknownFamily
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
from gui.engine.plan.families import Family, KindOfTraining, families, family, script_for
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.paths import absolute, arguments_with_paths, dataset_with_paths
from gui.engine.plan.preset_filling import fill_plan
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.redaction import SECRET_ARGUMENTS
from gui.engine.texts import _
from gui.engine.trainer.catalogue import Catalogue, ScriptArguments
from gui.engine.trainer.judging import judge_arguments

_NEVER = frozenset({"config_file", "output_config"})
"""Arguments that make the trainer do something else than the plan says (trainer-facts 1.8)."""

_USUAL: Mapping[str, Any] = {"output_dir": "output", "cond_emb_dim": 32, "network_dim": 64}
"""What can be taken where nothing is said: a folder beside the plan, and the figures of the trainer's guide
to ControlNet-LLLite (docs/train_lllite_README.md), the only script that insists on them."""


@dataclass(frozen=True)
class ResolvedPlan:
    """A plan in the words of one training script.

    Attributes:
        script: The script and its arguments.
        effective: The plan as the trainer would understand it: what its presets and its family
            say filled in, paths absolute, dataset options in the dataset section.
        arguments: What the command line gets: what presets and family say filled in, paths absolute,
            without tokens and without what the dataset file says.
        dataset_toml: The dataset file's content; None when the plan brings its own.
        tokens: Environment variable to token, of tokens that stood in the plan.
        findings: All that is unknown, wrong or missing.
        notes: What was done that a user should know.
        dataset_file: The dataset file of the user's own that ``effective`` takes its dataset from; None
            where there is none, or it is not known.
    """

    script: ScriptArguments
    effective: TrainingPlan
    arguments: dict[str, Any]
    dataset_toml: str | None
    tokens: dict[str, str]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    dataset_file: Path | None = None


def resolve(
    plan: TrainingPlan,
    base: Path,
    catalogue: Catalogue,
    *,
    files_known: bool = True,
    library: PresetLibrary | None = None,
    trainer_root: Path | None = None,
) -> ResolvedPlan:
    """Return a plan in the words of its training script.

    Args:
        plan: The plan.
        base: The folder of the plan file.
        catalogue: The trainer's arguments.
        files_known: Whether the folders that the plan names are those of this machine; when not,
            an empty or missing one says nothing.
        library: The presets that the plan may name; None takes the program's own.
        trainer_root: The folder that the trainer runs in, against which it takes relative paths in a dataset
            file of the user's own; None leaves them as they are.

    Raises:
        PlanNotRunnable: Neither script nor family and kind tell what to run.
        ScriptNotUsable: The trainer lacks the script, or cannot import it.
    """
    script = catalogue.script(script_for(plan))
    kin = _family_of(plan)
    kind = _kind_of(plan, kin, script.name)
    presets = fill_plan(plan, library, script.arguments)
    plan = presets.plan
    given = plan.arguments
    full = arguments_with_paths(given, lambda value: absolute(value, base), base)
    own_file = full.get("dataset_config") is not None or full.get("dataset_class") is not None
    told = {
        name: value for name, value in full.items() if name in script.arguments or name in KEY_OF_ARGUMENT
    }
    # Beside the user's own dataset file the trainer takes the command line for what that leaves out.
    mapping = DatasetMapping({}, told) if own_file else dataset_from_arguments(told, base, script.name)
    findings = [
        *presets.findings,
        *_never(given),
        *judge_arguments(full, script, catalogue),
        *_missing(full, kin, kind, plan.kind, script),
    ]
    text: str | None = None
    dataset = dict(plan.dataset)
    file = _own_file(full) if files_known else None
    if own_file:
        findings += _twice_file(plan, full)
        if file is not None:
            read, refused = _read_file(file, script.name, bool(full.get("masked_loss")))
            findings += refused
            file = file if read is not None else None
            dataset = dataset if read is None else read
            if trainer_root is not None:
                dataset = dataset_with_paths(dataset, lambda value: absolute(value, trainer_root))
    else:
        dataset = _merged_dataset(plan.dataset, mapping.dataset)
        folders = [name for name in FOLDER_ARGUMENTS[:3] if given.get(name) is not None]
        dataset = dataset_with_paths(dataset, lambda value: absolute(value, base))
        judged = _judge_dataset(plan, folders, dataset, script.name, bool(full.get("masked_loss")))
        if not judged and not (folders and not files_known) and not _has_images(dataset):
            judged.append(_no_images(folders, missing=_missing_folder(full)))
        findings += judged
        text = None if judged else dataset_toml(dataset, base)
    return ResolvedPlan(
        script=script,
        effective=plan.model_copy(
            update={
                "arguments": mapping.arguments,
                "dataset": dataset
                if file is not None
                else dataset_with_paths(dataset, lambda value: absolute(value, base)),
            }
        ),
        arguments={name: value for name, value in mapping.arguments.items() if name not in SECRET_ARGUMENTS},
        dataset_toml=text,
        tokens={SECRET_ARGUMENTS[name]: str(given[name]) for name in SECRET_ARGUMENTS if given.get(name)},
        findings=tuple(findings),
        notes=mapping.notes,
        dataset_file=file,
    )


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


def _read_file(path: Path, script: str, masked_loss: bool) -> tuple[dict[str, Any] | None, list[Finding]]:
    """Return what a dataset file of the user's own says, and what the trainer would refuse in it."""
    try:
        data = read_dataset_file(path)
    except CannotRead as refusal:
        return None, [_unreadable(path, refusal)]
    judged = judge_dataset(data, script, masked_loss=masked_loss, verbatim=True)
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


def _family_of(plan: TrainingPlan) -> Family | None:
    try:
        return family(plan.family)
    except UnknownFamily:
        return None  # the plan names its script; that is enough


def _kind_of(plan: TrainingPlan, kin: Family | None, script: str) -> KindOfTraining | None:
    """Return how the family does what the script does; the plan's own kind where it fits."""
    if kin is None:
        return None
    own = kin.kinds.get(plan.kind)
    if own is not None and own.script == script:
        return own
    return next((kind for kind in kin.kinds.values() if kind.script == script), None)


def _never(given: Mapping[str, Any]) -> Iterator[Finding]:
    for name in sorted(_NEVER & given.keys()):
        if given[name] is False:
            continue
        yield Finding(
            id="config-file",
            severity="stop",
            title=_("A run never uses {name}.").format(name=name),
            detail=_(
                "The trainer's own file of arguments skips its checks and swallows misspelt names; "
                "writing one ends the trainer without training."
            ),
            arguments=(name,),
            where=name,
            fixes=(_remove(name),),
            sources=("trainer: train_util.py:4700",),
        )


def _missing(
    full: Mapping[str, Any],
    kin: Family | None,
    kind: KindOfTraining | None,
    kind_name: str,
    script: ScriptArguments,
) -> Iterator[Finding]:
    """Name what the parser does not insist on but the run needs, often only hours later."""
    needed = {
        "pretrained_model_name_or_path": _("the base model"),
        "output_dir": _("the folder for the results"),
    }
    if "network_module" in script.arguments:
        needed["network_module"] = _("the network's module")
    if kin is not None and kind is not None:
        needed |= {file.argument: _(file.title) for file in kin.needed_files(kind_name)}
        needed |= {name: needed.get(name, "") for name in kind.needs}
    if "token_string" in script.arguments:
        needed["token_string"] = _("the new word")
    for name, what in needed.items():
        if full.get(name) in (None, "") and name in script.arguments:
            title = _("{name} is missing: {what}.") if what else _("{name} is missing.")
            yield Finding(
                id="arg-missing",
                severity="stop",
                title=title.format(name=name, what=what),
                detail=_("The trainer would begin, and fail when it first needs it."),
                arguments=(name,),
                where=name,
                fixes=_usual(name, script.name),
                sources=("trainer: train_network.py:644, 1297", "trainer: train_util.py:5527"),
            )


def _usual(name: str, script: str) -> tuple[Fix, ...]:
    """Return the fix that takes the usual value; a file or a word that only the user knows has none."""
    modules = (
        kind.network_modules[0]
        for known in families().values()
        for kind in known.kinds.values()
        if kind.script == script and kind.network_modules
    )
    value = next(modules, None) if name == "network_module" else _USUAL.get(name)
    if value is None:
        return ()
    label = _("take {value}").format(value=value)
    return (Fix(id="usual", label=label, changes={name: value}, safe=name == "network_module"),)


def _merged_dataset(own: Mapping[str, Any], mapped: Mapping[str, Any]) -> dict[str, Any]:
    """The trainer takes the command line only for what its dataset file leaves out; so do we."""
    general = own.get("general")
    said = {*own, *(general if isinstance(general, Mapping) else ())}
    return {**{key: value for key, value in mapped.items() if key not in said}, **own}


def _judge_dataset(
    plan: TrainingPlan, folders: list[str], dataset: Mapping[str, Any], script: str, masked_loss: bool
) -> list[Finding]:
    if folders and _has_images(plan.dataset):
        return [_twice(folders[0], ["dataset.subsets"])]
    return judge_dataset(dataset, script, masked_loss=masked_loss)


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
        fixes=(_remove(name),),
        sources=("trainer: train_network.py:521",),
    )


def _remove(name: str) -> Fix:
    return Fix(id="remove", label=_("leave {name} out").format(name=name), changes={name: None}, safe=False)
