"""Makes a plan of a run: what was launched, to be changed and launched again."""

from __future__ import annotations

from dataclasses import replace

from gui.engine.documents import read_text
from gui.engine.plan.merging import merged_text
from gui.engine.plan.plan_file import PlanFile, parse_plan
from gui.engine.runs.folder import RunFolder

DATA_ACTIONS = frozenset({"open-dataset", "convert-captions", "delete-cache"})
"""Ways out of a diagnosis that a person goes at the plan's images."""


def plan_of_run(run: RunFolder) -> PlanFile:
    """Return the plan of a run under its own name, not saved anywhere yet.

    The run's record names every file by its whole path and holds no tokens, so that the plan means the
    same from any folder. Saving what is made of it asks for a place, and never touches the record.

    Args:
        run: The folder.

    Raises:
        CannotRead: The record is missing or broken.
    """
    file = parse_plan(read_text(run.plan), run.plan)
    if file.plan.follows is None:
        return replace(file, path=None)
    # Of what the run followed its record speaks; whatever is made of it now follows the run itself, or none.
    alone = file.plan.model_copy(update={"follows": None})
    return replace(file, plan=alone, text=merged_text(file.text, file.plan.data(), alone.data()), path=None)
