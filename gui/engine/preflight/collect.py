"""Collects the facts of this machine for one plan: hardware, trainer, disks, folders, paths."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gui.engine.dataset.folder_records import FolderRecords
from gui.engine.dataset.listing import holds_images, list_folder, suffixes_read
from gui.engine.errors import CannotRead
from gui.engine.hardware.disks import Disks
from gui.engine.hardware.gpu import GpuMonitor, machine_gpus
from gui.engine.hardware.host import HostMonitor
from gui.engine.hardware.visible import CHOOSING
from gui.engine.patience import within
from gui.engine.plan.dataset_options import folder_name_parts
from gui.engine.plan.paths import PATH_ARGUMENTS, PATH_OR_HUB_ARGUMENTS, absolute
from gui.engine.preflight.facts import (
    DatasetFact,
    Facts,
    GpuFact,
    Layout,
    PathFact,
    SubsetFact,
    TrainerFact,
)
from gui.engine.preflight.machine_look import gpu_facts, host_facts
from gui.engine.preflight.model_facts import ModelLooker
from gui.engine.preflight.place_look import disk_facts, hub_models, is_offline, locked_outputs, reachable
from gui.engine.preflight.state_look import StateLooker
from gui.engine.preflight.subset_look import IMAGES_LOOKED_AT, look_at_subset
from gui.engine.preflight.surroundings import RunFact, TrainerGpuFact
from gui.engine.preflight.text_look import TextLooker
from gui.engine.preflight.view import View
from gui.engine.trainer.facts import TrainerFacts
from gui.engine.trainer.final_file import is_written_by
from gui.engine.trainer.requirements import pinned

DRIVER_SECONDS = 20.0
"""A GPU driver that has not answered by then hangs; the GPUs are unknown."""

FOLDERS_LOOKED_INTO = 200
"""Where a folder of images is looked for; nobody has as many."""


@dataclass
class Collector:
    """Collects facts of this machine; hardware is asked once, files at each call.

    Args:
        trainer: What is known about the trainer; None when there is none.
        practice: Whether it is the practice trainer.
        gpus: Looks at the GPUs.
        host: Looks at the machine.
        models: Looks at model files.
        texts: Looks at text files.
        states: Looks at saved states.
        runs: Tells which runs of this program are alive.
        records: What scans of folders found out; None takes no notice of any.
    """

    trainer: TrainerFacts | None = None
    practice: bool = False
    gpus: GpuMonitor = field(default_factory=machine_gpus)
    host: HostMonitor = field(default_factory=HostMonitor)
    models: ModelLooker = field(default_factory=ModelLooker)
    texts: TextLooker = field(default_factory=TextLooker)
    states: StateLooker = field(default_factory=StateLooker)
    runs: Callable[[], tuple[RunFact, ...]] = tuple
    records: FolderRecords | None = None

    @property
    def suffixes(self) -> frozenset[str]:
        """What the trainer reads as images."""
        return _suffixes(self.trainer)

    def machine(self) -> Facts:
        """Return what is true whatever the plan: the system, memory, GPUs, the trainer."""
        runs = self.runs()
        return Facts.model_validate(
            {
                **host_facts(self.host),
                "gpu": self._gpus(runs),
                "gpu_choice": {name: os.environ[name] for name in CHOOSING if name in os.environ},
                "trainer": trainer_fact(self.trainer, practice=self.practice) if self.trainer else None,
                "run": runs,
            }
        )

    def _gpus(self, runs: tuple[RunFact, ...]) -> tuple[GpuFact, ...] | None:
        """Return the GPUs; None when the driver does not answer: a broken one may hang for good."""
        try:
            return within(DRIVER_SECONDS, lambda: tuple(gpu_facts(self.gpus, runs)))
        except TimeoutError:
            return None

    def of_plan(self, view: View, machine: Facts, base: Path) -> Facts:
        """Return the facts with what the plan's own paths and folders tell.

        Args:
            view: The plan as the trainer would understand it, its paths absolute.
            machine: What is true whatever the plan.
            base: The folder against which the user's own relative paths are meant.
        """
        disks = Disks()
        seen = reachable(view, disks, base)
        disk = disk_facts(view, disks)
        existing = existing_outputs(seen)
        return machine.model_copy(
            update={
                "paths": dict(_paths(seen)),
                "model": self.models.facts(seen.plan),
                "text": self.texts.facts(seen),
                "dataset": _dataset(seen, self.suffixes, base, self.records),
                "disk": disk,
                "disk_free_gib": next(
                    (each.free_gib for each in disk if each.argument == "output_dir"), None
                ),
                "existing_outputs": existing,
                "locked_outputs": locked_outputs(seen, existing),
                "hub": hub_models(seen, os.environ),
                "offline": is_offline(os.environ),
                "state": self.states.fact(seen.text("resume")),
            }
        )


def existing_outputs(view: View) -> tuple[str, ...]:
    """Return the names in the output folder that the run would write over."""
    folder, name = view.text("output_dir"), view.value("output_name")
    try:
        there = os.listdir(folder) if folder else []  # noqa: PTH208 - names alone, of a large folder too
    except (OSError, ValueError):
        return ()
    return tuple(
        sorted(entry for entry in there if is_written_by(entry, None if name is None else str(name)))
    )


def trainer_fact(facts: TrainerFacts, *, practice: bool = False) -> TrainerFact:
    """Return what rules may know about a probed trainer."""
    return TrainerFact(
        version=facts.version,
        commit=facts.commit,
        torch=facts.torch,
        cuda=facts.cuda or ("" if facts.torch and not facts.hip else None),
        python=facts.python_version or None,
        packages=dict(facts.packages),
        unusable=dict(facts.unusable),
        modules=facts.modules,
        practice=practice,
        root=facts.root,
        interpreter=facts.python,
        backend=facts.backend,
        arch_list=facts.arch_list,
        gpu=tuple(
            TrainerGpuFact(name=gpu.name, uuid=gpu.uuid, usable=gpu.usable, problem=gpu.problem)
            for gpu in facts.gpus
        ),
        pins=pinned(Path(facts.root)),
    )


def path_fact(path: Path) -> PathFact:
    """Return what is at a path; what may not be looked at counts as missing."""
    try:
        if path.is_dir():
            return PathFact(kind="folder", writable=os.access(path, os.W_OK))
        if path.exists():
            return PathFact(kind="file", size_bytes=path.stat().st_size, writable=os.access(path, os.W_OK))
        nearest = next((parent for parent in path.parents if parent.exists()), None)
        writable = nearest is not None and nearest.is_dir() and os.access(nearest, os.W_OK)
        return PathFact(kind="missing", writable=writable)
    except (OSError, ValueError):
        return PathFact(kind="missing")


def _paths(view: View) -> Iterator[tuple[str, PathFact]]:
    """Look at every path of a plan; a repository on the hub is none, and alone not absolute."""
    plan = view.plan
    named = [
        plan.arguments[name] for name in (PATH_ARGUMENTS | PATH_OR_HUB_ARGUMENTS) & plan.arguments.keys()
    ]
    for value in (*named, *(subset.own.get("metadata_file") for subset in view.subsets)):
        for text in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(text, str) and Path(text).is_absolute():
                yield text, path_fact(Path(text))


def _suffixes(trainer: TrainerFacts | None) -> frozenset[str]:
    packages: Mapping[str, Any] = trainer.packages if trainer else {}
    avif = any(name in packages for name in ("pillow-avif-plugin", "pillow_avif"))
    jxl = any(name in packages for name in ("jxlpy", "pillow-jxl-plugin", "pillow_jxl"))
    return suffixes_read(avif=avif, jxl=jxl)


def _dataset(
    view: View, suffixes: frozenset[str], base: Path, records: FolderRecords | None
) -> DatasetFact | None:
    layout, passed_over = _layout(view, suffixes, base)
    if not any(subset.own for subset in view.subsets):
        return DatasetFact(layout=layout, passed_over=passed_over) if layout else None
    facts: list[SubsetFact] = []
    budget = IMAGES_LOOKED_AT
    for subset in view.subsets:
        fact = look_at_subset(view, subset, suffixes, budget, records)
        budget -= fact.images or 0
        facts.append(fact)
    training = [(fact, subset) for fact, subset in zip(facts, view.subsets, strict=True) if not subset.is_reg]
    counts = [fact.images for fact, _subset_view in training]
    repeats = {subset.number("num_repeats") for _fact, subset in training}
    same = repeats.pop() if len(repeats) == 1 else None
    sizes = [_size(text) for fact in facts for text in fact.sizes or ()]
    return DatasetFact(
        images=None if None in counts else sum(count or 0 for count in counts),
        repeats=int(same) if same is not None else None,
        layout=layout,
        passed_over=passed_over,
        max_size_px=max(sizes, key=lambda size: size[0] * size[1], default=None),
        subsets=tuple(facts),
    )


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    return int(width), int(height)


def _layout(view: View, suffixes: frozenset[str], base: Path) -> tuple[Layout | None, tuple[str, ...]]:
    """Return what ``train_data_dir`` points at, and folders with images in it that are passed over.

    None when the plan names subsets itself, and where there are no images to point at.
    """
    parent = (view.own or view.plan).arguments.get("train_data_dir")
    if not isinstance(parent, str) or not parent:
        return None, ()
    folder = Path(absolute(parent, base))
    try:
        listing = list_folder(folder, suffixes=suffixes)
    except CannotRead:
        return None, ()
    passed_over = tuple(name for name in listing.folders if not folder_name_parts(name))
    if len(passed_over) < len(listing.folders):
        return "parent", passed_over
    if listing.images:
        return ("leaf" if folder_name_parts(folder.name) else "flat"), ()
    with_images = tuple(
        name for name in passed_over[:FOLDERS_LOOKED_INTO] if holds_images(folder / name, suffixes)
    )
    return ("flat" if with_images else None), with_images
