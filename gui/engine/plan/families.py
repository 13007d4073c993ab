"""What is known about model families: which scripts train them, which files they need, what they cannot."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError, model_validator

from gui.engine.documents import Document, read_text
from gui.engine.errors import CannotRead, PlanNotRunnable, UnknownFamily
from gui.engine.findings import Finding
from gui.engine.plan.model import TrainingPlan
from gui.engine.resources import resource_path
from gui.engine.texts import _

Form = Literal["file", "folder", "hub"]
CaptionStyle = Literal["tags", "natural", "either"]
PrecisionName = Literal["no", "fp16", "bf16"]


class KindOfTraining(Document):
    """How one kind of training is done for a family.

    Attributes:
        script: The training script's file name.
        network_modules: What ``network_module`` may be, the usual one first; empty for kinds
            that train no network.
        bucket_step_px: What ``bucket_reso_steps`` must be divisible by.
        arguments: Arguments that this kind cannot do without, with their values.
        needs: Arguments that the user must give for this kind.
        sources: Where this is from.
    """

    script: str = Field(pattern=r"^[a-z0-9_]+\.py$")
    network_modules: tuple[str, ...] = ()
    bucket_step_px: int = Field(gt=0)
    arguments: dict[str, Any] = Field(default_factory=dict)
    needs: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


class ModelFile(Document):
    """A model file that the family's scripts load.

    Attributes:
        argument: The trainer's argument for it.
        title: What it is, in English.
        required: Whether training fails without it.
        forms: As what it may be given.
        together_with: Arguments that must be given with this one or not at all.
        kinds: The kinds of training that load it; empty for all.
        note: What to know about it, in English.
    """

    argument: str
    title: str
    required: bool = False
    forms: tuple[Form, ...] = ("file",)
    together_with: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    note: str = ""


class Resolution(Document):
    """Image sizes that the family was made for, in pixels.

    Attributes:
        default_px: Width and height to start from.
        smallest_px: Below this side the family learns badly.
        largest_px: Above this side it was never trained.
    """

    default_px: tuple[int, int]
    smallest_px: int = Field(gt=0)
    largest_px: int = Field(gt=0)


class Captions(Document):
    """How captions for the family are written.

    Attributes:
        style: What works best.
        tokens: How many tokens the text encoder reads; what is longer is cut off in silence.
        longer: Values of ``max_token_length`` that raise it; empty when nothing does.
        note: Advice, in English.
    """

    style: CaptionStyle
    tokens: int = Field(gt=0)
    longer: tuple[int, ...] = ()
    note: str = ""


class AvoidedPrecision(Document):
    """A value of ``mixed_precision`` that does not suit a family.

    Attributes:
        value: The value.
        reason: What speaks against it, in English.
    """

    value: PrecisionName
    reason: str


class Precision(Document):
    """Number formats for training.

    Attributes:
        best: The value of ``mixed_precision`` to start from.
        avoid: The values that do not suit the family.
    """

    best: PrecisionName
    avoid: tuple[AvoidedPrecision, ...] = ()


class Limits(Document):
    """Figures that the trainer refuses to pass.

    Attributes:
        blocks_to_swap: The most blocks that can be swapped; None where none can.
    """

    blocks_to_swap: int | None = None


class CannotDo(Document):
    """Something that other families can and this one cannot, or not as one would think.

    Attributes:
        arguments: The arguments concerned.
        effect: ``absent`` from the scripts, ``ignored`` in silence, ``refused`` by a check, ``crash``.
        reason: Why, in English.
        kinds: The kinds of training concerned; empty for all.
        sources: Where this is from.
    """

    arguments: tuple[str, ...] = Field(min_length=1)
    effect: Literal["absent", "ignored", "refused", "crash"]
    reason: str
    kinds: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


class MissingKinds(Document):
    """Kinds of training that the family does not have.

    Attributes:
        kinds: The kinds.
        reason: Why, in English.
        sources: Where this is from.
    """

    kinds: tuple[str, ...] = Field(min_length=1)
    reason: str
    sources: tuple[str, ...] = ()


class Family(Document):
    """A model family.

    Attributes:
        name: As plans say it; the file's name.
        title: For people.
        order: Place in lists.
        extends: The family whose knowledge this one takes over where it says nothing itself.
        kinds: Kind of training to how it is done.
        missing_kinds: Kinds that other families have and this one has not.
        description: What it is, in English.
        arguments: Arguments that tell the scripts which family it is, with their values.
        files: The model files, the base model first.
        resolution: Image sizes.
        captions: How captions are written.
        precision: Number formats.
        limits: Figures that the trainer refuses to pass.
        cannot: What has no effect or fails.
        sources: Where this is from.
    """

    schema_: Literal[1] = Field(alias="schema")
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str
    order: int = 100
    extends: str | None = None
    kinds: dict[str, KindOfTraining] = Field(min_length=1)
    missing_kinds: tuple[MissingKinds, ...] = ()
    description: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict)
    files: tuple[ModelFile, ...] = Field(min_length=1)
    resolution: Resolution
    captions: Captions
    precision: Precision
    limits: Limits = Limits()
    cannot: tuple[CannotDo, ...] = ()
    sources: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _kinds_exist(self) -> Family:
        named = {kind for file in self.files for kind in file.kinds}
        named |= {kind for entry in self.cannot for kind in entry.kinds}
        unknown = named - self.kinds.keys()
        if unknown:
            raise ValueError(f"kinds that the family does not have: {', '.join(sorted(unknown))}")
        return self

    def needed_files(self, kind: str) -> tuple[ModelFile, ...]:
        """Return the model files without which this kind of training fails."""
        return tuple(f for f in self.files if f.required and (not f.kinds or kind in f.kinds))


def families(folder: Path | None = None) -> dict[str, Family]:
    """Return all families by name, in the order of lists.

    Args:
        folder: Where the files lie; None takes the program's own.

    Raises:
        CannotRead: A file is no family, or extends one that does not exist.
    """
    return dict(_load_all(folder or resource_path("families")))


def family(name: str) -> Family:
    """Return one family.

    Raises:
        UnknownFamily: There is none of this name.
    """
    known = _load_all(resource_path("families"))
    if name not in known:
        raise UnknownFamily(name, tuple(known))
    return known[name]


@lru_cache(maxsize=64)
def lineage(name: str) -> frozenset[str]:
    """Return a family's name and those of the families that it extends; the name alone when unknown."""
    known = _load_all(resource_path("families"))
    found: list[str] = []
    current: str | None = name
    while current is not None:
        found.append(current)
        current = known[current].extends if current in known else None
    return frozenset(found)


