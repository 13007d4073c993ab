"""The list in a copied folder: what came of every file, as far as the copy is made."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from pydantic import Field, ValidationError

from gui.engine.dataset.image_mending import Mending
from gui.engine.dataset.pairing import stem_of
from gui.engine.dataset.presence import is_file, is_folder, is_there
from gui.engine.dataset.scan import state_of
from gui.engine.documents import Document, iterate_json_lines, reason_of, write_atomically
from gui.engine.errors import CannotWrite
from gui.engine.texts import _

LIST = "_preflight_copy.jsonl"


class CopyHeader(Document):
    """What a copied folder is a copy of; the first line.

    Attributes:
        source: The original folder.
        shrink: Whether images are shrunk.
        wanted: What is mended, to know a copy of another kind.
    """

    schema_: int = Field(default=1, alias="schema")
    source: str
    shrink: bool
    wanted: str


class CopiedFile(Document):
    """What came of one image.

    Attributes:
        name: Of the original.
        size_bytes: Of the original; -1 when it was not there.
        changed: When the original was, in nanoseconds.
        target: The copy's name; None when it was left out.
        did: What was mended; nothing for a copy to the byte.
        caption: The copied caption's name; None for none.
        trouble: Why it was left out; see ``problem_kinds``.
    """

    name: str
    size_bytes: int
    changed: int
    target: str | None = None
    did: tuple[Mending, ...] = ()
    caption: str | None = None
    trouble: str = ""


class CopyList:
    """The list of one folder while a copy is made.

    Args:
        folder: The copied folder.
        header: What it is a copy of.

    Raises:
        CannotWrite: Something else is in the folder, or nothing can be written there.
    """

    def __init__(self, folder: Path, header: CopyHeader) -> None:
        self._path = folder / LIST
        self._folder = folder
        self._rows = _rows(self._path, header)
        # Written anew: the last line may have been cut off.
        lines = [header.model_dump_json(by_alias=True), *(row.model_dump_json() for row in self._rows)]
        write_atomically(self._path, "\n".join(lines) + "\n")
        try:
            self._file = self._path.open("a", encoding="utf-8", newline="\n")
        except OSError as error:
            raise CannotWrite(self._path, reason_of(error)) from error

    def still_true(self, source: Path) -> dict[str, CopiedFile]:
        """Return what is listed of files that have not changed since, and whose copies are there.

        Args:
            source: The original folder.
        """
        return {row.name: row for row in self._rows if self._is_true(row, source)}

    def add(self, row: CopiedFile) -> None:
        """List a file.

        Raises:
            CannotWrite: The disk is full, for one.
        """
        try:
            self._file.write(row.model_dump_json() + "\n")
            self._file.flush()
        except OSError as error:
            raise CannotWrite(self._path, reason_of(error)) from error

    def __enter__(self) -> CopyList:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def _is_true(self, row: CopiedFile, source: Path) -> bool:
        state = state_of(source / row.name)
        if row.target is None or state is None or tuple(state) != (row.size_bytes, row.changed):
            return False
        return all(is_file(self._folder / name) for name in (row.target, row.caption) if name)


def target_names(names: Iterable[str]) -> list[str]:
    """Return a stem for each image, all different: in the copy no two share a caption."""
    found: list[str] = []
    taken: set[str] = set()
    all_stems = [stem_of(name) for name in names]
    given = {stem.casefold() for stem in all_stems}
    for stem in all_stems:
        free, number = stem, 1
        while free.casefold() in taken or (number > 1 and free.casefold() in given):
            number += 1
            free = f"{stem}_{number}"
        taken.add(free.casefold())
        found.append(free)
    return found


def _rows(path: Path, header: CopyHeader) -> list[CopiedFile]:
    if not is_there(path):
        if is_folder(path.parent) and any(path.parent.iterdir()):
            raise CannotWrite(path.parent, _("other files are in it"))
        return []
    rows = list(iterate_json_lines(path))
    if not rows or rows[0] != header.model_dump(by_alias=True):
        raise CannotWrite(path.parent, _("it holds a copy of something else"))
    found = {}
    for row in rows[1:]:
        try:
            known = CopiedFile.model_validate(row)
        except ValidationError:
            continue
        found[known.name] = known
    return list(found.values())
