"""What was last seen at the paths of plans, for answers that do not wait for the disk."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gui.engine.plan.paths import PATH_ARGUMENTS, PATH_OR_HUB_ARGUMENTS
from gui.engine.preflight.facts import DatasetFact, Facts, SubsetFact

if TYPE_CHECKING:
    from gui.engine.plan.model import TrainingPlan
    from gui.engine.preflight.view import SubsetView, View

SubsetKey = tuple[str, str]
"""Folder and caption extension: what decides about the facts of a subset."""


class FilesSeen:
    """What was last seen at the paths of plans, for answers that do not wait for the disk."""

    def __init__(self) -> None:
        self._facts = Facts()
        self._subsets: dict[SubsetKey, SubsetFact] = {}
        self._places: tuple[Any, ...] = ()
        self._looked_at = 0.0

    @property
    def age_seconds(self) -> float:
        """How long ago the last look was."""
        return time.monotonic() - self._looked_at

    def keep(self, view: View, facts: Facts) -> None:
        """Remember what a look has found."""
        known = facts.dataset.subsets if facts.dataset else ()
        fits = len(known) == len(view.subsets)
        self._subsets = dict(zip(map(_key, view.subsets), known, strict=True)) if fits else {}
        self._facts = facts
        self._places = _places(view)
        self._looked_at = time.monotonic()

    def knows(self, view: View) -> bool:
        """Return whether everything that a plan names was looked at before."""
        return (
            self._places == _places(view)
            and all(_key(subset) in self._subsets or not subset.own for subset in view.subsets)
            and all(path in self._facts.paths for path in _paths(view.plan))
        )

    def recall(self, view: View, machine: Facts) -> Facts:
        """Return what is still true for a plan that may have changed since; the rest is unknown."""
        facts = self._facts
        same = self._places == _places(view)
        named = set(_paths(view.plan))
        return machine.model_copy(
            update={
                "paths": facts.paths,
                "model": tuple(each for each in facts.model if each.path in named),
                "dataset": self._dataset(view, facts.dataset),
                "disk_free_gib": facts.disk_free_gib if same else None,
                "existing_outputs": facts.existing_outputs if same else (),
            }
        )

    def _dataset(self, view: View, known: DatasetFact | None) -> DatasetFact | None:
        if known is None or not any(subset.own for subset in view.subsets):
            return None
        subsets = self._subsets
        facts = [subsets.get(_key(each), SubsetFact(image_dir=_key(each)[0])) for each in view.subsets]
        training = [fact for fact, each in zip(facts, view.subsets, strict=True) if not each.flag("is_reg")]
        counts = [fact.images for fact in training if fact.images is not None]
        images = sum(counts) if len(counts) == len(training) else None
        return known.model_copy(update={"subsets": tuple(facts), "images": images})


def _key(subset: SubsetView) -> SubsetKey:
    return str(subset.value("image_dir") or ""), str(subset.value("caption_extension") or "")


def _places(view: View) -> tuple[Any, ...]:
    own = view.own or view.plan
    return view.value("output_dir"), view.value("output_name"), own.arguments.get("train_data_dir")


def _paths(plan: TrainingPlan) -> Iterator[str]:
    """All paths that a collector looks at beside folders of images."""
    for name in (PATH_ARGUMENTS | PATH_OR_HUB_ARGUMENTS) & plan.arguments.keys():
        value = plan.arguments[name]
        for text in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(text, str) and Path(text).is_absolute():
                yield text
