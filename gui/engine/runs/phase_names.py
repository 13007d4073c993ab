"""Which phase of the memory forecast each phase of the trainer is."""

from __future__ import annotations

from collections.abc import Mapping

from gui.engine.hardware.memory.forecasts import PhaseName
from gui.engine.trainer.events import PhaseName as TrainerPhase

PHASE_NAMES: Mapping[TrainerPhase, PhaseName] = {
    "loading": "load",
    "caching-latents": "latents",
    "caching-text": "text",
    "training": "step",
    "validating": "step",
    "sampling": "samples",
    "saving": "saving",
}
