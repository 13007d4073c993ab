"""What can be known from output about what went wrong: one file a diagnosis in ``resources/diagnoses``."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, Field, ValidationError, model_validator

from gui.engine.documents import Document, read_text
from gui.engine.errors import CannotRead
from gui.engine.resources import resource_path
from gui.engine.texts import _

Place = Literal["exception", "wrapper", "record", "line", "loss"]


def _is_regex(pattern: str) -> str:
    try:
        re.compile(f"(?:{pattern})|x")
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from error
    return pattern


Regex = Annotated[str, AfterValidator(_is_regex)]
"""Searched without regard to case, ``.`` matching line ends too; no flags inside.

Write only the English half of a message: the other is garbled on some consoles."""


class Sign(Document):
    """Something said that points to a diagnosis.

    Attributes:
        where: Where to look: an ``exception`` (its type and words), a launcher's ``wrapper``, a log
            ``record``, any other ``line``, a ``loss`` that is no number.
        pattern: What the text must hold.
        unless: What it must not hold.
        within: What the traceback round an exception must hold.
    """

    where: tuple[Place, ...] = Field(default=("exception", "record", "line"), min_length=1)
    pattern: Regex
    unless: Regex | None = None
    within: Regex | None = None


class State(Document):
    """Something about the whole run that points to a diagnosis; all that is given must hold.

    Attributes:
        settings: Facts that the trainer printed, by their names.
        absent: Facts that it must not have printed.
        slower_than_seconds: The run's steps take longer than this, each, by the bar.
        finished: Whether it must have ended well, or must not.
        exit_status: One of these.
    """

    settings: dict[str, int | str] = Field(default_factory=dict)
    absent: dict[str, int | str | None] = Field(default_factory=dict)
    slower_than_seconds: float | None = Field(default=None, gt=0)
    finished: bool | None = None
    exit_status: tuple[int, ...] = ()


class Variant(Document):
    """A narrower name for a diagnosis.

    Attributes:
        name: One word.
        clues: All of them must have been said somewhere in the output.
    """

    name: str = Field(pattern=r"^[a-z0-9_]+$")
    clues: tuple[Regex, ...] = Field(min_length=1)


class Way(Document):
    """A way out: what to change, in English, and the changes as a finding's fix has them."""

    label: str
    changes: dict[str, Any] = Field(default_factory=dict)


class DiagnosisFile(Document):
    """One file of ``resources/diagnoses``.

    Attributes:
        schema_version: The format.
        id: Stable, part of the interface; the file's name.
        rank: How near it is to the root: of several the lowest is the likeliest cause.
        explains_end: Whether it says why a run ended; else it is worth knowing all the same.
        in_finished_run: Whether it counts even when the trainer ended well: it ruins what was saved.
        title: One sentence, in English.
        explanation: Why it happens, in English.
        signs: One of them must have been said, or …
        state: … this must hold.
        needs: All of these must have been said too.
        variants: Narrower names; the first that fits is taken.
        fixes: What to do, the best first.
        sources: Cases, knowledge rows, trainer files.
    """

    schema_version: Literal[1] = Field(alias="schema")
    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    rank: int = Field(ge=0, le=100)
    explains_end: bool = True
    in_finished_run: bool = False
    title: str
    explanation: str
    signs: tuple[Sign, ...] = ()
    state: State | None = None
    needs: tuple[Regex, ...] = ()
    variants: tuple[Variant, ...] = ()
    fixes: tuple[Way, ...] = ()
    sources: tuple[str, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _can_be_found(self) -> DiagnosisFile:
        if not self.signs and self.state is None:
            raise ValueError("it needs signs or a state")
        return self


def known_diagnoses(folder: Path | None = None) -> tuple[DiagnosisFile, ...]:
    """Return all diagnoses, the nearest to the root first.

    Args:
        folder: Where their files are; the program's own by default.

    Raises:
        CannotRead: A file is no diagnosis.
    """
    return _load_all(folder or resource_path("diagnoses"))


@lru_cache(maxsize=4)
def _load_all(folder: Path) -> tuple[DiagnosisFile, ...]:
    loaded = [_load(path) for path in sorted(folder.glob("*.yaml"))]
    return tuple(sorted(loaded, key=lambda each: (each.rank, each.id)))


def _load(path: Path) -> DiagnosisFile:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        found = DiagnosisFile.model_validate(yaml.load(read_text(path), Loader=loader))  # noqa: S506
    except (yaml.YAMLError, ValidationError) as error:
        raise CannotRead(path, str(error)) from error
    if found.id != path.stem:
        raise CannotRead(path, _("its id must be that of the file, {name}").format(name=path.stem))
    return found
