"""What a person writes down about a run: tags, a note, a star. Apart from what the supervisor writes."""

from __future__ import annotations

import contextlib
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError, field_validator

from gui.engine.documents import read_json
from gui.engine.errors import CannotRead, CannotWrite, RunRefused
from gui.engine.file_lock import held
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.records import Versioned
from gui.engine.texts import _

LONGEST_TAG = 40
MOST_TAGS = 20
LONGEST_NOTE = 20_000
"""Letters; more than that is no note any more, and is refused. In a file the rest is passed over."""

LARGEST_BYTES = 1 << 20

_SEPARATORS = re.compile(r"[,;\n\r\t]+")
_BLANKS = re.compile(r"\s+")


class RunNotes(Versioned):
    """``notes.json`` of a run's folder.

    Attributes:
        tags: Words to find it by, each once, in the order in which they were given.
        note: Free text.
        favourite: Whether it bears a star.
    """

    tags: tuple[str, ...] = ()
    note: str = ""
    favourite: bool = False

    @field_validator("tags")
    @classmethod
    def _each_once(cls, tags: tuple[str, ...]) -> tuple[str, ...]:
        return tidy_tags(tag[:LONGEST_TAG] for tag in tidy_tags(tags))[:MOST_TAGS]

    @field_validator("note")
    @classmethod
    def _not_endless(cls, note: str) -> str:
        return note[:LONGEST_NOTE]


def tidy_tags(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the tags in texts, without blanks around them and without doubles, upper and lower case alike.

    Commas, semicolons and line ends stand between tags. Letters are put together as they are typed nearly
    everywhere: macOS takes Hangul and accents apart.
    """
    tidy: dict[str, str] = {}
    for tag in (tag for text in texts for tag in _SEPARATORS.split(unicodedata.normalize("NFC", text))):
        words = _BLANKS.sub(" ", tag).strip()
        if words:
            tidy.setdefault(words.casefold(), words)
    return tuple(tidy.values())


def read_notes(run: RunFolder) -> RunNotes:
    """Return what is written down about a run.

    Nothing there can make this fail: of a damaged file, or one of a newer version, whatever can be
    understood is returned.
    """
    try:
        value = _value(run.notes)
    except CannotRead:
        return RunNotes()
    known: dict[str, Any] = value if isinstance(value, dict) else {}
    notes = RunNotes()
    for name in ("tags", "note", "favourite"):
        if name in known:
            with contextlib.suppress(ValidationError):
                part = RunNotes.model_validate({name: known[name]}, strict=False)
                notes = notes.model_copy(update={name: getattr(part, name)})
    return notes


def change_notes(
    run: RunFolder,
    *,
    tags: Iterable[str] | None = None,
    note: str | None = None,
    favourite: bool | None = None,
    known: Iterable[str] | None = None,
    more: Iterable[str] = (),
    fewer: Iterable[str] = (),
) -> RunNotes:
    """Change what is written down about a run; None leaves a part as it is.

    Args:
        run: The run.
        tags: All its tags from now on.
        known: The tags from which ``tags`` were made: what others added or took away since stays so. None
            lets nothing of theirs stay.
        note: The text.
        favourite: Whether it bears a star.
        more: Tags that are added to those that it has when nobody else can change them.
        fewer: Tags that are taken away from them.

    A file that cannot be read is kept beside the new one, under ``notes.unreadable.json``.

    Returns:
        What is written down now.

    Raises:
        CannotWrite: The folder cannot be written, is gone, or is none of a run.
        NewerDocument: A newer version of this program wrote them, and would lose something.
        RunRefused: It is more than is kept.
    """
    if not run.exists():  # writing would make a folder that is no run, or leave something in another one
        raise CannotWrite(run.notes, _("the run's folder is no longer there, or is not that of a run"))
    gone = {tag.casefold() for tag in tidy_tags(fewer)}
    with held(run.notes):
        before = _readable(run)
        mine = before.tags if tags is None else tuple(tags)
        all_tags = (*(mine if known is None else _joined(mine, known, before.tags)), *more)
        kept = tuple(tag for tag in tidy_tags(all_tags) if tag.casefold() not in gone)
        _require_little(kept, note or "")
        wanted = {"tags": kept, "note": note, "favourite": favourite}
        after = RunNotes.model_validate(
            before.model_dump() | {name: value for name, value in wanted.items() if value is not None}
        )
        if after != before or not run.notes.exists():
            after.write(run.notes)
    return after


def _require_little(tags: tuple[str, ...], note: str) -> None:
    """Refuse what would have to be cut: of what a person has typed nothing is lost in silence."""
    longest = max(tags, key=len, default="")
    if len(longest) > LONGEST_TAG:
        text = _("the tag “{tag}…” has {count} letters; {most} are the most.")
        raise RunRefused(text.format(tag=longest[:LONGEST_TAG], count=f"{len(longest):,}", most=LONGEST_TAG))
    for text, count, most in (
        (_("these are {count} tags; {most} are the most."), len(tags), MOST_TAGS),
        (_("the note has {count} letters; {most} are the most."), len(note), LONGEST_NOTE),
    ):
        if count > most:
            raise RunRefused(text.format(count=f"{count:,}", most=f"{most:,}"))


def _joined(mine: Iterable[str], known: Iterable[str], theirs: Iterable[str]) -> list[str]:
    """Return the tags of two who changed the same ones without seeing what the other one did."""
    before = {tag.casefold() for tag in tidy_tags(known)}
    now = {tag.casefold() for tag in theirs}
    kept = [tag for tag in tidy_tags(mine) if tag.casefold() in now or tag.casefold() not in before]
    return [*kept, *(tag for tag in theirs if tag.casefold() not in before)]


def _readable(run: RunFolder) -> RunNotes:
    """Return the notes to be changed; set a file aside that is none."""
    try:
        return RunNotes.read(run.notes)
    except CannotRead:
        before = read_notes(run)
        with contextlib.suppress(OSError):
            run.notes.replace(run.notes.with_name("notes.unreadable.json"))
        return before


def _value(path: Path) -> Any:
    """Read a file that should be small.

    Raises:
        CannotRead: It is missing, not readable, no JSON, or huge.
    """
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise CannotRead(path, _("it is too large for what it should be"))
    except OSError as error:
        raise CannotRead(path, error.strerror or "") from error
    return read_json(path)
