"""A plan that is open in a window: its document, a trainer, checks; for tests of what stands on them."""

from __future__ import annotations

from pathlib import Path

from practice_runs import TRAINS_SMALL, make_images
from PySide6.QtCore import QObject, Signal

from gui.engine.errors import PreflightError
from gui.engine.hardware.gpu import GpuSample
from gui.engine.paths import Home
from gui.engine.plan.drafts import Drafts
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.preset_library import PresetLibrary
from gui.engine.plan.recents import Recents
from gui.engine.trainer.catalogue import Catalogue
from gui.engine.trainer.choosing import Trainer, open_trainer
from gui.engine.trainer.installs import practice_install
from gui.window.models.plan_document import PlanDocument


class OneTrainer(QObject):
    """The trainers of a window that knows one, or none."""

    changed = Signal()
    progress = Signal(str, int, int)

    def __init__(self, current: Trainer | None) -> None:
        super().__init__()
        self.current = current
        self.problem: PreflightError | None = None
        self.busy = False

    @property
    def catalogue(self) -> Catalogue:
        return self.current.catalogue if self.current else Catalogue.bundled()

    def show(self, current: Trainer | None) -> None:
        self.current = current
        self.changed.emit()


class SomeGpus(QObject):
    """The hardware of a window, as it was at one moment."""

    sampled = Signal()

    def __init__(self, *gpus: GpuSample, problem: str | None = None) -> None:
        super().__init__()
        self.gpus = list(gpus)
        self.problem = problem

    def show(self, *gpus: GpuSample) -> None:
        self.gpus = list(gpus)
        self.sampled.emit()


def practice_trainer(home: Home) -> Trainer:
    """Return the practice trainer, asked."""
    return open_trainer(home, practice_install())


def small_plan(folder: Path, *, images: int = 20, **arguments: object) -> TrainingPlan:
    """Return a plan that the practice trainer trains within seconds, and against which nothing speaks.

    Args:
        folder: Of its images and its results.
        images: How many there are.
        arguments: Other trainer arguments; None leaves one out.
    """
    pictures = folder / "images" / "sks"
    if not pictures.exists():
        make_images(pictures, images)
    given = {**TRAINS_SMALL, "output_dir": str(folder / "out"), **arguments}
    return TrainingPlan.model_validate(
        {
            "name": "small",
            "family": "sd15",
            "arguments": {name: value for name, value in given.items() if value is not None},
            "dataset": {
                "resolution": [64, 64],
                "batch_size": 2,
                "caption_extension": ".txt",
                "subsets": [{"image_dir": str(pictures), "num_repeats": 4, "class_tokens": "sks"}],
            },
        }
    )


def open_document(home: Home, plan: TrainingPlan) -> PlanDocument:
    """Return a document with a plan in it."""
    document = PlanDocument(drafts=Drafts(home), recents=Recents(home), library=PresetLibrary(home.presets))
    document.new(plan)
    return document
