"""Judges the model files of a run one after the other, and names what each one is.

A *clean* checkpoint is complete, finite, saved before the first loss that was not finite, and its
norms did not jump against the file before it; anything less is named for what it is (knowledge N2,
N16). The trainer itself checks nothing: it saves NaN weights and exits with 0 (trainer-facts 9).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from gui.engine.documents import Document
from gui.engine.runs.series import step_of
from gui.engine.texts import _
from gui.engine.trainer.tensor_groups import grows_from_little, is_constant
from gui.engine.trainer.tensors import TensorReport

Judgement = Literal["clean", "incomplete", "nonfinite", "after-nonfinite", "grown", "not-checked"]

GROWN_SINCE_BEFORE = 3.0
"""From this factor on, the numbers of a group have jumped against the file before.

Measured with LoRAs of SD 1.5, AdamW, each step saved: a sound training (1e-4, also 1e-3) moves the
down half by less than 1 % a step and 4 % in ten; 1e-1 makes it four times as large in one step, 1
forty times, 1e3 three thousand times. A full model's groups hardly move at all."""

GROWN_SINCE_START = 8.0
"""Likewise against the size with which training starts, for a run's first file.

A whole sound training lies between, so more is allowed: a down half of rank 4 to 128 ends at one to
four times its start, and LoRA-FA starts at 2.4 times the usual (lora_fa.py:79)."""

MUCH_LATER = 4
"""A file with so many times the steps of the one before is judged as against the start."""

LITTLE_RMS = 0.1
"""What starts at zero is measured against this where it was smaller before.

A LoRA's up half grows without bound in proportion in its first steps, by twenty times in thirty steps
of a sound training, yet stays below this size: 0.0008 after 30 steps at 1e-4, 0.004 after 10 at 1e-3.
At 1 it is 0.96 after one step, at 1e3 it is 957."""

NEGLIGIBLE_RMS = 1e-6
"""Below this a group is as good as zero, and its growth tells nothing."""


class CheckpointVerdict(Document):
    """What one file of a series is.

    Attributes:
        path: The file or folder.
        judgement: In one word.
        step: Optimizer steps behind it, where known.
        factor: How many times larger than before the group that has grown most is, for ``grown``.
        group: That group.
        against: The file that it was compared with; None for the start of training.
        sentence: For the user, without the file's name.
    """

    path: str
    judgement: Judgement
    step: int | None = None
    factor: float | None = None
    group: str | None = None
    against: str | None = None
    sentence: str


class _Entry(NamedTuple):
    """A file with what is known about when it was saved.

    Attributes:
        report: What was found in it.
        step: Optimizer steps behind it.
        after_step: The step at which the loss had broken down before it was saved, else None.
        unknown: Whether the loss broke down and it cannot be told which came first.
    """

    report: TensorReport
    step: int | None
    after_step: int | None
    unknown: bool


class _Growth(NamedTuple):
    """How much a group has grown, against what, and the bound for that."""

    factor: float
    group: str
    bound: float
    from_little: bool


def judge_series(
    reports: Sequence[TensorReport],
    first_nonfinite_step: int | None = None,
    steps: Mapping[str, int] | None = None,
) -> list[CheckpointVerdict]:
    """Judge the files of one run.

    Args:
        reports: What was found in them, in the order in which they were saved.
        first_nonfinite_step: The first step whose loss was not finite; a file of that step or a
            later one was saved after it. None when all losses were finite, or nothing is known.
        steps: Steps behind files, by path, where a caller knows them better than names and metadata.

    Returns:
        One verdict a report, in the same order.
    """
    verdicts = []
    reference: _Entry | None = None
    after = False
    for report in reports:
        step = (steps or {}).get(report.path, step_of(Path(report.path), report.steps))
        if first_nonfinite_step is not None and step is not None:
            after = step >= first_nonfinite_step
        unknown = first_nonfinite_step is not None and step is None
        entry = _Entry(report, step, first_nonfinite_step if after else None, unknown)
        verdicts.append(_judge(entry, reference))
        if verdicts[-1].judgement == "clean":
            reference = entry
    return verdicts


def last_clean(verdicts: Iterable[CheckpointVerdict]) -> CheckpointVerdict | None:
    """Return the newest clean file, None when there is none."""
    return next((verdict for verdict in reversed(list(verdicts)) if verdict.judgement == "clean"), None)


