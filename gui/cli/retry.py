"""``retry RUN -o OUT``: after the GPU's memory ran out, the same plan with the cheapest changes that fit."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gui.cli.context import home
from gui.engine.plan.changes import apply_changes, changes_in_words
from gui.engine.plan.plan_file import PlanFile
from gui.engine.runs.folder import find_run
from gui.engine.runs.reuse import plan_of_run
from gui.engine.runs.smaller_plan import smaller_plan
from gui.engine.texts import _


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    parser.add_argument("run", metavar="RUN", help=_("a run's folder, its name, or the beginning of it"))
    parser.add_argument("-o", "--output", metavar="OUT", help=_("where the plan is written; else only told"))


def run(options: argparse.Namespace) -> int:
    """Tell what would fit, and write the plan; status 1 when nothing is known to."""
    folder = find_run(home(options), options.run)
    found = smaller_plan(folder)
    if found is None:
        print(_("The GPU's memory did not run out, or nothing was forecast of this run."), file=sys.stderr)
        return 1
    print(
        _("It needed at least {gib:.1f} GiB; {free:.1f} GiB were there.").format(
            gib=found.needed_gib, free=found.room.free
        )
    )
    print("\n".join(f"  {step}" for step in found.steps()))
    if found.offer() is None:
        print(_("No change of the plan alone makes it fit."), file=sys.stderr)
        return 1
    if options.output:
        before = plan_of_run(folder)
        plan = apply_changes(before.plan, found.changes)
        PlanFile(plan).save(plan, Path(options.output))
        text = _("Written: {path}, with {changes}.")
        print(text.format(path=options.output, changes=changes_in_words(found.changes)))
    return 0
