"""Looks into saved model files: are all numbers finite, and how large are they.

A blow-up poisons weights, and the trainer saves them all the same and exits with 0 (knowledge N2,
trainer-output 4.1). Files are read once, in bounded pieces, on a few threads; a pickle (``.ckpt``,
``.pt``, ``.bin``) is never opened as one, so only its container is judged.
"""

from __future__ import annotations

import math
import os
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from gui.engine.documents import Document, reason_of
from gui.engine.errors import CannotRead, NotSafetensors
from gui.engine.texts import _
from gui.engine.trainer.model_metadata import number_of
from gui.engine.trainer.safetensors_file import SafetensorsHeader, read_header
from gui.engine.trainer.tensor_blocks import REST, block_order, tensor_block
from gui.engine.trainer.tensor_groups import grows_from_little, is_constant, start_rms, tensor_group
from gui.engine.trainer.tensor_scan import CancelledAsk, Progress, TensorSums, scan_tensors

SAFETENSORS_SUFFIX = ".safetensors"
PICKLE_SUFFIXES = frozenset({".ckpt", ".pt", ".pth", ".bin", ".pkl"})
MODEL_SUFFIXES = PICKLE_SUFFIXES | {SAFETENSORS_SUFFIX}
BAD_NAMES = 10
"""How many tensors with NaN or Inf are named; the count says how many there are."""
MAX_GROUPS = 200
OTHER = "other"

FileKind = Literal["safetensors", "pickle", "folder"]


class BadTensor(Document):
    """A tensor with numbers that are not finite.

    Attributes:
        name: The tensor's; in a folder after the file's name and a colon.
        nan_count: How many NaNs.
        inf_count: How many infinities.
    """

    name: str
    nan_count: int
    inf_count: int


class GroupNorm(Document):
    """How large the numbers of one group of tensors are, non-finite ones left out.

    In large tensors of 8 and 16 bit kinds ``rms`` and ``l2`` come from a sample, true to one percent.

    Attributes:
        tensors: How many tensors.
        elements: How many finite numbers.
        rms: Root of their mean square.
        l2: Root of the sum of their squares.
        peak: The largest magnitude.
        start_rms: The root mean square with which training starts from nothing, where it is known.
    """

    tensors: int
    elements: int
    rms: float
    l2: float
    peak: float
    start_rms: float | None = None


class TensorReport(Document):
    """What was found in one model file or folder.

    Attributes:
        path: The file or folder.
        kind: What it should be, by its name.
        size_bytes: Of all files.
        readable: False when it is not what its name says, or contradicts itself.
        complete: Whether nothing is missing at its end; None where the format cannot tell.
        checked: Whether every float number was looked at.
        reason: Why it is not readable, not complete or not checked; empty otherwise.
        finite: Whether all numbers are finite; None when none was looked at.
        nan_count: NaNs in all tensors.
        inf_count: Infinities in all tensors.
        bad_tensors: How many tensors hold either.
        bad: The first of these.
        tensors: How many tensors there are.
        steps: Optimizer steps behind the file, by its metadata.
        epoch: Epochs behind it, likewise.
        groups: Norms by part and kind of module, such as ``lora_unet.lora_up``.
        blocks: Norms by block of the model, such as ``unet down_blocks_0``; of an adapter that of what starts
            at zero, since the other half hardly moves.
        overall: Norm of everything but scale constants (``alpha``).
    """

    path: str
    kind: FileKind
    size_bytes: int
    readable: bool = True
    complete: bool | None = True
    checked: bool = False
    reason: str = ""
    finite: bool | None = None
    nan_count: int = 0
    inf_count: int = 0
    bad_tensors: int = 0
    bad: tuple[BadTensor, ...] = ()
    tensors: int = 0
    steps: int | None = None
    epoch: int | None = None
    groups: dict[str, GroupNorm] = Field(default_factory=dict)
    blocks: dict[str, GroupNorm] = Field(default_factory=dict)
    overall: GroupNorm | None = None