def script_for(plan: TrainingPlan) -> str:
    """Return the file name of the script that trains a plan.

    Raises:
        PlanNotRunnable: The plan names no script, and its family or kind is not known.
    """
    if plan.script:
        return plan.script if plan.script.endswith(".py") else f"{plan.script}.py"
    try:
        known = family(plan.family)
    except UnknownFamily as error:
        raise PlanNotRunnable([_unknown("family", plan.family, error.known)]) from error
    if plan.kind not in known.kinds:
        raise PlanNotRunnable([_unknown("kind", plan.kind, tuple(known.kinds))])
    return known.kinds[plan.kind].script


def _unknown(what: Literal["family", "kind"], name: str, known: tuple[str, ...]) -> Finding:
    if what == "family":
        title = (
            _("There is no model family “{name}”.").format(name=name)
            if name
            else _("The plan names no model family.")
        )
    else:
        title = _("This family has no kind of training “{name}”.").format(name=name)
    return Finding(
        id=f"{what}-unknown",
        severity="stop",
        title=title,
        detail=_("Known are: {names}.").format(names=", ".join(known)),
        arguments=(f"plan.{what}",),
        where=f"plan.{what}",
    )


@lru_cache(maxsize=4)
def _load_all(folder: Path) -> dict[str, Family]:
    raw = {path.stem: (path, _read(path)) for path in sorted(folder.glob("*.yaml"))}
    loaded = [_judged(name, raw) for name in raw]
    return {entry.name: entry for entry in sorted(loaded, key=lambda entry: (entry.order, entry.name))}


def _read(path: Path) -> dict[str, Any]:
    try:
        content = _safe_yaml(read_text(path))
    except yaml.YAMLError as error:
        raise CannotRead(path, _("it is not YAML: {error}").format(error=error)) from error
    if not isinstance(content, dict):
        raise CannotRead(path, _("it is no family"))
    return content


def _safe_yaml(text: str) -> Any:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def _judged(name: str, raw: dict[str, tuple[Path, dict[str, Any]]]) -> Family:
    path, _content = raw[name]
    try:
        result = Family.model_validate(_inherited(name, raw, ()))
    except ValidationError as error:
        raise CannotRead(path, str(error)) from error
    if result.name != name:
        raise CannotRead(path, _("its name must be that of the file, {name}").format(name=name))
    return result


def _inherited(
    name: str, raw: dict[str, tuple[Path, dict[str, Any]]], seen: tuple[str, ...]
) -> dict[str, Any]:
    """Fill in what the family leaves to the one that it extends: whole fields, but single arguments."""
    path, content = raw[name]
    parent = content.get("extends")
    if parent is None:
        return content
    if parent not in raw or parent in (*seen, name):
        raise CannotRead(path, _("it extends {name}, which does not exist").format(name=parent))
    base = _inherited(parent, raw, (*seen, name))
    arguments = {**base.get("arguments", {}), **content.get("arguments", {})}
    return {**base, **content, "arguments": arguments}
