"""Reads a text file of one trainer argument a line: ``--name value…``, ``#`` begins a comment."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gui.engine.errors import CannotRead
from gui.engine.findings import Finding
from gui.engine.importers.imported import Imported
from gui.engine.plan.dataset_options import KEY_OF_ARGUMENT, DatasetMapping, dataset_from_arguments
from gui.engine.plan.families import families
from gui.engine.plan.model import TrainingPlan
from gui.engine.texts import _
from gui.engine.trainer.argument import Argument
from gui.engine.trainer.catalogue import Catalogue


def looks_like_arguments(text: str) -> bool:
    """Return whether the first line that says something begins with ``--``."""
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line and not line.startswith("#")), "").startswith("--")


def read_arguments(text: str, script: str, catalogue: Catalogue, path: Path) -> Imported:
    """Make a plan of a list of arguments.

    Args:
        text: The file's content.
        script: The training script that they are for.
        catalogue: The trainer's arguments.
        path: Named in errors, gives the plan its name; relative paths are meant against its folder.

    Raises:
        CannotRead: A line is no argument, or a quote is not closed.
        ScriptNotUsable: The trainer has no such script.
    """
    known = catalogue.script(script)
    arguments: dict[str, Any] = {}
    findings: list[Finding] = []
    for number, name, rest in _lines(text, path):
        row = known.find(name)
        dest = row.dest if row else name
        if dest in arguments:
            findings.append(_twice(dest, number))
        arguments[dest] = _value(row, rest, path, number)
    own_file = "dataset_config" in arguments
    base = path.absolute().parent
    mapping = DatasetMapping({}, arguments) if own_file else dataset_from_arguments(arguments, base, script)
    dataset = dict(mapping.dataset)
    for name, key in KEY_OF_ARGUMENT.items():
        # A size with a blank in it is no size for the trainer's parser: a rule has to say so.
        if key in dataset and isinstance(arguments.get(name), str) and " " in arguments[name]:
            dataset[key] = arguments[name]
    rest_of_arguments = dict(mapping.arguments)
    if not own_file and not dataset.get("subsets") and arguments.get("train_data_dir"):
        # The folder cannot be looked at from here: it stays as it was written.
        dataset.pop("subsets", None)
        folders = ("train_data_dir", "reg_data_dir", "in_json")
        rest_of_arguments |= {name: arguments[name] for name in folders if arguments.get(name)}
    family, kind = _use_of(known.name)
    plan = TrainingPlan.model_validate(
        {
            "name": path.stem or "imported",
            "family": family,
            "kind": kind,
            "script": known.name,
            "arguments": rest_of_arguments,
            "dataset": dataset,
        }
    )
    return Imported(plan, tuple(findings), mapping.notes)


def _lines(text: str, path: Path) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        said = line.strip().rstrip("\\^`").strip()
        if not said or said.startswith("#"):
            continue
        if not said.startswith("--"):
            reason = _("line {number} is no argument: {line}").format(number=number, line=said[:60])
            raise CannotRead(path, reason)
        word, _blank, rest = said.partition(" ")
        name, equals, value = word.removeprefix("--").partition("=")
        yield number, name, f"{value} {rest}".strip() if equals else rest.strip()


def _value(row: Argument | None, rest: str, path: Path, number: int) -> Any:
    try:
        words = shlex.split(rest, posix=True) if "'" in rest or '"' in rest else rest.split()
    except ValueError as error:
        reason = _("line {number}: a quote is not closed").format(number=number)
        raise CannotRead(path, reason) from error
    if row is not None and row.is_list:
        return words
    if not words:
        return True if row is None or row.is_flag else ""
    if row is not None and row.is_flag:
        return {"true": True, "false": False}.get(rest.lower(), rest)
    text = words[0] if len(words) == 1 else rest
    return _typed(row, text)


def _typed(row: Argument | None, text: str) -> Any:
    kind = row.type if row else None
    try:
        if kind == "int":
            return int(text)
        if kind == "float":
            return float(text)
    except ValueError:
        return text
    return text


def _twice(name: str, line: int) -> Finding:
    return Finding(
        id="dup-arg",
        severity="warning",
        title=_("{name} is given twice.").format(name=name),
        detail=_("The trainer takes the last one, of line {line}, without a word.").format(line=line),
        arguments=(name,),
        where=name,
        sources=("OOM-07",),
    )


def _use_of(script: str) -> tuple[str, str]:
    """Return the first family and kind that use the script; the model's header may tell better."""
    for name, family in families().items():
        for kind, how in family.kinds.items():
            if how.script == script:
                return name, kind
    return "", "lora"
