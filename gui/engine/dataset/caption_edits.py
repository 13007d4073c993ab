"""Changes captions, many at once: first what would become of each, then nothing but that is written.

What is not to be changed stays as it is to the byte, and of what is the original is kept; see
``caption_originals``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from gui.engine.dataset.caption_check import CaptionFolder, has_control
from gui.engine.dataset.caption_encoding import decoded
from gui.engine.dataset.caption_files import caption_names
from gui.engine.dataset.caption_patterns import replaced_pattern
from gui.engine.dataset.presence import is_file, is_there
from gui.engine.documents import read_bytes
from gui.engine.errors import Cancelled, CannotRead
from gui.engine.texts import _

Change = Callable[[str], str]
"""Makes the new text of a caption file of the old one."""


@dataclass(frozen=True, slots=True)
class CaptionEdit:
    """One caption file and what becomes of it; small, since there can be 100,000.

    Attributes:
        name: The file.
        image: The image it belongs to.
        before: Its text; None when there is no such file yet.
        after: Its text afterwards, which is written in UTF-8.
        encoding: What it is in before.
        content: A hash of its bytes before; empty when there is none.
    """

    name: str
    image: str
    before: str | None
    after: str
    encoding: str = "utf-8"
    content: str = ""


@dataclass(frozen=True, slots=True)
class EditPreview:
    """What a change would do to the captions of a folder.

    Attributes:
        folder: Where they are.
        edits: The captions that would change.
        unreadable: Names of captions whose encoding cannot be told; they are left alone.
    """

    folder: str
    edits: tuple[CaptionEdit, ...]
    unreadable: tuple[str, ...] = ()


def hash_of(data: bytes) -> str:
    """Return by what the content of a caption is known again."""
    return hashlib.sha256(data).hexdigest()


def preview(
    where: CaptionFolder,
    change: Change,
    images: Iterable[str] | None = None,
    *,
    create: bool = False,
    cancelled: Callable[[], bool] = lambda: False,
) -> EditPreview:
    """Return what a change would do; nothing is written.

    Args:
        where: The captions.
        change: Makes the new text.
        images: Which ones; None takes all.
        create: Whether captions that are missing are made.
        cancelled: Asked at each one; True ends it.

    Raises:
        Cancelled: The caller asked for it.
    """
    edits, unreadable = {}, []
    for image in where.images if images is None else images:
        if cancelled():
            raise Cancelled
        name = _name_of(where, image)
        if name in edits:
            continue  # two images share it
        try:
            edit = _edit(where.folder / name, image, change, create=create)
        except CannotRead:
            unreadable.append(name)
            continue
        if edit is not None:
            edits[name] = edit
    return EditPreview(folder=str(where.folder), edits=tuple(edits.values()), unreadable=tuple(unreadable))


def _name_of(where: CaptionFolder, image: str) -> str:
    names = caption_names(where.folder, image, where.extension)
    return next((name for name in names if is_file(where.folder / name)), names[0])


def opened(where: CaptionFolder, image: str) -> CaptionEdit:
    """Return the caption of an image as it stands, as an edit that changes nothing yet.

    Args:
        where: The captions.
        image: Whose.

    Raises:
        CannotRead: It must not be read, or its encoding cannot be told.
    """
    return _opened(where.folder / _name_of(where, image), image)


def _opened(path: Path, image: str) -> CaptionEdit:
    if not is_there(path):
        return CaptionEdit(name=path.name, image=image, before=None, after="")
    data = read_bytes(path)
    found = decoded(data)
    if found is None:
        raise CannotRead(path, _("its encoding cannot be told"))
    text, encoding = found
    return CaptionEdit(
        name=path.name, image=image, before=text, after=text, encoding=encoding, content=hash_of(data)
    )


def _edit(path: Path, image: str, change: Change, *, create: bool) -> CaptionEdit | None:
    edit = _opened(path, image)
    if edit.before is None:
        after = change("") if create else ""
        return replace(edit, after=after) if after else None
    after = change(edit.before)
    if after == edit.before and (change is not to_utf8 or edit.encoding == "utf-8"):
        return None
    return replace(edit, after=after)


def to_utf8(text: str) -> str:
    """Leave a text as it is, so that nothing but its encoding and its mark change."""
    return text


def without_control(text: str) -> str:
    """Take out what cannot be seen; line ends and tabs stay."""
    return "".join(letter for letter in text if letter in "\r\n" or not has_control(letter))


def replaced(
    find: str, by: str, *, whole_words: bool = False, match_case: bool = False, pattern: bool = False
) -> Change:
    """Return the change that replaces a text everywhere.

    Args:
        find: What is looked for.
        by: What stands there instead.
        whole_words: Whether it must not be part of a longer word.
        match_case: Whether capitals matter.
        pattern: Whether ``find`` is a regular expression; ``by`` may then name its groups.

    Raises:
        PatternRefused: It is no regular expression. The change raises it as well, where ``by`` names groups
            that there are not, or where a caption takes too long.
    """
    if not find:
        return lambda text: text
    words = find if pattern else re.escape(find)
    if whole_words:
        words = rf"(?<!\w)(?:{words})(?!\w)"
    if pattern:
        return replaced_pattern(words, by, match_case=match_case)
    looked_for = re.compile(words, 0 if match_case else re.IGNORECASE)
    return lambda text: looked_for.sub(lambda _found: by, text)


def with_tag(tag: str, *, first: bool = True, separator: str = ",", wildcard: bool = False) -> Change:
    """Return the change that adds a tag, unless it is there already.

    Args:
        tag: Which; several with the separator between them are several tags.
        first: Whether it is put in front, else at the end.
        separator: What separates tags.
        wildcard: Whether all lines are captions, else the first one alone.
    """
    wanted = _tags(tag, separator)

    def change(line: str) -> str:
        tags = _tags(line, separator)
        there = {each.lower() for each in tags}
        new = [each for each in wanted if each.lower() not in there]
        if not new:
            return line
        return f"{separator} ".join([*new, *tags] if first else [*tags, *new])

    return _by_line(change, wildcard=wildcard)


def _tags(text: str, separator: str) -> list[str]:
    return [part.strip() for part in text.split(separator) if part.strip()]


def without_tag(tag: str, *, separator: str = ",", wildcard: bool = False) -> Change:
    """Return the change that takes a tag out; see ``with_tag``."""

    def change(line: str) -> str:
        parts = line.split(separator)
        kept = [part for part in parts if part.strip().lower() != tag.strip().lower()]
        return line if len(kept) == len(parts) else separator.join(kept).strip()

    return _by_line(change, wildcard=wildcard)


def renamed_tag(tag: str, to: str, *, separator: str = ",", wildcard: bool = False) -> Change:
    """Return the change that gives a tag another name; where that is there already, once is enough.

    Args:
        tag: Which.
        to: What it is called then.
        separator: What separates tags.
        wildcard: Whether all lines are captions, else the first one alone.
    """
    old, new = tag.strip().lower(), to.strip()

    def change(line: str) -> str:
        parts = line.split(separator)
        if old not in (part.strip().lower() for part in parts):
            return line
        there = any(part.strip().lower() == new.lower() != old for part in parts)
        kept: list[str] = []
        for part in parts:
            if part.strip().lower() != old:
                kept.append(part)
            elif not there:
                kept.append(part.replace(part.strip(), new))
                there = True
        return separator.join(kept).strip()

    return _by_line(change, wildcard=wildcard)


def _by_line(change: Change, *, wildcard: bool) -> Change:
    """Return a change of captions that changes lines, and nothing about how they end."""

    def whole(text: str) -> str:
        lines = text.splitlines(keepends=True) or [""]
        for at, line in enumerate(lines if wildcard else lines[:1]):
            body = line.rstrip("\r\n")
            if body.strip() or not wildcard:
                lines[at] = change(body) + line[len(body) :]
        return "".join(lines)

    return whole
