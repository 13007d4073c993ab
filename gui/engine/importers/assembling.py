"""Puts together a plan from arguments, wherever those came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gui.engine.errors import CannotRead
from gui.engine.findings import Finding
from gui.engine.importers.imported import Imported
from gui.engine.plan.dataset_options import KEY_OF_ARGUMENT, DatasetMapping, dataset_from_arguments
from gui.engine.plan.families import families
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.plan_file import type_trouble
from gui.engine.redaction import ARGUMENT_OF_VARIABLE, SECRET_ARGUMENTS, Secret, redact_text
from gui.engine.texts import _, ngettext


@dataclass(frozen=True)
class Source:
    """Where a setup comes from.

    Attributes:
        name: Becomes the plan's name.
        path: Named in errors.
        base: The folder against which relative paths are meant.
    """

    name: str
    path: Path
    base: Path

    @classmethod
    def of(cls, path: Path) -> Source:
        """Return the source that a file is: its folder is the base."""
        return cls(path.stem or "imported", path, path.absolute().parent)


@dataclass
class Draft:
    """What an importer has gathered so far.

    Attributes:
        script: The training script's file name.
        arguments: Argument name to value.
        dataset: The dataset section, where the file has one; else it is made of the arguments.
        launch: How the trainer is started, as a plan's ``launch``.
        notes: What was changed, left out or is unknown.
        findings: What the file itself had wrong.
        secrets: Tokens by the trainer's argument.
    """

    script: str
    arguments: dict[str, Any] = field(default_factory=dict)
    dataset: dict[str, Any] | None = None
    launch: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    secrets: dict[str, Secret] = field(default_factory=dict)

    def note(self, sentence: str) -> None:
        """Add a note once, without tokens."""
        sentence = redact_text(sentence)
        if sentence not in self.notes:
            self.notes.append(sentence)


def assemble(draft: Draft, source: Source) -> Imported:
    """Make the plan.

    Tokens go to ``secrets``; dataset options and folders named ``N_class`` to the dataset section.

    Args:
        draft: What was gathered.
        source: Where it comes from.

    Raises:
        CannotRead: A value is nothing that a plan can hold.
    """
    _take_secrets(draft)
    if draft.dataset is None:
        mapping = mapped(draft.arguments, source.base, draft.script)
    else:
        mapping = _beside_file(draft, source.base)
    family, kind = use_of(draft.script, draft.arguments)
    data = {
        "name": source.name,
        "family": family,
        "kind": kind,
        "script": draft.script or None,
        "arguments": mapping.arguments,
        "dataset": mapping.dataset,
        "launch": draft.launch,
    }
    try:
        plan = TrainingPlan.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise CannotRead(source.path, type_trouble(first)) from error
    return Imported(plan, tuple(draft.findings), (*draft.notes, *mapping.notes), dict(draft.secrets))


def _take_secrets(draft: Draft) -> None:
    environment = draft.launch.get("env", {})
    for name, variable in SECRET_ARGUMENTS.items():
        for value in (environment.pop(variable, None), draft.arguments.pop(name, None)):
            if isinstance(value, str) and value.strip():
                draft.secrets[name] = Secret(value.strip())
    for variable in ARGUMENT_OF_VARIABLE.keys() & environment.keys():
        draft.secrets.setdefault(ARGUMENT_OF_VARIABLE[variable], Secret(environment.pop(variable).strip()))
    if draft.secrets:
        text = ngettext(
            "A token that stands in it is left out of the plan: {names}.",
            "Tokens that stand in it are left out of the plan: {names}.",
            len(draft.secrets),
        )
        draft.note(text.format(names=", ".join(draft.secrets)))


def mapped(arguments: Mapping[str, Any], base: Path, script: str) -> DatasetMapping:
    """Move dataset options to where a plan keeps them, as far as the file itself tells them."""
    if "dataset_config" in arguments:
        return DatasetMapping({}, dict(arguments))
    mapping = dataset_from_arguments(arguments, base, script)
    dataset, rest = dict(mapping.dataset), dict(mapping.arguments)
    for name, key in KEY_OF_ARGUMENT.items():
        # A size with a blank in it is no size for the trainer's parser: a rule has to say so.
        if key in dataset and isinstance(arguments.get(name), str) and " " in arguments[name]:
            dataset[key] = arguments[name]
    if not dataset.get("subsets") and arguments.get("train_data_dir"):
        # The folder cannot be looked at from here: it stays as it was written.
        dataset.pop("subsets", None)
        folders = ("train_data_dir", "reg_data_dir", "in_json")
        rest |= {name: arguments[name] for name in folders if arguments.get(name)}
    return DatasetMapping(dataset, rest, mapping.notes)


def _beside_file(draft: Draft, base: Path) -> DatasetMapping:
    """Let the dataset section win over the command line, which the trainer asks for what is left out."""
    told = {name: v for name, v in draft.arguments.items() if name not in ("train_data_dir", "reg_data_dir")}
    mapping = dataset_from_arguments(told, base, draft.script)
    own = {key: value for key, value in mapping.dataset.items() if key != "subsets"}
    given = {**own, **(draft.dataset or {})}
    if len(told) < len(draft.arguments):
        draft.note(
            _("The folders of the arguments are left out: the trainer looks at the dataset file only.")
        )
    return DatasetMapping(given, mapping.arguments, mapping.notes)


def use_of(script: str, arguments: Mapping[str, Any]) -> tuple[str, str]:
    """Return the family and kind that the script and the arguments tell; a model's header may tell better.

    Of the families that fit, the one whose own arguments (``v2``, ``model_type``) say most is meant.
    """
    fitting = [
        (name, kind, len(family.arguments))
        for name, family in families().items()
        for kind, how in family.kinds.items()
        if how.script == script
        and all(arguments.get(key) == value for key, value in family.arguments.items())
    ]
    family, kind, _told = max(fitting, key=lambda each: each[2], default=("", "lora", 0))
    return family, kind


def given_twice(name: str, place: str) -> Finding:
    """Say that an argument is given twice.

    Args:
        name: The argument.
        place: Where the one stands that counts.
    """
    return Finding(
        id="dup-arg",
        severity="warning",
        title=_("{name} is given twice.").format(name=name),
        detail=_("The trainer takes the last one, {place}, without a word.").format(place=place),
        arguments=(name,),
        where=name,
        sources=("OOM-07",),
    )
