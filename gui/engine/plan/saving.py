"""Saves a plan over nothing but what it was read from."""

from __future__ import annotations

from pathlib import Path

from tomlkit.exceptions import TOMLKitError

from gui.engine.documents import read_text
from gui.engine.errors import CannotRead, CannotWrite, PreflightError
from gui.engine.plan.drafts import fingerprint
from gui.engine.plan.model import TrainingPlan
from gui.engine.plan.plan_file import PlanFile, parse_plan
from gui.engine.texts import _


class WouldOverwrite(PreflightError):
    """Saving would overwrite what this plan was not read from.

    Attributes:
        path: The file.
        ours: The plan that was to be saved.
        disk: What the file holds now; None when that is no plan.
        same_file: Whether it is this plan's own file, changed by another program meanwhile.
    """

    def __init__(self, path: Path, ours: TrainingPlan, disk: PlanFile | None, *, same_file: bool) -> None:
        super().__init__(path)
        self.path = path
        self.ours = ours
        self.disk = disk
        self.same_file = same_file

    def message(self) -> str:
        """Say what would be lost."""
        if self.same_file:
            return _("{path} was changed by another program since it was opened here.").format(path=self.path)
        return _("{path} already exists.").format(path=self.path)


def save_plan(
    file: PlanFile, plan: TrainingPlan, path: Path, *, known: str, overwrite: bool = False
) -> PlanFile:
    """Write a plan unless that would overwrite something else.

    Args:
        file: What the plan was read from.
        plan: The new content.
        path: Where to.
        known: Fingerprint of the text that the plan's own file had when it was opened.
        overwrite: Whether to write whatever is there.

    Returns:
        What is on disk now.

    Raises:
        WouldOverwrite: Something else is there.
        NewerDocument: A newer version wrote the plan.
        CannotWrite: The file cannot be written, or no file can hold the plan.
    """
    file.require_known()
    same_file = file.path is not None and path.absolute() == file.path.absolute()
    if not overwrite and is_in_the_way(path, known if same_file else ""):
        raise WouldOverwrite(path, plan, _plan_at(path), same_file=same_file)
    try:
        return file.save(plan, path)
    except (TOMLKitError, UnicodeError, TypeError) as error:
        raise CannotWrite(path, _("a value of the plan is nothing that a plan file can hold")) from error
    except RecursionError as error:
        raise CannotWrite(path, _("the plan is nested too deeply")) from error


def is_in_the_way(path: Path, known: str) -> bool:
    """Whether a file is there with another text than the one of this fingerprint."""
    try:
        return fingerprint(read_text(path)) != known or not known
    except CannotRead:
        return path.exists()


def _plan_at(path: Path) -> PlanFile | None:
    try:
        return parse_plan(read_text(path), path)
    except CannotRead:
        return None
