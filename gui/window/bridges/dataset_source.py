"""Where the dataset that is looked at comes from: the open plan, or a folder as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gui.engine.errors import CannotRead, WrongUsage
from gui.engine.plan.model import TrainingPlan
from gui.engine.texts import _
from gui.window.bridges.files_seen import FilesSeen

if TYPE_CHECKING:
    from gui.engine.dataset.report import DatasetReport
    from gui.engine.dataset.spec import DatasetSpec
    from gui.engine.preflight.check import Checker
    from gui.window.bridges.plan_check import PlanCheck


@dataclass(frozen=True)
class DatasetSource:
    """A dataset to look at.

    Attributes:
        folder: A folder that is looked at as it is; None for what the open plan names.
    """

    folder: Path | None = None

    @property
    def is_plan(self) -> bool:
        """Whether it is what the open plan names."""
        return self.folder is None


@dataclass(frozen=True)
class OpenedDataset:
    """A dataset, and the plan by which it is judged.

    Attributes:
        source: Where it comes from.
        plan: The open plan, or one that trains on the folder as it is.
        spec: Its folders, and how they are meant.
        checker: Knows what the rules say.
    """

    source: DatasetSource
    plan: TrainingPlan
    spec: DatasetSpec
    checker: Checker

    def with_rules(self, report: DatasetReport) -> DatasetReport:
        """Return a report with what the rules say about the data added."""
        from gui.engine.preflight.dataset_report import with_rules

        return with_rules(self.checker, self.plan, report)


def open_dataset(source: DatasetSource, check: PlanCheck) -> OpenedDataset:
    """Find out what is to be looked at; in a thread, since it looks at folders.

    Args:
        source: Which.
        check: The open plan and what checks it; its family and size count for a folder too.

    Raises:
        CannotRead: The folder cannot be listed, or holds no images.
        PlanNotRunnable: Nothing tells which script would read the plan's images.
        WrongUsage: The plan names no images.
    """
    from gui.engine.preflight.dataset_report import spec_of_plan

    check = replace(check, seen=FilesSeen())  # what was seen of the files before may be over
    if source.folder is not None:
        check = replace(check, plan=folder_plan(source.folder, check.plan), base=source.folder)
    checker = check.checker()
    spec = spec_of_plan(checker, check.plan)
    if not spec.subsets:
        raise WrongUsage(_("The plan names no folder of images."))
    return OpenedDataset(source, check.plan, spec, checker)


def names_images(plan: TrainingPlan) -> bool:
    """Return whether a plan names folders of images."""
    datasets = plan.dataset.get("datasets")
    places = [plan.dataset, *(datasets if isinstance(datasets, list | tuple) else ())]
    return any(isinstance(place, Mapping) and place.get("subsets") for place in places)


def folder_plan(folder: Path, like: TrainingPlan | None = None) -> TrainingPlan:
    """Return a plan that trains on a folder as it is.

    Args:
        folder: Which.
        like: Whose family and size count; None for none.

    Raises:
        CannotRead: The folder cannot be listed, or holds no images.
    """
    from gui.engine.dataset.folders import look_at_folder
    from gui.engine.preflight.dataset_spec import plan_of_folder
    from gui.engine.preflight.view import as_size

    layout = look_at_folder(folder)
    if not layout.subsets():
        raise CannotRead(folder, _("it holds no images that the trainer reads"))
    size = as_size(like.dataset.get("resolution")) if like else None
    return plan_of_folder(layout, like.family if like else "", size)
