"""Two saved models beside each other: what differs in how they were made, and how far each block moved."""

from __future__ import annotations

from pathlib import Path

from gui.engine.documents import Document
from gui.engine.errors import CannotRead
from gui.engine.runs.block_growth import BlockGrowth, block_growth
from gui.engine.runs.model_card import CardRow, ModelCard, model_card
from gui.engine.trainer.tensor_scan import CancelledAsk, Progress
from gui.engine.trainer.tensors import TensorReport, check_tensors

FILES = 2


class CardDifference(Document):
    """A line of the card that is not the same in both.

    Attributes:
        what: Its name.
        first: What the first file says; empty where it says nothing.
        second: What the second one says.
    """

    what: str
    first: str
    second: str


class FileComparison(Document):
    """Two files.

    Attributes:
        first: The first one, as what was found in it.
        second: The second one.
        differences: Of their cards.
        blocks: Of both, from the first to the second.
    """

    first: TensorReport
    second: TensorReport
    differences: tuple[CardDifference, ...]
    blocks: tuple[BlockGrowth, ...]


def compare_files(
    first: Path, second: Path, progress: Progress | None = None, cancelled: CancelledAsk | None = None
) -> FileComparison:
    """Read two files and compare them.

    Args:
        first: A model file.
        second: Another one.
        progress: Told how many of both files' bytes are read.
        cancelled: Asked whether to give up.

    Raises:
        CannotRead: One of them is missing or no model.
        Cancelled: ``cancelled`` said so.
    """
    sizes = [path.stat().st_size if path.exists() else 0 for path in (first, second)]
    reports = []
    for number, path in enumerate((first, second)):
        before = sum(sizes[:number])
        reports.append(check_tensors(path, _of_both(progress, before, sum(sizes)), cancelled))
    cards = [_card(path) for path in (first, second)]
    return FileComparison(
        first=reports[0],
        second=reports[1],
        differences=tuple(card_differences(*cards)),
        blocks=tuple(block_growth(reports[0], reports[1])),
    )


def card_differences(first: ModelCard, second: ModelCard) -> list[CardDifference]:
    """Return the lines of two cards that differ, in the order of the second one's."""
    one, two = dict(first.rows), dict(second.rows)
    names = [*two, *(name for name in one if name not in two)]
    return [
        CardDifference(what=name, first=one.get(name, ""), second=two.get(name, ""))
        for name in names
        if one.get(name) != two.get(name)
    ]


def _card(path: Path) -> ModelCard:
    try:
        return model_card(path)
    except CannotRead:
        return ModelCard(title=path.stem, rows=tuple[CardRow, ...]())


def _of_both(progress: Progress | None, before: int, total: int) -> Progress | None:
    return None if progress is None else lambda done, _of_this: progress(before + done, total)
