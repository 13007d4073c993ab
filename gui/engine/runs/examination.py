"""Examines saved model files one by one: what they hold, what they are, where they come from.

This is what ``checkpoints`` prints and what the window shows of a folder (knowledge N2, S6, S7).
"""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

from pydantic import ConfigDict, Field

from gui.engine.documents import Document, reason_of
from gui.engine.errors import CannotRead, NotSafetensors
from gui.engine.runs.checkpoints import CheckpointVerdict, first_bad, judge_series, last_clean
from gui.engine.runs.hashes import hash_file
from gui.engine.runs.series import SavedModel, in_order
from gui.engine.runs.wholeness import DIFFUSERS_LAST_FILE
from gui.engine.texts import _
from gui.engine.trainer.model_kind import ModelKind
from gui.engine.trainer.model_look import model_kind
from gui.engine.trainer.model_metadata import ModelFacts, model_facts
from gui.engine.trainer.safetensors_file import read_header
from gui.engine.trainer.tensor_scan import CancelledAsk, Progress
from gui.engine.trainer.tensors import (
    MODEL_SUFFIXES,
    SAFETENSORS_SUFFIX,
    TensorReport,
    check_tensors,
    model_files,
)

PASSES = 2
"""Each file is read once for its hash and once for its numbers."""


class HeaderFacts(Document):
    """What the header of a safetensors file says.

    Attributes:
        header_bytes: Its length.
        tensors: How many tensors.
        parameters: How many numbers in all of them.
        dtypes: Kind of number to how many tensors are of it.
        metadata: The free text fields, as they are.
    """

    header_bytes: int
    tensors: int
    parameters: int
    dtypes: dict[str, int]
    metadata: dict[str, str]


class ExaminedFile(Document):
    """One model file or folder.

    Attributes:
        path: Where.
        size_bytes: Of it, of all files of a folder.
        sha256: Of a file; None for a folder.
        autov2: The first ten digits of that.
        header: None where there is none to read.
        facts: How it was made, by its metadata.
        kind: What it is, by its header or its first bytes; None where it cannot be looked at.
        numbers: What was found in it.
        verdict: What it is, beside the files before it.
    """

    path: Path
    size_bytes: int
    sha256: str | None
    autov2: str | None
    header: HeaderFacts | None
    facts: ModelFacts | None
    kind: ModelKind | None
    numbers: TensorReport
    verdict: CheckpointVerdict


class Examination(Document):
    """The document of ``checkpoints --json``.

    Attributes:
        schema_: The format's number; ``schema`` in the document.
        path: What was examined.
        trouble: Whether something is wrong with any of the files.
        last_clean: The newest clean file of each series.
        first_bad: The first file of each series that something is wrong with.
        files: Series after series, each in the order in which it was saved.
    """

    model_config = ConfigDict(populate_by_name=True)

    schema_: int = Field(default=1, alias="schema")
    path: Path
    trouble: bool
    last_clean: tuple[Path, ...]
    first_bad: tuple[Path, ...]
    files: tuple[ExaminedFile, ...]


def examine(
    path: Path, progress: Progress | None = None, cancelled: CancelledAsk | None = None
) -> Examination:
    """Examine a model file or folder, or all of those in a folder.

    Args:
        path: A model file, a Diffusers model, or a folder that holds such; what lies deeper in that
            is not looked at.
        progress: Told bytes done and bytes in all, each file counted twice.
        cancelled: Asked several times a second whether to give up.

    Raises:
        CannotRead: There is no model, or a single file is not one.
        Cancelled: ``cancelled`` said so.
    """
    series = in_order(_models(path))
    work = _Work(
        PASSES * sum(_size(model.path) for models in series for model in models), progress, cancelled
    )
    files: list[ExaminedFile] = []
    clean, bad = [], []
    for models in series:
        examined = _examine_series(models, work)
        verdicts = [file.verdict for file in examined]
        files += examined
        clean += [verdict.path for verdict in [last_clean(verdicts)] if verdict]
        bad += [verdict.path for verdict in [first_bad(verdicts)] if verdict]
    if len(files) == 1 and files[0].path == path and not files[0].numbers.readable:
        raise CannotRead(path, files[0].numbers.reason)
    return Examination(
        path=path,
        trouble=bool(bad),
        last_clean=tuple(map(Path, clean)),
        first_bad=tuple(map(Path, bad)),
        files=tuple(files),
    )


class _Work:
    """Adds up progress over several files and passes.

    Args:
        total: Bytes in all.
        progress: Told how far the whole is.
        cancelled: Asked whether to give up.
    """

    def __init__(self, total: int, progress: Progress | None, cancelled: CancelledAsk | None) -> None:
        self._total = total
        self._progress = progress
        self._before = 0
        self.cancelled = cancelled

    def progress(self, done: int, _of_this: int) -> None:
        """Take in how far the pass at hand is."""
        if self._progress is not None:
            self._progress(min(self._before + done, self._total), self._total)

    def passed(self, size: int) -> None:
        """Take in that a pass over so many bytes is over."""
        self._before += size
        self.progress(0, 0)


def _models(path: Path) -> list[Path]:
    """Return what there is to examine."""
    try:
        if not path.is_dir():
            path.stat()
            return [path]
        if (path / DIFFUSERS_LAST_FILE).is_file():
            return [path]
        entries = list(path.iterdir())
    except OSError as error:
        raise CannotRead(path, reason_of(error)) from error
    found = [
        entry
        for entry in entries
        if (entry / DIFFUSERS_LAST_FILE).is_file()
        or (entry.suffix.lower() in MODEL_SUFFIXES and entry.is_file())
    ]
    if not found:
        raise CannotRead(path, _("there is no model file in it"))
    return found


def _examine_series(models: list[SavedModel], work: _Work) -> list[ExaminedFile]:
    looked = []
    for model in models:
        size = _size(model.path)
        digest = None if model.path.is_dir() else hash_file(model.path, work.progress, work.cancelled)
        work.passed(size)
        report = check_tensors(model.path, work.progress, work.cancelled)
        work.passed(size)
        looked.append((digest, report))
    steps = {str(model.path): model.step for model in models if model.step is not None}
    verdicts = judge_series([report for _digest, report in looked], steps=steps)
    files = []
    for model, (digest, report), verdict in zip(models, looked, verdicts, strict=True):
        header = _header(model.path)
        files.append(
            ExaminedFile(
                path=model.path,
                size_bytes=report.size_bytes,
                sha256=digest.sha256 if digest else None,
                autov2=digest.autov2 if digest else None,
                header=header,
                facts=model_facts(header.metadata) if header else None,
                kind=_kind(model.path),
                numbers=report,
                verdict=verdict,
            )
        )
    return files


def _kind(path: Path) -> ModelKind | None:
    try:
        return model_kind(path)
    except CannotRead:
        return None


def _size(path: Path) -> int:
    try:
        if path.is_dir():
            return sum(file.stat().st_size for file in model_files(path))
        return path.stat().st_size
    except OSError:
        return 0


def _header(path: Path) -> HeaderFacts | None:
    if path.suffix.lower() != SAFETENSORS_SUFFIX or path.is_dir():
        return None
    try:
        header = read_header(path)
    except NotSafetensors:
        return None
    tensors = header.tensors.values()
    return HeaderFacts(
        header_bytes=header.header_bytes,
        tensors=len(tensors),
        parameters=sum(math.prod(tensor.shape) for tensor in tensors),
        dtypes=dict(Counter(tensor.dtype for tensor in tensors).most_common()),
        metadata=dict(sorted(header.metadata.items())),
    )
