"""What was last seen at the paths of plans, for answers that do not wait for the disk."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from gui.engine.plan.paths import PATH_ARGUMENTS, PATH_OR_HUB_ARGUMENTS
from gui.engine.preflight.facts import DatasetFact, Facts, SubsetFact
from gui.engine.preflight.place_look import named_places
from gui.engine.preflight.surroundings import DiskFact, TextFact
from gui.engine.preflight.text_look import named_texts

if TYPE_CHECKING:
    from gui.engine.plan.model import TrainingPlan
    from gui.engine.preflight.view import SubsetView, View

Fact = TypeVar("Fact", DiskFact, TextFact)

SubsetKey = tuple[str, str]
"""Folder and caption extension: what decides about the files of a subset."""

BUCKETS = (
    *("resolution", "enable_bucket", "bucket_no_upscale"),
    *("min_bucket_reso", "max_bucket_reso", "bucket_reso_steps"),
)
"""Options of a dataset that decide which caches would be used again."""

TO_DISK = ("cache_latents_to_disk", "cache_text_encoder_outputs_to_disk")


class FilesSeen:
    """What was last seen at the paths of plans, for answers that do not wait for the disk."""

    def __init__(self) -> None:
        self._facts = Facts()
        self._subsets: dict[SubsetKey, SubsetFact] = {}
        self._beside: dict[SubsetKey, tuple[Any, ...]] = {}
        self._texts: frozenset[str] = frozenset()
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
        self._beside = {_key(subset): _beside(view, subset) for subset in view.subsets}
        self._texts = frozenset(str(path) for _target, path in named_texts(view))
        self._facts = facts
        self._places = _places(view)
        self._looked_at = time.monotonic()

    def knows(self, view: View) -> bool:
        """Return whether everything that a plan names was looked at before."""
        return (
            self._places == _places(view)
            and all(self._knows_subset(view, subset) or not subset.own for subset in view.subsets)
            and all(path in self._facts.paths for path in _paths(view.plan))
            and all(str(path) in self._texts for _target, path in named_texts(view))
        )

    def recall(self, view: View, machine: Facts) -> Facts:
        """Return what is still true for a plan that may have changed since; the rest is unknown."""
        facts = self._facts
        same = self._places == _places(view)
        named = set(_paths(view.plan))
        resumed = facts.state is not None and facts.state.path == view.text("resume")
        return machine.model_copy(
            update={
                "paths": facts.paths,
                "model": tuple(each for each in facts.model if each.path in named),
                "text": _again(facts.text, ((target, str(path)) for target, path in named_texts(view))),
                "disk": _again(facts.disk, named_places(view)),
                "hub": facts.hub,
                "offline": facts.offline,
                "state": facts.state if resumed else None,
                "dataset": self._dataset(view, facts.dataset, same=same),
                "disk_free_gib": facts.disk_free_gib if same else None,
                "existing_outputs": facts.existing_outputs if same else (),
                "locked_outputs": facts.locked_outputs if same else (),
            }
        )

    def _knows_subset(self, view: View, subset: SubsetView) -> bool:
        return _key(subset) in self._subsets and self._beside[_key(subset)] == _beside(view, subset)

    def _dataset(self, view: View, known: DatasetFact | None, *, same: bool) -> DatasetFact | None:
        if known is None:
            return None
        if not any(subset.own for subset in view.subsets):
            return known if same and not known.subsets else None
        facts = [self._subset(view, subset) for subset in view.subsets]
        training = [fact for fact, each in zip(facts, view.subsets, strict=True) if not each.flag("is_reg")]
        counts = [fact.images for fact in training if fact.images is not None]
        images = sum(counts) if len(counts) == len(training) else None
        return known.model_copy(update={"subsets": tuple(facts), "images": images})

    def _subset(self, view: View, subset: SubsetView) -> SubsetFact:
        """Return what is known of a subset; of what lies beside its images only where that still counts."""
        fact = self._subsets.get(_key(subset), SubsetFact(image_dir=_key(subset)[0]))
        if self._knows_subset(view, subset):
            return fact
        return fact.model_copy(update={"caches": None, "pairs": None})


def _again(known: Iterable[Fact], named: Iterable[tuple[str, str]]) -> tuple[Fact, ...]:
    """Return what is known of paths, under the targets that name them now."""
    by_path = {fact.path: fact for fact in known}
    return tuple(
        by_path[path].model_copy(update={"argument": target}) for target, path in named if path in by_path
    )


def _beside(view: View, subset: SubsetView) -> tuple[Any, ...]:
    """What decides about the caches and conditioning images that a subset would use."""
    flags = tuple(view.flag(name) for name in TO_DISK)
    pairs = subset.own.get("conditioning_data_dir")
    if not any(flags):
        return (pairs,)
    dataset = view.dataset_of(subset)
    options = tuple(repr(dataset.value(name)) for name in BUCKETS)
    return pairs, view.script, *flags, subset.flag("cache_info"), *options


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
