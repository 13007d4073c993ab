"""Keeps what a scan found out about a folder, so that a check of a plan knows it without looking.

A record counts for as long as the folder holds the same files with the same sizes and times.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from pydantic import Field

from gui.engine.dataset.gathering import Gathered
from gui.engine.dataset.image_facts import FACTS_VERSION
from gui.engine.dataset.scan import state_of
from gui.engine.documents import Document, read_text, write_atomically
from gui.engine.errors import PreflightError

SCHEMA = 1


class FolderRecord(Document):
    """What a scan found out about a folder, whatever the plan.

    Attributes:
        version: How the facts were found out.
        folder: Which.
        state: A hash over names, sizes and times of its images.
        images: How many there are.
        sizes: ``"WxH"``, as the trainer sees it, to the number of readable images.
        problems: Key (see ``problem_kinds``) to names, sorted.
    """

    schema_: int = Field(default=SCHEMA, alias="schema")
    version: int
    folder: str
    state: str
    images: int
    sizes: dict[str, int]
    problems: dict[str, tuple[str, ...]]


class FolderRecords:
    """The records of all folders.

    Args:
        memory: Where they lie.
    """

    def __init__(self, memory: Path) -> None:
        self.memory = memory

    def find(self, folder: Path, images: Iterable[str]) -> FolderRecord | None:
        """Return what is known about a folder; None when nothing is, or it changed since.

        Args:
            folder: Which.
            images: The names of its images now.
        """
        try:
            record = FolderRecord.model_validate_json(read_text(self._file(folder)))
        except (PreflightError, ValueError):
            return None
        fits = record.version == FACTS_VERSION and record.state == _state(folder, images)
        return record if fits else None

    def write(self, record: FolderRecord) -> None:
        """Keep a record; where that cannot be done checks simply do not know it."""
        with contextlib.suppress(PreflightError):
            text = record.model_dump_json(by_alias=True)
            write_atomically(self._file(Path(record.folder)), text, durable=False)

    def _file(self, folder: Path) -> Path:
        name = hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()[:32]
        return self.memory / "folders" / f"{name}.json"


def record_of(folder: Path, images: Iterable[str], gathered: Gathered, place: int) -> FolderRecord:
    """Make the record of a folder that was just scanned.

    Args:
        folder: Which.
        images: The names of its images.
        gathered: What was found.
        place: The folder's place in the scan.
    """
    return FolderRecord(
        version=FACTS_VERSION,
        folder=str(folder),
        state=_state(folder, images),
        images=len(gathered.true_sizes(place)),
        sizes={f"{size[0]}x{size[1]}": count for size, count in gathered.counts(place).items()},
        problems={key: tuple(sorted(names)) for key, names in sorted(gathered.problems[place].items())},
    )


def _state(folder: Path, images: Iterable[str]) -> str:
    hashed = hashlib.sha256()
    for name in sorted(images):
        hashed.update(os.fsencode(name) + b"\0" + repr(state_of(folder / name)).encode("ascii"))
    return hashed.hexdigest()[:32]
