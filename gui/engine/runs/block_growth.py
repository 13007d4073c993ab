"""How much each block of a model has moved from one saved file to another."""

from __future__ import annotations

from gui.engine.documents import Document
from gui.engine.runs.checkpoints import NEGLIGIBLE_RMS
from gui.engine.trainer.tensors import TensorReport


class BlockGrowth(Document):
    """One block in two files.

    Attributes:
        block: Its name.
        before: Root mean square in the earlier file; None where that has no such block.
        after: In the later one; None likewise.
    """

    block: str
    before: float | None
    after: float | None

    @property
    def factor(self) -> float | None:
        """How many times as large it is; None where one of them is missing or next to nothing."""
        if self.before is None or self.after is None or self.before < NEGLIGIBLE_RMS:
            return None
        return self.after / self.before


def block_growth(before: TensorReport | None, after: TensorReport) -> list[BlockGrowth]:
    """Return the blocks of two files, in the order in which the model goes through them.

    Args:
        before: The earlier file; None for a run's first.
        after: The later one.
    """
    earlier = before.blocks if before else {}
    names = [*after.blocks, *(name for name in earlier if name not in after.blocks)]
    return [BlockGrowth(block=name, before=_rms(before, name), after=_rms(after, name)) for name in names]


def _rms(report: TensorReport | None, block: str) -> float | None:
    norm = report.blocks.get(block) if report else None
    return norm.rms if norm is not None and norm.elements else None
