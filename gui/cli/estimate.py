"""``estimate PLAN``: what a plan would need of the GPU, the disk and your time."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from gui.cli.check import add_check_arguments, prepare
from gui.engine.hardware.memory.forecasts import peak_of
from gui.engine.hardware.memory.words import advice_line, fitting_words, parts_in_words, phase_words
from gui.engine.preflight.estimate import PlanEstimate, estimate_of
from gui.engine.preflight.finding_words import finding_lines
from gui.engine.quantities import about
from gui.engine.texts import _


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    add_check_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Print the estimate.

    Returns:
        1 when nothing tells how the plan would be trained, else 0.
    """
    given, checker = prepare(options)
    for note in given.file.notes:
        print(note, file=sys.stderr)
    view, findings = checker.view(given.file.plan)
    if view is None:
        for finding in findings:
            print("\n".join(finding_lines(finding)), file=sys.stderr)
        return 1
    estimate = estimate_of(view)
    if options.json:
        print(estimate.model_dump_json(by_alias=True, indent=2))
    else:
        print("\n".join(_lines(estimate)))
    return 0


def _lines(estimate: PlanEstimate) -> Iterator[str]:
    yield from _memory(estimate)
    forecast = estimate.forecast
    disk = _("{gib:.1f} GiB").format(gib=forecast.disk_gib) if forecast.disk_gib is not None else _("unknown")
    yield _("disk: {amount}").format(amount=disk)
    steps = estimate.steps.total_steps if estimate.steps else None
    seconds = forecast.seconds
    time = about(seconds) if seconds is not None else _("unknown until such a plan ran here")
    yield _("time: {time}").format(time=time) + (_(" ({steps} steps)").format(steps=steps) if steps else "")


def _memory(estimate: PlanEstimate) -> Iterator[str]:
    if estimate.unknown is not None:
        yield _("GPU memory: unknown. {reason}").format(reason=estimate.unknown)
        return
    yield _("GPU memory, GiB (low – likely – high):")
    names = phase_words()
    width = max(len(names[phase.name]) for phase in estimate.phases)
    for phase in estimate.phases:
        mark = "→" if phase.name == estimate.peak else " "
        figures = f"{phase.low:5.1f} – {phase.likely:5.1f} – {phase.high:5.1f}"
        yield f" {mark} {names[phase.name]:<{width}}  {figures}  {parts_in_words(phase.parts)}"
    if estimate.room is not None:
        yield _("the GPU: {total:.1f} GiB, {free:.1f} free, {reserve:.1f} of it better left over").format(
            total=estimate.room.total, free=estimate.room.free, reserve=estimate.room.reserve
        )
    yield from _advice(estimate)
    yield from estimate.basis


def _advice(estimate: PlanEstimate) -> Iterator[str]:
    peak, room, advised = peak_of(estimate.phases), estimate.room, estimate.advice
    if advised is not None:
        yield _("so that it fits:") if advised.fits else _("what saves memory, though not enough:")
        for advice in advised.advice:
            yield f"   {advice_line(advice)}"
    if peak is not None and room is not None:
        yield fitting_words(peak, room, advised)
    if estimate.left_over is not None:
        yield _("what the room that is left is good for:")
        for advice in estimate.left_over.advice:
            yield f"   {advice.reason} {advice.cost}"
