"""Keeps what was found out about captions, for checks and second looks that need not read them again.

A record counts for the same settings, and for as long as images and captions have the same names, sizes and
times.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from pydantic import Field

from gui.engine.dataset.caption_check import CaptionFolder
from gui.engine.dataset.caption_files import state_words
from gui.engine.dataset.caption_report import CaptionReport
from gui.engine.documents import Document, read_text, write_atomically
from gui.engine.errors import PreflightError

VERSION = 1
"""How captions are judged; another one makes old records void."""


class CaptionRecord(Document):
    """What was found out about the captions of a folder under some settings.

    Attributes:
        version: How it was found out.
        state: A hash over names, sizes and times of images and captions.
        report: What was found.
    """

    schema_: int = Field(default=1, alias="schema")
    version: int
    state: str
    report: CaptionReport


class CaptionRecords:
    """The records of all folders.

    Args:
        memory: Where they lie.
    """

    def __init__(self, memory: Path) -> None:
        self._memory = memory

    def find(self, where: CaptionFolder) -> CaptionReport | None:
        """Return what is known about captions; None when nothing is, or they changed since."""
        try:
            record = CaptionRecord.model_validate_json(read_text(self._file(where)))
        except (PreflightError, ValueError):
            return None
        fits = record.version == VERSION and record.state == _state(where)
        return record.report if fits else None

    def write(self, where: CaptionFolder, report: CaptionReport) -> None:
        """Keep a report; where that cannot be done checks simply do not know it."""
        record = CaptionRecord(version=VERSION, state=_state(where), report=report)
        with contextlib.suppress(PreflightError):
            write_atomically(self._file(where), record.model_dump_json(by_alias=True), durable=False)

    def _file(self, where: CaptionFolder) -> Path:
        settings = repr((where.extension, where.class_tokens, where.is_reg, where.settings))
        hashed = hashlib.sha256(os.fsencode(os.path.realpath(where.folder)) + b"\0")
        hashed.update(settings.encode("utf-8", "surrogateescape"))
        return self._memory / "captions" / f"{hashed.hexdigest()[:32]}.json"


def _state(where: CaptionFolder) -> str:
    hashed = hashlib.sha256()
    for words in state_words(where.folder, sorted(where.images), where.extension):
        hashed.update(words)
    return hashed.hexdigest()[:32]
