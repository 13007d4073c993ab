"""Looks at a saved state that a plan resumes from, and at the file that was saved beside it.

Nothing is unpickled: the optimizer's state is only known to be there.
Source: trainer-facts 2.3, 7.4 (train_network.py:925-970, train_util.py:90-98, 4777).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from gui.engine.errors import PreflightError
from gui.engine.preflight.file_facts import StateFact
from gui.engine.trainer.model_metadata import ModelFacts, model_facts
from gui.engine.trainer.safetensors_file import SafetensorsHeader, read_header

OPTIMIZER_FILES = ("optimizer.bin", "optimizer.safetensors")
"""Names under which accelerate keeps the optimizer's state."""

NETWORK_FILES = ("model.safetensors", "model_1.safetensors")

STEP_FILE = "train_state.json"
STEP_FILE_BYTES = 4096

STATE_END = "-state"
_COUNTED = re.compile(r"-(?:step(?P<steps>\d{8})|(?P<epochs>\d{6}))-state$")

TEXT_PARTS = ("lora_te", "text_encoder", "oft_te")
"""How the names of a network's parts for text encoders begin (lora.py:900)."""


def look_at_state(resume: str | None) -> StateFact | None:
    """Return what is known about a saved state; None when there is no such folder here."""
    if resume is None or not Path(resume).is_absolute():
        return None
    folder = Path(resume)
    try:
        names = {entry.name for entry in folder.iterdir()}
    except (OSError, ValueError):
        return None
    counted = _COUNTED.search(folder.name)
    unit = next((name for name in ("steps", "epochs") if counted and counted[name]), None)
    network = next((header for name in NETWORK_FILES if (header := _header(folder / name))), None)
    beside = folder.parent / f"{folder.name.removesuffix(STATE_END)}.safetensors"
    saved = _header(beside) if folder.name.endswith(STATE_END) else None
    told = model_facts(saved.metadata) if saved else ModelFacts()
    return StateFact(
        path=resume,
        has_optimizer=any(name in names for name in OPTIMIZER_FILES),
        step=_step(folder / STEP_FILE),
        step_in_name=int(counted[unit]) if counted and unit else None,
        counts=unit,
        rank=_rank(network) if network else None,
        trains_text=_trains_text(network) if network else None,
        optimizer=told.optimizer,
        network=str(beside) if saved else None,
        module=told.network_module,
    )


def _header(path: Path) -> SafetensorsHeader | None:
    try:
        return read_header(path)
    except (PreflightError, OSError):
        return None


def _step(path: Path) -> int | None:
    try:
        with path.open("rb") as file:
            told = json.loads(file.read(STEP_FILE_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    step = told.get("current_step") if isinstance(told, dict) else None
    return step if isinstance(step, int) and not isinstance(step, bool) and step >= 0 else None


def _rank(network: SafetensorsHeader) -> int | None:
    """Return the rank that most parts of a LoRA have; None for other networks."""
    downs = [info.shape for name, info in network.tensors.items() if name.endswith("lora_down.weight")]
    ranks = [shape[0] for shape in downs if shape]
    return max(set(ranks), key=ranks.count) if ranks else None


def _trains_text(network: SafetensorsHeader) -> bool | None:
    parts = [name for name in network.tensors if name.startswith(("lora_", "oft_"))]
    return any(name.startswith(TEXT_PARTS) for name in parts) if parts else None
