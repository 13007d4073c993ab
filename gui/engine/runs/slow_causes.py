"""Names why a training has slowed down, from what is seen of GPU and machine at that moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gui.engine.hardware.gpu import ThrottleReason
from gui.engine.texts import _

_HEAT: frozenset[ThrottleReason] = frozenset({"heat", "heat-hardware"})
_POWER: frozenset[ThrottleReason] = frozenset({"hardware-slowdown", "power-brake"})

IDLE_PERCENT = 40.0
"""A GPU that is at work for less of the time waits for something."""

RAM_SHORT_BYTES = 512 << 20


@dataclass(frozen=True)
class SlowFacts:
    """What was seen when the steps became slower.

    Attributes:
        spilling: Whether memory spills over.
        retries: How often torch had to give memory back and take it anew since the looks before.
        throttle: What slows the GPU down.
        temperature_c: Its temperature.
        utilisation_percent: Share of the time in which it computed.
        holders: Other programs on it and what they hold.
        ram_available_bytes: RAM that can still be had.
    """

    spilling: bool = False
    retries: int = 0
    throttle: Sequence[ThrottleReason] = ()
    temperature_c: float | None = None
    utilisation_percent: float | None = None
    holders: Sequence[str] = ()
    ram_available_bytes: int | None = None


def slow_cause(facts: SlowFacts) -> str:
    """Return why a training has slowed down, the surest reason first; empty where nothing shows."""
    return next(_causes(facts), "")


def _causes(facts: SlowFacts) -> Iterator[str]:
    if facts.spilling:
        yield _("The memory of the GPU is full and spills over into RAM.")
    if facts.retries > 0:
        yield _("The GPU is so full that torch gives memory back and takes it anew, again and again.")
    if _HEAT.intersection(facts.throttle):
        degrees = "–" if facts.temperature_c is None else f"{facts.temperature_c:.0f}"
        yield _("The GPU is hot ({degrees} °C) and clocks down.").format(degrees=degrees)
    if _POWER.intersection(facts.throttle):
        yield _("The GPU clocks down because its power supply asks it to.")
    if facts.ram_available_bytes is not None and facts.ram_available_bytes < RAM_SHORT_BYTES:
        yield _("The RAM of the machine is full, and memory is moved to the disk.")
    if facts.holders:
        yield _("Other programs use the GPU too: {programs}.").format(programs=", ".join(facts.holders))
    busy = facts.utilisation_percent
    if busy is not None and busy < IDLE_PERCENT:
        text = _("The GPU waits most of the time (at work {percent} %): images come too slowly.")
        yield text.format(percent=f"{busy:.0f}")
