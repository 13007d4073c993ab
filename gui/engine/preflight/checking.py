"""Makes what checks a plan: against a trainer, on this machine or on another."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from gui.engine.dataset.doctor import CACHE_FOLDER
from gui.engine.dataset.folder_records import FolderRecords
from gui.engine.hardware.memory.learning import learned
from gui.engine.paths import Home
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.preflight.check import Checker
from gui.engine.preflight.collect import Collector
from gui.engine.preflight.facts import Facts
from gui.engine.preflight.surroundings import RunFact
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.choosing import Trainer


def checker_for(
    base: Path,
    trainer: Trainer | None,
    home: Home,
    *,
    machine: Facts | None = None,
    runs: Callable[[], tuple[RunFact, ...]] = tuple,
) -> Checker:
    """Return what checks plans.

    Args:
        base: The folder against which a plan's relative paths are meant.
        trainer: Whose arguments count; None takes the bundled ones of sd-scripts.
        home: Holds the user's presets.
        machine: Another machine, of which nothing but these facts is known; None looks at this one.
        runs: Tells which runs of this program are alive on this machine.
    """
    catalogue = trainer.catalogue if trainer else Catalogue.bundled()
    library = PresetLibrary(home.presets)
    if machine is not None:
        return Checker(base, catalogue, machine, files_known=False, library=library)
    practice = trainer is not None and trainer.install.practice
    records = FolderRecords(home.cache / CACHE_FOLDER)
    collector = Collector(trainer.facts if trainer else None, practice, runs=runs, records=records)
    return Checker(
        base,
        catalogue,
        collector.machine(),
        collector=collector,
        library=library,
        learned=partial(learned, home),
    )
