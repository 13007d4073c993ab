"""Reads and writes plan files: TOML that keeps the user's comments, order and unknown keys."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from gui.engine.documents import decode_text, read_bytes, write_atomically
from gui.engine.errors import CannotRead, NewerDocument
from gui.engine.plan.merging import merged_text, new_text
from gui.engine.plan.model import SCHEMA, TrainingPlan
from gui.engine.plan.paths import absolute, is_anywhere_absolute, with_paths
from gui.engine.plan.tokens import tokens_in, without_secrets
from gui.engine.texts import _

LARGEST_PLAN_BYTES = 4 * 1024 * 1024

_FIELDS = tuple(field.alias or name for name, field in TrainingPlan.model_fields.items())


@dataclass(frozen=True)
class PlanFile:
    r"""A plan and the file that it came from.

    Attributes:
        plan: What the user wants.
        path: The file; None for a plan that was never saved.
        text: The file's content, comments and unknown keys included, lines ended by ``\n``.
        line_end: How the file itself ends its lines.
        read_only: Whether a newer version wrote it; such a file is neither changed nor run.
        notes: What the user should know about the file, in plain sentences.
    """

    plan: TrainingPlan
    path: Path | None = None
    text: str = ""
    line_end: Literal["\n", "\r\n"] = "\n"
    read_only: bool = False
    notes: tuple[str, ...] = ()

    @property
    def base(self) -> Path:
        """The folder against which the plan's relative paths are meant."""
        return self.path.absolute().parent if self.path else Path.cwd()

    def require_known(self) -> None:
        """Refuse to change or run what a newer version wrote.

        Raises:
            NewerDocument: It did.
        """
        if self.read_only:
            raise NewerDocument(self.path or self.plan.name, self.plan.schema_, SCHEMA)

    def save(self, plan: TrainingPlan, path: Path | None = None) -> PlanFile:
        """Write a changed plan and return what is now on disk.

        Only what differs from the loaded plan is touched. Tokens are never written. In another
        folder, relative paths are rewritten to point where they did.

        Args:
            plan: The new content.
            path: Where to; None writes the file that it came from.

        Raises:
            NewerDocument: A newer version wrote the file.
            CannotWrite: The file cannot be written, or there is no path at all.
        """
        self.require_known()
        target = path or self.path
        if target is None:
            raise ValueError("a plan that was never saved needs a path")
        moved = plan
        if target.absolute().parent != self.base:
            moved = moved_plan(plan, self.base, target.absolute().parent)
        text = self._text_of(moved)
        write_atomically(target, text.replace("\n", self.line_end))
        return replace(parse_plan(text, target), line_end=self.line_end)

    def shown_text(self) -> str:
        """Return the file's text without tokens, to be printed."""
        return self._text_of(self.plan)

    def standalone_text(self) -> str:
        """Return the file's text with absolute paths and without tokens, to stand anywhere."""
        data = with_paths(self.plan.data(), lambda value: absolute(value, self.base), self.base)
        return self._text_of(TrainingPlan.model_validate(data))

    def _text_of(self, plan: TrainingPlan) -> str:
        after = without_secrets(plan.data())
        if not self.text:
            return new_text(after)
        return merged_text(self.text, self.plan.data(), after)


def load_plan(path: str | Path) -> PlanFile:
    """Read a plan file.

    Args:
        path: The file.

    Raises:
        CannotRead: It is missing, no TOML, no plan, or a value has a type that no plan can have;
            the sentence names the key.
    """
    place = Path(path)
    return plan_from_bytes(read_bytes(place, LARGEST_PLAN_BYTES), place)


def plan_from_bytes(content: bytes, path: Path) -> PlanFile:
    """Return the plan in a file that has been read already.

    Raises:
        CannotRead: See ``load_plan``.
    """
    plan = parse_plan(decode_text(content, path), path)
    return replace(plan, line_end="\r\n" if b"\r\n" in content else "\n")


