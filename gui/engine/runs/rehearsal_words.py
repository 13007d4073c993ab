"""Puts what a rehearsal has shown into words, line by line, everywhere alike."""

from __future__ import annotations

from collections.abc import Iterator

from gui.engine.hardware.memory.words import phase_words
from gui.engine.quantities import about
from gui.engine.runs.figures import size
from gui.engine.runs.rehearsal_result import RehearsalResult
from gui.engine.texts import _


def rehearsal_verdict(result: RehearsalResult) -> str:
    """Return in one sentence whether to launch the plan."""
    verdicts = {"go": _("go: nothing speaks against it."), "no-go": _("no-go: do not launch it as it is.")}
    if result.order.kind == "isolation":
        verdicts = {
            "go": _("go: on so few images the settings train. If the whole plan fails, look at its images."),
            "no-go": _("no-go: it fails on so few images too. Look at the settings first."),
        }
    return verdicts.get(result.verdict or "", _("It cannot be told."))


def rehearsal_figures(result: RehearsalResult) -> Iterator[str]:
    """Return what was done, and what it took of memory, time and disk."""
    width, height = result.order.bucket
    yield _("{steps} steps at {width}×{height}, batch {batch}").format(
        steps=result.steps, width=width, height=height, batch=result.order.batch
    )
    names = phase_words()
    for phase in result.phases:
        words = _("{seconds:.1f} s").format(seconds=phase.seconds)
        if phase.measured is not None:
            words += _(", {gib:.1f} GiB").format(gib=phase.measured)
        if phase.likely is not None:
            words += _(" (forecast {gib:.1f})").format(gib=phase.likely)
        yield f"  {names[phase.name]}: {words}"
    if result.seconds_per_step is not None:
        yield _("each step {seconds:.2f} s").format(seconds=result.seconds_per_step)
    if result.whole_seconds is not None:
        yield _("the whole plan: {time}").format(time=about(result.whole_seconds))
    if result.save_bytes is not None:
        yield _("each saved model {size}").format(size=size(result.save_bytes))
    if result.whole_bytes is not None:
        yield _("on the disk altogether {size}").format(size=size(result.whole_bytes))
