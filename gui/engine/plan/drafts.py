"""Keeps what is being edited safe from a crash: a draft file for every open plan.

A running program (an instance) writes one draft under a name of its own and holds a lock as long as
it lives. A draft whose instance is dead holds work that was never saved; it can be taken over by one
other instance, by no two of them.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import re
import secrets
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import Field, ValidationError

from gui.engine.documents import Document, read_json, reason_of, write_atomically
from gui.engine.errors import CannotRead, CannotWrite
from gui.engine.file_lock import is_locked, try_lock
from gui.engine.paths import Home
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.tokens import without_secrets
from gui.engine.texts import _

SCHEMA = 1
_NAME = re.compile(r"[0-9a-f]{12,64}")
_DAMAGED = ".damaged"
_MARK = "!"
"""Marks a date of TOML, which JSON does not have."""


class Draft(Document):
    """A plan as it stood when somebody last changed it.

    Attributes:
        path: The plan's file; None for a plan that was never saved.
        base: The folder against which its relative paths are meant.
        fingerprint: Of the file's text when it was opened; empty when there was no file.
        data: The plan under its file's names, without tokens.
        written: When, in seconds since 1970.
    """

    schema_: int = Field(default=SCHEMA, alias="schema")
    path: str | None = None
    base: str
    fingerprint: str = ""
    data: dict[str, Any]
    written: float

    @classmethod
    def of(cls, plan: TrainingPlan, path: Path | None, base: Path, known: str) -> Draft:
        """Make the draft of a plan that differs from its file.

        Args:
            plan: As it stands.
            path: Its file; None where there is none.
            base: The folder against which its relative paths are meant.
            known: Fingerprint of the file's text when it was opened.
        """
        return cls(
            path=None if path is None else str(path.absolute()),
            base=str(base),
            fingerprint=known,
            data=_to_json(without_secrets(plan.data())),
            written=time.time(),
        )

    @property
    def plan(self) -> TrainingPlan:
        """The plan, as a file would give it back."""
        return TrainingPlan.model_validate(_from_json(self.data))


@dataclass(frozen=True)
class LeftDraft:
    """Work that a dead instance left unsaved.

    Attributes:
        instance: The dead instance.
        draft: What it left.
    """

    instance: str
    draft: Draft

    @property
    def name(self) -> str:
        """The plan's name."""
        return self.draft.plan.name


