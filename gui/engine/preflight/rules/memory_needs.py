"""The memory forecast of a plan, and what of the GPU there is for it."""

from __future__ import annotations

from typing import Any

from gui.engine.errors import CannotRead
from gui.engine.hardware.memory.advice import Advised, Ask, advise, spend
from gui.engine.hardware.memory.figures import load_figures
from gui.engine.hardware.memory.forecast import forecast, with_traced
from gui.engine.hardware.memory.forecasts import MemoryForecast
from gui.engine.hardware.memory.ladder import Ways
from gui.engine.hardware.memory.question import MemoryQuestion
from gui.engine.hardware.memory.room import Room
from gui.engine.hardware.memory.tables import load_tables
from gui.engine.preflight.facts import GpuFact
from gui.engine.preflight.rules.caching import CAPTION_CHANGES, IMAGE_CHANGES
from gui.engine.preflight.rules.memory_question import question_of
from gui.engine.preflight.rules.precision import (
    FP16_SAFE_OPTIMIZERS,
    OVERFLOWS_IN_FP16,
    bf16_is_native,
)
from gui.engine.preflight.view import View
from gui.engine.texts import _

FORECAST = "memory_forecast"
"""Under which name a view remembers its forecast: several rules ask for it."""

ASKED = "memory_asked"
"""Under which name it remembers answers: a search for advice asks some things again and again."""

ADVISED = "memory_advised"
"""Under which name it remembers what was advised."""

FUSING_SCRIPTS = frozenset(
    {"sdxl_train.py", "flux_train.py", "sd3_train.py", "lumina_train.py", "anima_train.py"}
)
"""Scripts that do ``fused_backward_pass`` (trainer-facts 2.7)."""


def forecast_memory(view: View) -> MemoryForecast:
    """Return how much GPU memory a plan needs.

    Args:
        view: The plan and the facts.
    """
    if FORECAST not in view.memory:
        view.memory[FORECAST] = _forecast(view)
    known: MemoryForecast = view.memory[FORECAST]
    return known


def least_memory(view: View) -> MemoryForecast:
    """Return what a plan needs at the least where its resolution is not known: one small image."""
    asked, kin = question_of(view), view.kin
    if forecast_memory(view).unknown is None or asked.width_px > 0 or view.facts.gpu == () or kin is None:
        return forecast_memory(view)
    side = kin.resolution.smallest_px
    return ask_about(view)(asked.model_copy(update={"width_px": side, "height_px": side, "batch": 1}))


def room_of(view: View) -> Room | None:
    """Return what memory there is for the plan; None when it is not known.

    Of several GPUs the one with least room decides: each holds everything.
    """
    rooms = [_room_on(gpu, view.facts.os) for gpu in view.gpus]
    known = [room for room in rooms if room is not None]
    return min(known, key=lambda room: room.usable) if known and len(known) == len(rooms) else None


def _room_on(gpu: GpuFact, system: str | None) -> Room | None:
    if gpu.lost or gpu.vram_gib is None or gpu.vram_gib <= 0:
        return None
    free = gpu.vram_gib if gpu.free_gib is None else min(gpu.free_gib, gpu.vram_gib)
    return Room.of(gpu.vram_gib, free, system)


def _forecast(view: View) -> MemoryForecast:
    if view.facts.gpu == ():
        return MemoryForecast(unknown=_("There is no NVIDIA GPU here."))
    return ask_about(view)(question_of(view))


def ask_about(view: View) -> Ask:
    """Return what forecasts questions about the view's machine."""
    try:
        tables, figures = load_tables(), load_figures()
    except CannotRead as error:
        damaged = MemoryForecast(unknown=str(error))
        return lambda question: damaged
    for family, row in view.traced:
        tables = with_traced(tables, family, row)
    prior = figures.prior(view.facts.os)
    known: dict[str, MemoryForecast] = view.memory.setdefault(ASKED, {})

    def ask(question: MemoryQuestion) -> MemoryForecast:
        key = question.model_dump_json()
        if key not in known:
            correction = view.learning.correction(question, prior) if view.learning else prior
            known[key] = forecast(question, tables, correction, figures)
        return known[key]

    return ask


def step_with(view: View, **changes: Any) -> float:
    """Return what a step of the plan will hardly exceed with changes to its question, GiB."""
    phase = ask_about(view)(question_of(view).model_copy(update=changes)).phase("step")
    return phase.high if phase else 0.0


def ways_of(view: View) -> Ways:
    """Return what of a plan can be changed to save memory."""
    script = view.arguments
    known = frozenset(argument.dest for argument in script.arguments.values()) if script else None
    useful = known - view.without_effect if known is not None else None
    limit = view.kin.limits.blocks_to_swap if view.kin else None
    several = view.datasets and view.datasets[0][0] != "dataset"
    place = view.datasets[0][0] if several and len(view.datasets) == 1 else "dataset"
    return Ways(
        known=useful,
        image_changes=_switched_on(view, IMAGE_CHANGES),
        caption_changes=_switched_on(view, CAPTION_CHANGES),
        bf16=bf16_is_native(view),
        fp16=not view.script.startswith(OVERFLOWS_IN_FP16),
        batch_target=f"{place}.batch_size",
        resolution_target=f"{place}.resolution",
        most_swapped=limit or 0,
        can_fuse=view.script in FUSING_SCRIPTS,
        fp16_optimizers=FP16_SAFE_OPTIMIZERS,
    )


def advised(view: View) -> Advised | None:
    """Return the cheapest changes with which a plan fits; None when its room is not known."""
    if ADVISED not in view.memory:
        room = room_of(view)
        view.memory[ADVISED] = (
            advise(_sized(view), room, ways_of(view), ask_about(view)) if room is not None else None
        )
    known: Advised | None = view.memory[ADVISED]
    return known


def left_over(view: View) -> Advised | None:
    """Return what the room that a plan leaves is good for; None when its room is not known."""
    room = room_of(view)
    return spend(question_of(view), room, ways_of(view), ask_about(view)) if room is not None else None


def _sized(view: View) -> MemoryQuestion:
    """Return the plan's question; where its resolution is not known, at the family's own."""
    asked = question_of(view)
    if asked.width_px > 0 or view.kin is None:
        return asked
    width, height = view.kin.resolution.default_px
    return asked.model_copy(update={"width_px": width, "height_px": height})


def _switched_on(view: View, names: tuple[str, ...]) -> bool:
    return any(
        subset.flag(name) or (subset.number(name) or 0) > 0 for subset in view.subsets for name in names
    )