def check_tensors(
    path: Path, progress: Progress | None = None, cancelled: CancelledAsk | None = None
) -> TensorReport:
    """Look at every number of a model file or of the model files in a folder.

    What is wrong with the content is in the report, never an exception.

    Args:
        path: A ``.safetensors`` file, a pickle, or a folder (Diffusers model, training state).
        progress: Told bytes done and bytes in all, about ten times a second, from this thread.
        cancelled: Asked as often whether to give up.

    Raises:
        CannotRead: It is missing or the system does not let it be read.
        Cancelled: ``cancelled`` said so.
    """
    try:
        if path.is_dir():
            return _check_folder(path, progress, cancelled)
        report = _check_file(path, path.stat().st_size, progress, cancelled)
    except OSError as error:
        raise CannotRead(path, reason_of(error)) from error
    if report.checked and report.tensors == 0:
        return report.model_copy(update={"readable": False, "reason": _("there is no tensor in it")})
    return report


def _check_file(
    path: Path, size: int, progress: Progress | None, cancelled: CancelledAsk | None
) -> TensorReport:
    if path.suffix.lower() in PICKLE_SUFFIXES:
        return _check_pickle(path, size)
    report = TensorReport(path=str(path), kind="safetensors", size_bytes=size, complete=False)
    try:
        header = read_header(path)
    except NotSafetensors as error:
        return report.model_copy(update={"readable": error.truncated, "reason": error.reason})
    report = report.model_copy(update=_header_facts(header))
    if not header.complete:
        cut = header.actual_bytes < header.expected_bytes
        return report.model_copy(update={"readable": cut, "reason": _wrong_length(header)})
    sums = scan_tensors(path, header, progress, cancelled)
    if sums is None:
        return report.model_copy(update={"reason": _("it changed while it was read")})
    return report.model_copy(update={"complete": True, "checked": True, **_findings(sums)})


def _header_facts(header: SafetensorsHeader) -> dict[str, Any]:
    return {
        "size_bytes": header.actual_bytes,
        "tensors": len(header.tensors),
        "steps": number_of(header.metadata, "ss_steps"),
        "epoch": number_of(header.metadata, "ss_epoch"),
    }


def _wrong_length(header: SafetensorsHeader) -> str:
    if header.actual_bytes > header.expected_bytes:
        return _("it is {count} bytes longer than its header says").format(
            count=header.actual_bytes - header.expected_bytes
        )
    return _("{actual} of {expected} bytes are there").format(
        actual=header.actual_bytes, expected=header.expected_bytes
    )


def _findings(sums: Sequence[TensorSums]) -> dict[str, Any]:
    """Return what the report says about the numbers."""
    bad = [entry for entry in sums if entry.nan or entry.inf]
    grouped: dict[str, list[TensorSums]] = {}
    for entry in sums:
        name = tensor_group(entry.name)
        grouped.setdefault(name if name in grouped or len(grouped) < MAX_GROUPS else OTHER, []).append(entry)
    weights = [entry for entry in sums if not is_constant(tensor_group(entry.name))]
    return {
        "finite": not bad,
        "nan_count": sum(entry.nan for entry in bad),
        "inf_count": sum(entry.inf for entry in bad),
        "bad_tensors": len(bad),
        "bad": tuple(BadTensor(name=e.name, nan_count=e.nan, inf_count=e.inf) for e in bad[:BAD_NAMES]),
        "groups": {
            name: _norm(entries, start_rms(name, (e.shape for e in entries)))
            for name, entries in grouped.items()
        },
        "blocks": _blocks(weights),
        "overall": _norm(weights) if weights else None,
    }


def _blocks(weights: Sequence[TensorSums]) -> dict[str, GroupNorm]:
    learnt = [entry for entry in weights if grows_from_little(tensor_group(entry.name))]
    found: dict[str, list[TensorSums]] = {}
    for entry in learnt or weights:
        name = tensor_block(entry.name)
        found.setdefault(name if name in found or len(found) < MAX_GROUPS else REST, []).append(entry)
    return {name: _norm(found[name]) for name in sorted(found, key=block_order)}


def _norm(entries: Sequence[TensorSums], start: float | None = None) -> GroupNorm:
    elements = sum(entry.elements for entry in entries)
    squares = min(sum(entry.squares for entry in entries), sys.float_info.max)
    return GroupNorm(
        tensors=len(entries),
        elements=elements,
        rms=math.sqrt(squares / elements) if elements else 0.0,
        l2=math.sqrt(squares),
        peak=max((entry.peak for entry in entries), default=0.0),
        start_rms=start,
    )


