"""Finds in a run's events where the memory of its GPU ran out, and what was said of it."""

from __future__ import annotations

from typing import NamedTuple

from gui.engine.hardware.memory.forecasts import PhaseName
from gui.engine.runs.events import read_events
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.phase_names import PHASE_NAMES
from gui.engine.trainer.events import Error, Phase
from gui.engine.trainer.shortage import MemoryShortage, read_shortage


class WhereShort(NamedTuple):
    """Where memory ran out.

    Attributes:
        phase: What the training was doing then, or did last where nothing was said of memory.
        shortage: What was said; the first message with numbers, for later ones may follow from it. None
            where nothing was.
    """

    phase: PhaseName
    shortage: MemoryShortage | None


def where_short(run: RunFolder) -> WhereShort:
    """Return where the GPU's memory ran out.

    Args:
        run: The folder.
    """
    now: PhaseName = "load"
    found: WhereShort | None = None
    for event in read_events(run.events):
        if isinstance(event, Phase):
            now = PHASE_NAMES.get(event.phase, now)
        if isinstance(event, Error):
            said = read_shortage(event.message)
            wanted = found is None or found.shortage is None or found.shortage.asked is None
            if said is not None and said.where == "gpu" and wanted:
                found = WhereShort(now, said)
    return found or WhereShort(now, None)
