"""Questions to the memory forecast that tests ask, and their answers before any run was measured."""

from __future__ import annotations

from gui.engine.hardware.memory.figures import load_figures
from gui.engine.hardware.memory.forecast import forecast
from gui.engine.hardware.memory.forecasts import MemoryForecast, MemoryParts
from gui.engine.hardware.memory.question import MemoryQuestion, NetworkQuestion, OptimizerQuestion
from gui.engine.hardware.memory.tables import load_tables

FIGURES = load_figures()
PRIOR = FIGURES.prior("linux")
TABLES = load_tables()
FLUX = NetworkQuestion(module="networks.lora_flux", rank=16)


def asked(**changes) -> MemoryQuestion:
    """An SDXL LoRA of rank 16 at 1024 px with all that costs nothing; changes come on top."""
    usual = {
        "family": "sdxl",
        "width_px": 1024,
        "height_px": 1024,
        "checkpointing": True,
        "mixed_precision": "bf16",
        "latents_cached": True,
        "text_cached": True,
        "optimizer": OptimizerQuestion(name="adamw8bit"),
        "network": NetworkQuestion(rank=16),
    }
    return MemoryQuestion(**{**usual, **changes})


def flux(**changes) -> MemoryQuestion:
    return asked(**{"family": "flux1", "network": FLUX, "fp8": True, **changes})


def full(**changes) -> MemoryQuestion:
    return asked(**{"kind": "full", "network": None, "full_half": True, **changes})


def answer(question: MemoryQuestion) -> MemoryForecast:
    found = forecast(question, TABLES, PRIOR)
    assert found.unknown is None, found.unknown
    return found


def step(question: MemoryQuestion) -> float:
    return answer(question).phase("step").likely


def parts(question: MemoryQuestion) -> MemoryParts:
    return answer(question).phase("step").parts


def named(name: str, **arguments: str) -> OptimizerQuestion:
    return OptimizerQuestion(name=name, arguments=arguments)
