"""What the panels of the Data page are shown: one dataset, and what is known about it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gui.engine.dataset.report import DatasetReport
    from gui.engine.dataset.spec import DatasetSpec
    from gui.window.models.plan_document import PlanDocument


@dataclass(frozen=True)
class DatasetView:
    """One dataset as it was looked at.

    Attributes:
        spec: Its folders, and how they are meant.
        report: What was found; None before the first look is over.
        memory: Where the cache of images and captions lies: ``ImageCache(memory)`` of the thread that
            asks, ``CaptionRecords(memory)``.
        document: The open plan, where the dataset is the plan's; None for a folder that was only looked
            at, to which no change of the plan belongs.
        family: The plan's model family; empty when it is not known.
        trigger: The word that calls up what is taught; empty when there is none.
    """

    spec: DatasetSpec
    report: DatasetReport | None
    memory: Path
    document: PlanDocument | None = None
    family: str = ""
    trigger: str = ""
