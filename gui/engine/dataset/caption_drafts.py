"""Keeps captions that were typed and are not written yet, through a crash too."""

from __future__ import annotations

import contextlib
from pathlib import Path

from pydantic import Field

from gui.engine.dataset.journal import read_journal, write_journal
from gui.engine.documents import Document
from gui.engine.errors import CannotRead
from gui.engine.file_lock import held


class CaptionDraft(Document):
    """One caption as it was typed.

    Attributes:
        folder: Where its image lies.
        image: Whose caption it is.
        text: What was typed.
        content: Of which content of the file it is another version: its hash, empty for none.
    """

    folder: str
    image: str
    text: str
    content: str


class _Drafts(Document):
    schema_: int = Field(default=1, alias="schema")
    drafts: tuple[CaptionDraft, ...] = ()


class CaptionDrafts:
    """All drafts of a home; several windows may share them.

    Args:
        path: Their file; read at once. One that is damaged holds none.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._drafts = self._read()

    def find(self, folder: Path, image: str) -> CaptionDraft | None:
        """Return the draft of an image's caption; None where there is none."""
        return self._drafts.get((str(folder), image))

    def images(self, folder: Path) -> frozenset[str]:
        """Return the images of a folder whose captions have drafts."""
        return frozenset(image for place, image in self._drafts if place == str(folder))

    def keep(self, draft: CaptionDraft) -> None:
        """Keep a draft, in place of an older one.

        Raises:
            CannotWrite: It cannot be written; it is kept for as long as the program runs.
        """
        key = (draft.folder, draft.image)
        if self._drafts.get(key) != draft:
            self._drafts[key] = draft
            self._write(key, draft)

    def forget(self, folder: Path, image: str) -> None:
        """Let a draft go; nothing happens where there is none.

        Raises:
            CannotWrite: It will be there again at the next start.
        """
        key = (str(folder), image)
        if self._drafts.pop(key, None) is not None:
            self._write(key, None)

    def _read(self) -> dict[tuple[str, str], CaptionDraft]:
        known: _Drafts | None = None
        with contextlib.suppress(CannotRead):
            known = read_journal(self._path, _Drafts)
        return {(each.folder, each.image): each for each in (known.drafts if known else ())}

    def _write(self, key: tuple[str, str], draft: CaptionDraft | None) -> None:
        with held(self._path):
            there = self._read()
            if draft is None:
                there.pop(key, None)
            else:
                there[key] = draft
            write_journal(self._path, _Drafts(drafts=tuple(there.values())))
