"""What the list of all arguments has a row for: the script's arguments, the dataset file's, the launch's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from gui.engine.plan.dataset_options import FOLDER_ARGUMENTS, KEY_OF_ARGUMENT, OPTIONS, DatasetOption
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.paths import DATASET_PATHS, PATH_ARGUMENTS, PATH_OR_HUB_ARGUMENTS
from gui.engine.plan.tokens import is_token_variable
from gui.engine.redaction import SECRET_ARGUMENTS
from gui.engine.texts import _
from gui.engine.trainer.argument import Argument
from gui.engine.trainer.catalogue import ScriptArguments
from gui.window.models.argument_groups import group_of, group_order

Kind = Literal[
    "switch",
    "choice",
    "whole",
    "number",
    "steps",
    "text",
    "list",
    "path",
    "folder",
    "size",
    "range",
    "indices",
    "variables",
    "secret",
    "locked",
]
"""How a value is edited; ``locked`` is shown only."""

_DATASET_KINDS: Mapping[str, Kind] = {
    "bool": "switch",
    "int": "whole",
    "float": "number",
    "number": "number",
    "text": "text",
    "size": "size",
    "range": "range",
    "table": "locked",
}
_TYPE_KINDS: Mapping[str | None, Kind] = {"int": "whole", "float": "number", "int_or_float": "steps"}
_NAMES_OF_DATASET = frozenset({*KEY_OF_ARGUMENT, *FOLDER_ARGUMENTS})


@dataclass(frozen=True)
class ArgumentRow:
    """One row.

    Attributes:
        target: The place in the plan, in the words of fixes; for a heading the group.
        name: As the trainer calls it.
        group: What it is about.
        kind: How it is edited; None for a heading.
        argument: The script's own declaration, for its arguments.
        option: The dataset file's, for dataset options.
        help: The trainer's words, or the program's own.
        title: Its everyday name, translated; empty where it has none.
        other_names: By which it can be found, too.
    """

    target: str
    name: str
    group: str
    kind: Kind | None
    argument: Argument | None = None
    option: DatasetOption | None = None
    help: str = ""
    other_names: tuple[str, ...] = ()
    title: str = ""

    @property
    def is_the_plans(self) -> bool:
        """Whether there is this row only as long as the plan says something here."""
        if self.unknown or self.target.startswith("env.") or self.target in _NAMES_OF_DATASET:
            return True
        section, _dot, key = self.target.partition(".")
        whole = self.option is not None and self.option.levels & {"general", "datasets"}
        return section == "dataset" and ("." in key or not whole)

    @property
    def is_heading(self) -> bool:
        """Whether it is a group's heading."""
        return self.kind is None

    @property
    def unknown(self) -> bool:
        """Whether the plan says it, but the script does not know it."""
        return self.group == "unknown"

    @property
    def secret(self) -> bool:
        """Whether its value is never shown."""
        return self.kind == "secret"

    @property
    def choices(self) -> tuple[Any, ...]:
        """What it may be, None left out; empty where anything may be given."""
        if self.target == "guard.nonfinite":
            return ("stop", "confirm", "warn")
        found = self.argument.choices if self.argument else None
        return tuple(choice for choice in found or () if choice is not None)


def target_of(name: str) -> str:
    """Return the place where a plan keeps what a name of the command line means."""
    bare = name.removeprefix("dataset.general.")
    if bare != name:
        return f"dataset.{bare}"
    return f"dataset.{KEY_OF_ARGUMENT[name]}" if name in KEY_OF_ARGUMENT else name


def rows_of(
    plan: TrainingPlan, script: ScriptArguments | None, titles: Mapping[str, str] | None = None
) -> list[ArgumentRow]:
    """Return all rows in the order of the list, with headings.

    Args:
        plan: Gives what the script does not know, and the subsets.
        script: The arguments of its script; None when they are not known.
        titles: Everyday names by target.
    """
    named = titles or {}
    rows = [*_of_script(plan, script), *_of_dataset(plan), *_of_launch(plan)]
    ordered = sorted(rows, key=lambda row: group_order(row.group))
    found: list[ArgumentRow] = []
    for row in ordered:
        if not found or found[-1].group != row.group:
            found.append(ArgumentRow(f"group:{row.group}", "", row.group, None))
        found.append(replace(row, title=named[row.target]) if row.target in named else row)
    return found


def shape_of(plan: TrainingPlan, script: ScriptArguments | None) -> object:
    """Return what decides which rows there are; equal for two plans with the same rows."""
    names = frozenset(plan.arguments)
    interesting = names - set(script.arguments) | names & _NAMES_OF_DATASET if script else names
    keys = _keys({name: part for name, part in plan.dataset.items() if part is not None})
    return (id(script), interesting, keys, tuple(plan.launch.env))


def _keys(value: Any) -> object:
    if isinstance(value, Mapping):
        return tuple((str(key), _keys(child)) for key, child in value.items())
    if isinstance(value, list | tuple) and any(isinstance(child, Mapping) for child in value):
        return tuple(map(_keys, value))
    return None