def _check_pickle(path: Path, size: int) -> TensorReport:
    """Judge the container of a file that PyTorch wrote; opening it would run what is in it."""
    report = TensorReport(path=str(path), kind="pickle", size_bytes=size, complete=False)
    with path.open("rb") as file:
        first = file.read(2)
    if not first:
        return report.model_copy(update={"reason": _("it is empty")})
    if first.startswith(b"\x80"):
        reason = _("it is an old pickle, which is never opened; whether it is whole cannot be told")
        return report.model_copy(update={"complete": None, "reason": reason})
    if first != b"PK":
        reason = _("it does not begin like a file that PyTorch wrote")
        return report.model_copy(update={"readable": False, "reason": reason})
    if not zip_is_whole(path):
        return report.model_copy(update={"reason": _("its end is missing")})
    reason = _("pickles are never opened, since opening one runs what is in it")
    return report.model_copy(update={"complete": True, "reason": reason})


def file_is_whole(path: Path) -> bool:
    """Whether a model file, or another one that torch saves, has the end that it should have.

    Raises:
        OSError: It cannot be read.
        CannotRead: It is no safetensors file.
    """
    return read_header(path).complete if path.suffix.lower() == SAFETENSORS_SUFFIX else zip_is_whole(path)


def zip_is_whole(path: Path) -> bool:
    """Whether a zip archive has its table of contents at its end, and all that the table names."""
    try:
        with zipfile.ZipFile(path) as archive:
            end = archive.start_dir
            return all(i.header_offset + i.compress_size <= end for i in archive.infolist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError):
        return False


def model_files(folder: Path) -> list[Path]:
    """Return the model files in a folder and below, by name; links to folders are not followed."""
    found = []
    for root, _folders, names in os.walk(folder):
        found += [Path(root, n) for n in names if Path(n).suffix.lower() in MODEL_SUFFIXES]
    return sorted(found)


def _check_folder(folder: Path, progress: Progress | None, cancelled: CancelledAsk | None) -> TensorReport:
    files = [(file, file.stat().st_size) for file in model_files(folder)]
    total = sum(size for _file, size in files)
    if not files:
        reason = _("there is no model file in it")
        return TensorReport(path=str(folder), kind="folder", size_bytes=0, complete=False, reason=reason)
    reports: dict[str, TensorReport] = {}
    done = 0
    for file, size in files:
        part = None if progress is None else _shifted(progress, done, total)
        reports[file.relative_to(folder).as_posix()] = _check_file(file, size, part, cancelled)
        done += size
    return _merged(folder, reports)


def _shifted(progress: Progress, before: int, total: int) -> Progress:
    return lambda done, _of_this_file: progress(before + done, total)


def _merged(folder: Path, reports: dict[str, TensorReport]) -> TensorReport:
    """Return one report for all files of a folder."""
    looked = [report for report in reports.values() if report.finite is not None]
    completeness = {report.complete for report in reports.values()}
    bad = [
        entry.model_copy(update={"name": f"{name}: {entry.name}"})
        for name, report in reports.items()
        for entry in report.bad
    ]
    return TensorReport(
        path=str(folder),
        kind="folder",
        size_bytes=sum(report.size_bytes for report in reports.values()),
        readable=all(report.readable for report in reports.values()),
        complete=False if False in completeness else None if None in completeness else True,
        checked=all(report.checked for report in reports.values()),
        reason="; ".join(f"{name}: {r.reason}" for name, r in reports.items() if r.reason),
        finite=all(report.finite for report in looked) if looked else None,
        nan_count=sum(report.nan_count for report in looked),
        inf_count=sum(report.inf_count for report in looked),
        bad_tensors=sum(report.bad_tensors for report in looked),
        bad=tuple(bad[:BAD_NAMES]),
        tensors=sum(report.tensors for report in reports.values()),
        groups={
            f"{name}: {group}": norm
            for name, report in reports.items()
            for group, norm in report.groups.items()
        },
        blocks={
            f"{name}: {block}": norm
            for name, report in reports.items()
            for block, norm in report.blocks.items()
        },
        overall=_together([report.overall for report in looked if report.overall]),
    )


def _together(norms: Sequence[GroupNorm]) -> GroupNorm | None:
    if not norms:
        return None
    elements = sum(norm.elements for norm in norms)
    l2 = math.hypot(*(norm.l2 for norm in norms))
    return GroupNorm(
        tensors=sum(norm.tensors for norm in norms),
        elements=elements,
        rms=l2 / math.sqrt(elements) if elements else 0.0,
        l2=l2,
        peak=max(norm.peak for norm in norms),
    )
