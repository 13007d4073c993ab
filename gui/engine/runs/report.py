"""A report that can be given to strangers: its parts, to be looked at first, and the zip of them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from gui.engine.documents import Document, write_atomically
from gui.engine.runs.folder import safe_name
from gui.engine.runs.records import SCHEMA
from gui.engine.runs.report_words import contents_lines

_LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The time that each file in the zip bears, so that the same run always gives the same file."""


@dataclass(frozen=True)
class ReportPart:
    """One file of a report.

    Attributes:
        name: In the zip.
        words: What it is.
        data: What is in it, cleaned.
        note: What was left out; empty where nothing was.
    """

    name: str
    words: str
    data: bytes
    note: str = ""

    @property
    def is_picture(self) -> bool:
        """Whether it is a PNG; else it is a text."""
        return self.name.endswith(".png")


class PartFacts(Document):
    """What ``report --json`` tells of a part."""

    name: str
    bytes: int
    words: str
    note: str = ""


class ReportFacts(Document):
    """What ``report --json`` prints.

    Attributes:
        path: Where the zip was written; None where it was not.
        parts: What is in it, or would be.
        text: The diagnosis, to be pasted.
    """

    schema_: int = Field(default=SCHEMA, alias="schema")
    path: Path | None = None
    parts: tuple[PartFacts, ...]
    text: str


@dataclass(frozen=True)
class Report:
    """A report that is not written yet.

    Attributes:
        name: What it is about.
        text: The diagnosis, to be pasted.
        parts: In the order of the zip.
    """

    name: str
    text: str
    parts: tuple[ReportPart, ...]

    @property
    def file_name(self) -> str:
        """What the zip is best called: ``<user>`` in a name is nothing that Windows would save."""
        return f"{safe_name(self.name)}-report.zip"

    def without(self, names: Collection[str]) -> Report:
        """Return the report without some parts."""
        return Report(self.name, self.text, tuple(part for part in self.parts if part.name not in names))

    def facts(self, path: Path | None = None) -> ReportFacts:
        """Return what it holds, and where it was written."""
        parts = (
            PartFacts(name=part.name, bytes=len(part.data), words=part.words, note=part.note)
            for part in self.parts
        )
        return ReportFacts(schema=SCHEMA, path=path, parts=tuple(parts), text=self.text)

    def contents(self) -> list[str]:
        """Return what it holds, a line a part."""
        return contents_lines((part.name, len(part.data), part.words, part.note) for part in self.parts)

    def zipped(self) -> bytes:
        """Return the zip; the same parts always give the same bytes."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for part in self.parts:
                entry = zipfile.ZipInfo(part.name, _LONG_AGO)
                entry.create_system, entry.external_attr = 3, 0o644 << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, part.data, compresslevel=9)
        return buffer.getvalue()

    def write(self, path: Path) -> None:
        """Write the zip.

        Raises:
            CannotWrite: It cannot be written there.
        """
        write_atomically(path, self.zipped())