def _of_script(plan: TrainingPlan, script: ScriptArguments | None) -> Iterator[ArgumentRow]:
    known = script.arguments if script else {}
    for name in sorted(known):
        if name not in _NAMES_OF_DATASET or name in plan.arguments:
            argument = known[name]
            yield ArgumentRow(
                name,
                name,
                group_of(name),
                _kind_of(argument),
                argument,
                help=argument.help,
                other_names=argument.flags,
            )
    for name in sorted(set(plan.arguments) - set(known)):
        kind: Kind = "locked" if "." in name or name in SECRET_ARGUMENTS else "text"
        yield ArgumentRow(name, name, "unknown", kind)


def _kind_of(argument: Argument) -> Kind:
    plain_flag = argument.is_flag and isinstance(argument.const, bool | None)
    appends = argument.action == "_AppendAction"
    kinds: tuple[tuple[bool, Kind], ...] = (
        (argument.dest in SECRET_ARGUMENTS, "secret"),
        (argument.action == "_CountAction", "whole"),
        (plain_flag or argument.action == "BooleanOptionalAction", "switch"),
        (argument.is_list or appends, "list"),
        (bool(argument.choices), "choice"),
        (argument.dest.endswith(("_dir", "_nvme_path")), "folder"),
        (argument.dest in PATH_ARGUMENTS | PATH_OR_HUB_ARGUMENTS, "path"),
    )
    return next((kind for holds, kind in kinds if holds), _TYPE_KINDS.get(argument.type, "text"))


def _of_dataset(plan: TrainingPlan) -> Iterator[ArgumentRow]:
    for key, option in sorted(OPTIONS.items()):
        if option.levels & {"general", "datasets"} or plan.dataset.get(key) is not None:
            yield _option_row(f"dataset.{key}", key, option)
    known = {*OPTIONS, "general", "datasets", "subsets"}
    for key in sorted(set(plan.dataset) - known):
        yield ArgumentRow(f"dataset.{key}", key, "unknown", "locked" if "." in key else "text")
    yield from _of_parts(plan.dataset.get("subsets"), "dataset.subsets", _("subset {number}"))
    datasets = plan.dataset.get("datasets")
    for number, entry in enumerate(datasets if isinstance(datasets, list | tuple) else ()):
        place = _("dataset {number}").format(number=number + 1)
        yield from _of_table(entry, f"dataset.datasets.{number}", place)
        if isinstance(entry, Mapping):
            where = f"dataset.datasets.{number}.subsets"
            yield from _of_parts(entry.get("subsets"), where, f"{place}, " + _("subset {number}"))


def _of_parts(parts: Any, where: str, title: str) -> Iterator[ArgumentRow]:
    for number, part in enumerate(parts if isinstance(parts, list | tuple) else ()):
        yield from _of_table(part, f"{where}.{number}", title.format(number=number + 1))


def _of_table(table: Any, where: str, title: str) -> Iterator[ArgumentRow]:
    for key in table if isinstance(table, Mapping) else ():
        if key != "subsets" and "." not in str(key):
            yield _option_row(f"{where}.{key}", f"{title}: {key}", OPTIONS.get(key))


def _option_row(target: str, name: str, option: DatasetOption | None) -> ArgumentRow:
    key = target.rpartition(".")[2]
    kind: Kind = _DATASET_KINDS[option.type] if option else "text"
    if key in DATASET_PATHS:
        kind = "path" if key == "metadata_file" else "folder"
    other = (option.argument,) if option and option.argument else ()
    return ArgumentRow(target, name, "dataset", kind, None, option, other_names=(target, *other))


def _of_launch(plan: TrainingPlan) -> Iterator[ArgumentRow]:
    rows: tuple[tuple[str, Kind, str], ...] = (
        ("launch.gpu_ids", "indices", _("Which GPUs, by their numbers; empty leaves it to the trainer.")),
        ("launch.num_processes", "whole", _("Processes that accelerate starts: one for each GPU.")),
        ("launch.num_machines", "whole", _("Machines that train together.")),
        ("launch.num_cpu_threads_per_process", "whole", _("Threads of the CPU for each process.")),
        ("launch.dynamo_backend", "text", _("How accelerate compiles the model; no leaves it as it is.")),
        ("launch.env", "variables", _("More variables for the trainer's environment, as NAME=value.")),
        ("guard.nonfinite", "choice", _("What happens when the loss is not finite.")),
        ("guard.memory_retries", "whole", _("Tries again by itself when the GPU's memory ran out.")),
        ("guard.recoveries", "whole", _("Tries again by itself when the loss was no number.")),
    )
    for target, kind, words in rows:
        yield ArgumentRow(target, target, "launch", kind, help=words)
    for name in plan.launch.env:
        secret: Kind = "secret" if is_token_variable(name) else "text"
        yield ArgumentRow(
            f"env.{name}", f"env.{name}", "launch", secret, help=_("A variable of the environment.")
        )
