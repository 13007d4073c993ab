"""What a plan would need: GPU memory phase by phase, disk and time, and what it rests on."""

from __future__ import annotations

from pydantic import Field

from gui.engine.documents import Document
from gui.engine.hardware.memory.advice import Advised
from gui.engine.hardware.memory.forecasts import MemoryPhase, PhaseName
from gui.engine.hardware.memory.room import Room
from gui.engine.preflight.disk import forecast_disk
from gui.engine.preflight.report import SCHEMA, Forecast, Steps, VramForecast
from gui.engine.preflight.rules.memory_needs import advised, forecast_memory, left_over, room_of
from gui.engine.preflight.steps import forecast_steps
from gui.engine.preflight.view import View


class PlanEstimate(Document):
    """The answer of ``estimate``.

    Attributes:
        script: The training script.
        family: The plan's family.
        forecast: The peak of GPU memory, disk and time, as the check reports them.
        steps: How much would be trained; None when the images are not known.
        peak: The phase that needs most GPU memory; None when unknown.
        phases: Each phase with its parts, GiB.
        unknown: Why nothing can be said of GPU memory; None when it can.
        basis: What that rests on, in words.
        room: What memory the GPU has; None when not known.
        advice: The cheapest changes with which it fits; None where it fits, or nothing is known.
        left_over: What the room that it leaves is good for; None where it leaves none.
    """

    schema_: int = Field(default=SCHEMA, alias="schema")
    script: str
    family: str
    forecast: Forecast
    steps: Steps | None = None
    peak: PhaseName | None = None
    phases: tuple[MemoryPhase, ...] = ()
    unknown: str | None = None
    basis: tuple[str, ...] = ()
    room: Room | None = None
    advice: Advised | None = None
    left_over: Advised | None = None


def forecast_of(view: View) -> Forecast:
    """Return GPU memory, disk and time in short; what is not known is None.

    Args:
        view: The plan and the facts.
    """
    disk, steps, peak = forecast_disk(view), forecast_steps(view), forecast_memory(view).peak
    known = disk is not None and disk.save_bytes is not None
    pace = view.facts.seconds_per_step
    vram = None
    if peak is not None:
        vram = VramForecast(low=round(peak.low, 2), likely=round(peak.likely, 2), high=round(peak.high, 2))
    return Forecast(
        vram_gib=vram,
        disk_gib=round(disk.total_gib, 2) if disk and known else None,
        seconds=round(pace * steps.total_steps, 1) if pace is not None and steps else None,
    )


def estimate_of(view: View) -> PlanEstimate:
    """Return what a plan would need.

    Args:
        view: The plan and the facts.
    """
    needed, room, steps = forecast_memory(view), room_of(view), forecast_steps(view)
    known = needed.unknown is None  # advice on what is not known would be as if it were
    ways_out, spare = (advised(view), left_over(view)) if known else (None, None)
    return PlanEstimate(
        script=view.script,
        family=view.plan.family,
        forecast=forecast_of(view),
        steps=steps.steps() if steps else None,
        peak=needed.peak.name if needed.peak else None,
        phases=needed.phases,
        unknown=needed.unknown,
        basis=needed.basis,
        room=room,
        advice=ways_out if ways_out and ways_out.advice else None,
        left_over=spare if spare and spare.fits and spare.advice else None,
    )