def fingerprint(text: str) -> str:
    """Return what tells two texts of a plan file apart; empty for no text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() if text else ""


class Drafts:
    """The drafts in a home.

    Attributes:
        folder: Where they lie.
        instance: Whose draft ``write`` writes.
        notes: What the user should know about damaged drafts, in plain sentences.
    """

    def __init__(self, home: Home) -> None:
        """Make the drafts of a new instance; nothing is written yet."""
        self.folder = home.root / "drafts"
        self.instance = _new_name()
        self.notes: list[str] = []
        self._lock: BinaryIO | None = None

    def write(self, draft: Draft) -> None:
        """Replace this instance's draft.

        Raises:
            CannotWrite: The home cannot be written; the last draft is still there.
        """
        self._hold()
        self._put(self.instance, draft)

    def clear(self) -> None:
        """Forget this instance's draft: all its work is saved."""
        with contextlib.suppress(OSError):
            self._file(self.instance).unlink(missing_ok=True)

    def set_aside(self, draft: Draft) -> LeftDraft:
        """Keep a draft for later as if its instance had died: another plan is opened over it.

        Raises:
            CannotWrite: The home cannot be written.
        """
        left = LeftDraft(_new_name(), draft)
        self._put(left.instance, draft)
        return left

    def close(self) -> None:
        """End this instance: what it left unsaved can be taken over from now on."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None
            with contextlib.suppress(OSError):
                self._lock_file(self.instance).unlink(missing_ok=True)

    def left_behind(self) -> list[LeftDraft]:
        """Return what dead instances left unsaved, newest first.

        A damaged draft is put aside under ``….damaged``
        and said in ``notes``; one of a newer version stays as it is.
        """
        left = []
        for instance in self._dead():
            draft = self._read(instance)
            if draft is not None:
                left.append(LeftDraft(instance, draft))
        return sorted(left, key=lambda found: found.draft.written, reverse=True)

    def take_over(self, left: LeftDraft) -> Draft | None:
        """Make a dead instance's draft this instance's own.

        Returns:
            The draft; None when another instance was quicker, or it is gone.

        Raises:
            CannotWrite: The home cannot be written; the draft is still the dead instance's.
        """
        place = self._lock_file(left.instance)
        try:
            file = place.open("a+b")
        except OSError as error:
            raise CannotWrite(place, reason_of(error)) from error
        with file:
            if not try_lock(file):
                return None
            draft = self._read(left.instance)
            if draft is not None:
                self.write(draft)
                self._file(left.instance).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            place.unlink(missing_ok=True)
        return draft

    def discard(self, left: LeftDraft) -> None:
        """Delete what a dead instance left."""
        self._remove(left.instance)

    def _put(self, instance: str, draft: Draft) -> None:
        # ASCII keeps even text that no UTF-8 file could hold. A crash of this program is what drafts
        # are for; waiting for the disk at every change is not worth what a power cut could take.
        place = self._file(instance)
        try:
            text = json.dumps(draft.model_dump(by_alias=True), indent=1, default=str)
        except (RecursionError, ValueError, TypeError) as error:
            raise CannotWrite(place, _("the plan is nested too deeply")) from error
        write_atomically(place, text, durable=False)

    def _hold(self) -> None:
        if self._lock is not None:
            return
        place = self._lock_file(self.instance)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            file = place.open("a+b")
        except OSError as error:
            raise CannotWrite(place, reason_of(error)) from error
        weakref.finalize(self, file.close)
        try_lock(file)
        self._lock = file

    def _dead(self) -> Iterator[str]:
        try:
            names = sorted(path.stem for path in self.folder.glob("*.json"))
        except OSError:
            return
        for name in names:
            if name != self.instance and _NAME.fullmatch(name) and not is_locked(self._lock_file(name)):
                yield name

    def _read(self, instance: str) -> Draft | None:
        place = self._file(instance)
        try:
            content = read_json(place)
            if (
                isinstance(content, dict)
                and type(content.get("schema")) is int
                and content["schema"] > SCHEMA
            ):
                return None
            draft = Draft.model_validate(content)
            draft.plan  # noqa: B018 - raises when it is none
        except (
            CannotRead,
            ValidationError,
            ValueError,
            TypeError,
            LookupError,
            AttributeError,
            RecursionError,
        ):
            if place.exists():
                self._put_aside(place)
            return None
        return draft

    def _put_aside(self, place: Path) -> None:
        target = place.with_name(place.name + _DAMAGED)
        try:
            place.replace(target)
        except OSError:
            return
        sentence = _("A draft of unsaved work is damaged and could not be read. It was put aside: {path}")
        self.notes.append(sentence.format(path=target))

    def _remove(self, instance: str) -> None:
        for place in (self._file(instance), self._lock_file(instance)):
            with contextlib.suppress(OSError):
                place.unlink(missing_ok=True)

    def _file(self, instance: str) -> Path:
        return self.folder / f"{instance}.json"

    def _lock_file(self, instance: str) -> Path:
        return self.folder / f"{instance}.lock"


def _new_name() -> str:
    return f"{int(time.time()):x}{secrets.token_hex(8)}"


def _to_json(value: Any) -> Any:
    """Return a plan's data as JSON has them; dates, which TOML has besides, are marked."""
    if isinstance(value, dict):
        whole = {key: _to_json(child) for key, child in value.items()}
        return {_MARK: ["table", whole]} if value.keys() == {_MARK} else whole
    if isinstance(value, list | tuple):
        return [_to_json(child) for child in value]
    if isinstance(value, datetime.date | datetime.time):  # a datetime is a date
        return {_MARK: [type(value).__name__, value.isoformat()]}
    return value


def _from_json(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {_MARK}:
            kind, content = value[_MARK]
            return _MARKED[kind](content)
        return {key: _from_json(child) for key, child in value.items()}
    return [_from_json(child) for child in value] if isinstance(value, list) else value


_MARKED: Mapping[str, Callable[[Any], Any]] = {
    "datetime": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat,
    "time": datetime.time.fromisoformat,
    "table": lambda content: {key: _from_json(child) for key, child in content.items()},
}
