"""Looks at a saved state that a plan resumes from, and at the file that was saved beside it.

Nothing is unpickled: the optimizer's state is only known to be there, and of the schedule its numbers are
read. Which files loading needs: accelerate 1.6, ``checkpointing.py`` 217-299.
Source: trainer-facts 2.3, 7.4 (train_network.py:925-970, train_util.py:90-98, 4777).
"""

from __future__ import annotations

import re
from pathlib import Path

from gui.engine.errors import PreflightError
from gui.engine.preflight.file_facts import StateFact
from gui.engine.trainer.model_metadata import ModelFacts, model_facts
from gui.engine.trainer.safetensors_file import SafetensorsHeader, read_header
from gui.engine.trainer.saved_state import SCHEDULE_FILE, state_numbers
from gui.engine.trainer.tensors import check_tensors, file_is_whole

OPTIMIZER_FILES = ("optimizer.bin", "optimizer.safetensors")
"""Names under which accelerate keeps the optimizer's state."""

NETWORK_FILES = ("model.safetensors", "model_1.safetensors")

WEIGHT_FILES = (*NETWORK_FILES, "pytorch_model.bin")
"""Names under which accelerate keeps the weights."""

SCALER_FILE = "scaler.pt"

STATE_END = "-state"
_COUNTED = re.compile(r"-(?:step(?P<steps>\d{8})|(?P<epochs>\d{6}))-state$")

TEXT_PARTS = ("lora_te", "text_encoder", "oft_te")
"""How the names of a network's parts for text encoders begin (lora.py:900)."""

LARGEST_BYTES = 2 << 30
"""The numbers of larger weights are not looked at: a full model's would take half a minute."""

_Mark = tuple[str, int, int]


class StateLooker:
    """Remembers whether the weights of a state are finite, so that no check reads them twice."""

    def __init__(self) -> None:
        self._finite: dict[_Mark, bool | None] = {}

    def fact(self, resume: str | None) -> StateFact | None:
        """Return what is known about a saved state; None when there is no such folder here."""
        known = look_at_state(resume)
        if known is None:
            return None
        path = next((file for name in NETWORK_FILES if (file := Path(known.path, name)).is_file()), None)
        return known.model_copy(update={"finite": self._is_finite(path) if path else None})

    def _is_finite(self, path: Path) -> bool | None:
        try:
            found = path.stat()
            mark = (str(path), found.st_mtime_ns, found.st_size)
            if mark not in self._finite:
                small = found.st_size <= LARGEST_BYTES
                self._finite = {mark: check_tensors(path).finite if small else None}
        except (OSError, PreflightError):
            return None
        return self._finite[mark]


def look_at_state(resume: str | None) -> StateFact | None:
    """Return what is known about a saved state without its numbers; None when there is no such folder."""
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
    numbers = state_numbers(folder)
    return StateFact(
        path=resume,
        has_optimizer=any(name in names for name in OPTIMIZER_FILES),
        lacks=_lacking(folder, names),
        has_scaler=SCALER_FILE in names,
        has_random=numbers.has_random,
        step=numbers.counted,
        scheduled=numbers.scheduled,
        rates=numbers.rates,
        step_in_name=int(counted[unit]) if counted and unit else None,
        counts=unit,
        rank=_rank(network) if network else None,
        trains_text=_trains_text(network) if network else None,
        optimizer=told.optimizer,
        network=str(beside) if saved else None,
        module=told.network_module,
        precision=told.precision,
    )


def is_whole_state(state: StateFact | None) -> bool:
    """Whether a saved state can be loaded; some optimizers have no schedule that could be missing."""
    return state is not None and state.has_optimizer and not set(state.lacks) - {SCHEDULE_FILE}


def _lacking(folder: Path, names: set[str]) -> tuple[str, ...]:
    """Return what loading needs and is not there, or not as a whole: copies end halfway, and saves do."""
    needed = (WEIGHT_FILES, tuple(names & set(OPTIMIZER_FILES)), (SCHEDULE_FILE,))
    return tuple(some[0] for some in needed if some and not any(_is_whole(folder / name) for name in some))


def _is_whole(path: Path) -> bool:
    try:
        return file_is_whole(path)
    except (OSError, PreflightError):
        return False


def _header(path: Path) -> SafetensorsHeader | None:
    try:
        return read_header(path)
    except (PreflightError, OSError):
        return None


def _rank(network: SafetensorsHeader) -> int | None:
    """Return the rank that most parts of a LoRA have; None for other networks."""
    downs = [info.shape for name, info in network.tensors.items() if name.endswith("lora_down.weight")]
    ranks = [shape[0] for shape in downs if shape]
    return max(set(ranks), key=ranks.count) if ranks else None


def _trains_text(network: SafetensorsHeader) -> bool | None:
    parts = [name for name in network.tensors if name.startswith(("lora_", "oft_"))]
    return any(name.startswith(TEXT_PARTS) for name in parts) if parts else None
