"""Converts captions of a plan to UTF-8, as the fix of that name says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gui.engine.dataset.caption_edits import preview, to_utf8
from gui.engine.dataset.caption_originals import write_edits
from gui.engine.dataset.doctor import caption_folder
from gui.engine.dataset.listing import list_folder
from gui.engine.plan.model import TrainingPlan
from gui.engine.preflight.check import Checker
from gui.engine.preflight.dataset_report import spec_of_plan
from gui.engine.texts import _, ngettext


@dataclass(frozen=True)
class Converted:
    """What came of converting captions.

    Attributes:
        done: How many were converted.
        left: Names of those that were not: nothing tells what they are in, or somebody else changed them.
    """

    done: int
    left: tuple[str, ...]

    def words(self) -> str:
        """Return it in words."""
        text = ngettext("{count} caption was converted.", "{count} captions were converted.", self.done)
        words = text.format(count=f"{self.done:,}")
        if self.left:
            words += " " + _("Left as they were: {names}").format(names=", ".join(self.left))
        return words


def convert_captions(
    checker: Checker,
    plan: TrainingPlan,
    target: str = "",
    cancelled: Callable[[], bool] = lambda: False,
) -> Converted:
    """Write captions in UTF-8; their originals are kept beside them.

    Args:
        checker: Knows the folder against which the plan's paths are meant.
        plan: The plan.
        target: The subset, as findings name it; empty takes all.
        cancelled: Asked at each caption; True ends it.

    Raises:
        PlanNotRunnable: Nothing tells which script would read the images.
        CannotRead: A folder cannot be listed.
        CannotWrite: A caption or its original cannot be written; those before are.
        Cancelled: The caller asked for it.
    """
    spec = spec_of_plan(checker, plan)
    done, left = 0, []
    for subset in spec.subsets:
        if target not in ("", subset.target):
            continue
        listing = list_folder(subset.image_dir, subset.caption_extension, spec.suffixes)
        where = caption_folder(subset, listing)
        if where is not None:
            shown = preview(where, to_utf8, cancelled=cancelled)
            written = write_edits(shown, cancelled=cancelled)
            done += len(written.done)
            left += [*shown.unreadable, *written.left]
    return Converted(done, tuple(left))
