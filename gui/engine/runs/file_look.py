"""All that is shown of one saved file of a run: card, blocks, samples, and how to go on from it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gui.engine.documents import Document
from gui.engine.errors import CannotRead, PreflightError
from gui.engine.plan.changes import Change, apply_changes, differences
from gui.engine.runs.block_growth import BlockGrowth, block_growth
from gui.engine.runs.checksum import known_checksum
from gui.engine.runs.continuing import Continuation, continuation
from gui.engine.runs.file_comparison import CardDifference, card_differences
from gui.engine.runs.file_origin import SamplesThen, samples_of_file
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.model_card import ModelCard, model_card
from gui.engine.runs.reuse import plan_of_run
from gui.engine.runs.status import FileNow
from gui.engine.trainer.tensor_scan import CancelledAsk
from gui.engine.trainer.tensors import TensorReport, check_tensors


class FileLook(Document):
    """What is shown of a file.

    Attributes:
        path: The file or state, a kept copy where the trainer has removed its own.
        card: What it says of itself; None for a state and other files without a header.
        against: The file that it is compared with; None for none.
        growth: Its blocks, beside those of that file.
        differences: Lines of the card that are others there.
        samples: Drawn about then.
        on: How to go on from it; None where that is not possible.
        changes: What differs then from the run's plan.
        why_not: Why it is not possible.
    """

    path: Path
    card: ModelCard | None = None
    against: Path | None = None
    growth: tuple[BlockGrowth, ...] = ()
    differences: tuple[CardDifference, ...] = ()
    samples: SamplesThen = SamplesThen()
    on: Continuation | None = None
    changes: tuple[Change, ...] = ()
    why_not: str = ""


def place_of(file: FileNow) -> Path:
    """Return where a file's content is now."""
    return file.kept_as if file.removed and file.kept_as else file.path


def comparable(files: Sequence[FileNow], file: FileNow) -> list[Path]:
    """Return the other models that a file can be compared with; the one saved before it comes first."""
    models = [each for each in files if each.kind == "model" and (each.kept_as or not each.removed)]
    if file not in models:
        return []
    at = models.index(file)
    return [place_of(each) for each in (*reversed(models[:at]), *models[at + 1 :])]


def look_at_file(
    run: RunFolder, file: FileNow, against: Path | None, cancelled: CancelledAsk | None = None
) -> FileLook:
    """Look at one saved file of a run; what cannot be read is left out.

    Args:
        run: Its folder.
        file: The file or state.
        against: Another model file to compare it with.
        cancelled: Asked whether to give up.

    Raises:
        Cancelled: ``cancelled`` said so.
    """
    path = place_of(file)
    look = FileLook(path=path, samples=samples_of_file(run, file.path), **_going_on(run, path))
    if file.kind == "state":
        return look
    card = _card(path)
    before = _report(against, cancelled) if against else None
    report = _report(path, cancelled)
    other = _card(against) if against and card else None
    return look.model_copy(
        update={
            "card": card,
            "against": against if before else None,
            "growth": tuple(block_growth(before, report)) if report else (),
            "differences": tuple(card_differences(other, card)) if other and card else (),
        }
    )


def _going_on(run: RunFolder, path: Path) -> dict[str, Any]:
    try:
        found = continuation(run, path)
        before = plan_of_run(run).plan
    except PreflightError as error:
        return {"why_not": str(error)}
    changes = differences(before, apply_changes(before, found.changes))
    return {"on": found, "changes": tuple(change for change in changes if change.target != "plan.without")}


def _card(path: Path) -> ModelCard | None:
    try:
        return model_card(path, known_checksum(path))
    except CannotRead:
        return None


def _report(path: Path, cancelled: CancelledAsk | None) -> TensorReport | None:
    try:
        return check_tensors(path, None, cancelled)
    except CannotRead:
        return None