def parse_plan(text: str, path: Path | None = None) -> PlanFile:
    """Read the text of a plan file.

    Args:
        text: TOML.
        path: The file that it stands for, for messages and relative paths.

    Raises:
        CannotRead: See ``load_plan``.
    """
    named = path or Path(_("the plan"))
    data = _toml(text, named)
    schema = _schema_of(data, named)
    if not any(key in data for key in _FIELDS):
        raise CannotRead(named, _("it is no plan: none of a plan's keys is in it"))
    known = {key: value for key, value in data.items() if key in _FIELDS}
    notes: list[str] = []
    if schema > SCHEMA:
        notes.append(
            _(
                "A newer version of Kohya Preflight wrote this plan (format {schema}, this one knows "
                "{known}). It is shown, but it cannot be changed or run here."
            ).format(schema=schema, known=SCHEMA)
        )
    plan, dropped = _validated(known, named, forgiving=schema > SCHEMA)
    unknown = [key for key in data if key not in _FIELDS] + dropped
    if unknown:
        sentence = _("Not known to this version, kept in the file and not used: {keys}.")
        notes.append(sentence.format(keys=", ".join(unknown)))
    notes += _secret_notes(plan)
    return PlanFile(plan, path, text, read_only=schema > SCHEMA, notes=tuple(notes))


def moved_plan(plan: TrainingPlan, old_base: Path, new_base: Path) -> TrainingPlan:
    """Return the plan with relative paths that mean the same files from another folder."""

    def moved(value: str) -> str:
        if is_anywhere_absolute(value) or value.startswith("~"):
            return value
        place = absolute(value, old_base)
        try:
            return Path(os.path.relpath(place, new_base)).as_posix()
        except ValueError:  # another drive
            return place

    return TrainingPlan.model_validate(with_paths(plan.data(), moved, old_base))


def _toml(text: str, named: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        if isinstance(error, RecursionError):
            raise CannotRead(named, _("it is nested too deeply")) from error
        raise CannotRead(named, _("it is not TOML: {error}").format(error=error)) from error


def _schema_of(data: Mapping[str, Any], named: Path) -> int:
    schema = data.get("schema", SCHEMA)
    if type(schema) is not int or schema < 1:
        raise CannotRead(named, _("schema must be a whole number from 1, not {value}").format(value=schema))
    return schema


def _validated(data: dict[str, Any], named: Path, *, forgiving: bool) -> tuple[TrainingPlan, list[str]]:
    """Read what is known; of a newer file, leave out the sections that have another shape."""
    dropped: list[str] = []
    while True:
        try:
            return TrainingPlan.model_validate(data), dropped
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            if not forgiving or first["loc"][0] not in data:
                raise CannotRead(named, type_trouble(first)) from error
            dropped.append(str(first["loc"][0]))
            del data[str(first["loc"][0])]


def type_trouble(error: ErrorDetails) -> str:
    """Say which key is wrong and how; what pydantic says would name its own types."""
    key = ".".join(str(part) for part in error["loc"])
    kind = error["type"]
    wanted = {
        "string_type": _("a text"),
        "dict_type": _("a table"),
        "model_type": _("a table"),
        "tuple_type": _("a list"),
        "int_type": _("a whole number"),
        "int_parsing": _("a whole number"),
        "int_from_float": _("a whole number"),
        "float_type": _("a number"),
        "float_parsing": _("a number"),
        "bool_type": _("true or false"),
        "bool_parsing": _("true or false"),
    }.get(kind)
    if kind == "extra_forbidden":
        return _("{key} is not known here").format(key=key)
    if kind == "literal_error":
        choices = str(error["ctx"]["expected"]).replace(" or ", ", ").replace("'", "")
        return _("{key} must be one of {choices}").format(key=key, choices=choices)
    if wanted is None:
        return f"{key}: {error['msg']}"
    return _("{key} must be {wanted}, not {value}").format(
        key=key, wanted=wanted, value=_shown(error["input"])
    )


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 40 else text[:39] + "…"


def _secret_notes(plan: TrainingPlan) -> list[str]:
    text = _(
        "The token in {place} is handed to the trainer by its environment only, and is not written when "
        "the plan is saved."
    )
    return [text.format(place=found.target) for found in tokens_in(plan)]