def first_bad(verdicts: Iterable[CheckpointVerdict]) -> CheckpointVerdict | None:
    """Return the first file that something is wrong with, None when there is none."""
    return next((v for v in verdicts if v.judgement not in ("clean", "not-checked")), None)


def _judge(entry: _Entry, reference: _Entry | None) -> CheckpointVerdict:
    """Judge one file against the last clean one before it."""
    judgement, sentence = _without_growth(entry)
    verdict = CheckpointVerdict(
        path=entry.report.path, judgement=judgement, step=entry.step, sentence=sentence
    )
    if judgement not in ("clean", "not-checked"):
        return verdict
    growth = _largest_growth(entry, reference)
    if growth is None:
        return verdict
    against = reference.report.path if reference and not growth.from_little else None
    return verdict.model_copy(
        update={
            "judgement": "grown",
            "factor": growth.factor,
            "group": growth.group,
            "against": against,
            "sentence": _grown_sentence(growth, against),
        }
    )


def _without_growth(entry: _Entry) -> tuple[Judgement, str]:
    report = entry.report
    if report.complete is False or not report.readable:
        return "incomplete", _("incomplete: {reason}").format(reason=report.reason)
    if report.finite is False:
        return "nonfinite", _nonfinite_sentence(report)
    if entry.after_step is not None:
        return "after-nonfinite", _after_sentence(report, entry.after_step)
    if not report.checked:
        return "not-checked", _("not checked: {reason}").format(reason=report.reason)
    if entry.unknown:
        return "not-checked", _("finite, but whether it was saved before the loss broke down is not known")
    return "clean", _("clean")


def _nonfinite_sentence(report: TensorReport) -> str:
    return _("{bad} of {tensors} tensors hold NaN or Inf, the first is {name}").format(
        bad=report.bad_tensors, tensors=report.tensors, name=report.bad[0].name
    )


def _after_sentence(report: TensorReport, after_step: int) -> str:
    if report.checked:
        return _("finite, but saved after the loss broke down at step {step}").format(step=after_step)
    return _("not checked, and saved after the loss broke down at step {step}").format(step=after_step)


def _grown_sentence(growth: _Growth, against: str | None) -> str:
    factor = factor_text(growth.factor)
    if growth.from_little:
        sentence = _("finite, but {factor}× as large as is usual ({group})")
        return sentence.format(factor=factor, group=growth.group)
    if against is None:
        sentence = _("finite, but grown {factor}× against the start of the training ({group})")
        return sentence.format(factor=factor, group=growth.group)
    sentence = _("finite, but grown {factor}× against {file} ({group})")
    return sentence.format(factor=factor, file=Path(against).name, group=growth.group)


def factor_text(factor: float) -> str:
    """Return a factor for people: ``9``, ``4.1``, ``3,465``."""
    if factor >= 1e6:
        return _("over a million")
    return f"{factor:.2g}" if factor < 9.95 else f"{factor:,.0f}"


def _largest_growth(entry: _Entry, reference: _Entry | None) -> _Growth | None:
    """Return the group that has grown most beyond its bound; one with a real figure before first."""
    grown = [growth for growth in _growths(entry, reference) if growth.factor >= growth.bound]
    return min(grown, key=lambda growth: (growth.from_little, -growth.factor), default=None)


def _growths(entry: _Entry, reference: _Entry | None) -> Iterator[_Growth]:
    before = reference.report.groups if reference else {}
    for group, norm in entry.report.groups.items():
        if is_constant(group) or not norm.elements:
            continue
        known = before.get(group)
        rms = known.rms if known else norm.start_rms
        near = known is not None and not _much_later(entry, reference)
        bound = GROWN_SINCE_BEFORE if near else GROWN_SINCE_START
        if grows_from_little(group) and (rms or 0.0) < LITTLE_RMS:
            if rms is not None:
                yield _Growth(norm.rms / LITTLE_RMS, group, bound, from_little=True)
        elif rms is not None and rms > NEGLIGIBLE_RMS:
            yield _Growth(norm.rms / rms, group, bound, from_little=False)


def _much_later(entry: _Entry, reference: _Entry | None) -> bool:
    """Whether most of the training so far lies between two files, as with the first one after step 1."""
    if reference is None or reference.step is None or entry.step is None:
        return False
    return entry.step >= MUCH_LATER * reference.step
