"""Finds the file that a run was for, and tells whether it can be used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gui.engine.errors import PreflightError
from gui.engine.runs.records import FileMark, mark_of
from gui.engine.runs.status import Weights
from gui.engine.texts import _
from gui.engine.trainer.tensors import TensorReport


@dataclass(frozen=True)
class FinalFile:
    """The run's last file.

    Attributes:
        path: Where it is, or was to be.
        weights: What it is.
        reason: Why it is no better, in plain words; empty where all is well.
        renamed_from: The name that the trainer gave it, where somebody has renamed it since.
    """

    path: Path
    weights: Weights
    reason: str = ""
    renamed_from: Path | None = None


def judge_final(
    names: Sequence[Path],
    before: Mapping[Path, FileMark],
    seen: Mapping[Path, FileMark],
    check: Callable[[Path], TensorReport],
) -> FinalFile | None:
    """Look for the last file under the names that it may have, and into it.

    Args:
        names: The announced one first, then the expected one; relative ones are of no use.
        before: What lay there before launch, by path. Whether a file is new is told by its mark,
            never by a clock.
        seen: Marks of files that the run wrote, by the path they had, to find renamed ones.
        check: Reads the numbers of a file.

    Returns:
        The file; None when the run has no name for it at all.
    """
    if not names:
        return None
    for path in names:
        mark = mark_of(path)
        if mark is not None and mark != before.get(path):
            return _look_into(path, check)
    renamed = _renamed(names, seen)
    if renamed is not None:
        path, old = renamed
        found = _look_into(path, check)
        return FinalFile(found.path, found.weights, found.reason, renamed_from=old)
    if mark_of(names[0]) is not None:
        return FinalFile(names[0], "old", _("it was there before the launch and has not changed"))
    return FinalFile(names[0], "missing", _("it is not there"))


def weights_of(report: TensorReport) -> tuple[Weights, str]:
    """Return the word for a report, and the reason where it is not ``finite``."""
    if report.complete is False or not report.readable:
        return "incomplete", report.reason
    if report.finite is False:
        names = ", ".join(bad.name for bad in report.bad[:3])
        return "nonfinite", _("{count} of its tensors hold NaN or Inf: {names}").format(
            count=report.bad_tensors, names=names
        )
    return ("finite", "") if report.checked else ("not checked", report.reason)


def _look_into(path: Path, check: Callable[[Path], TensorReport]) -> FinalFile:
    try:
        weights, reason = weights_of(check(path))
    except PreflightError as error:
        return FinalFile(path, "incomplete", str(error))
    return FinalFile(path, weights, reason)


def _renamed(names: Sequence[Path], seen: Mapping[Path, FileMark]) -> tuple[Path, Path] | None:
    """Return where a file of one of the names is now, and that name, when only its name has changed."""
    for old in names:
        mark = seen.get(old)
        if mark is None or not mark.inode:
            continue
        try:
            neighbours = list(old.parent.iterdir())
        except OSError:
            continue
        for path in neighbours:
            found = mark_of(path)
            if found and found.inode == mark.inode and found.size == mark.size and path not in seen:
                return path, old
    return None
