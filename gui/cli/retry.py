"""``retry RUN -o OUT``: recovery after the GPU's memory ran out, with the figures that it rests on."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gui.cli.context import home
from gui.cli.plan_input import add_overwrite_argument, require_free
from gui.cli.recover import write_try
from gui.engine.runs.folder import find_run
from gui.engine.runs.recovery import recovery_of
from gui.engine.runs.smaller_plan import smaller_plan
from gui.engine.texts import _


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    parser.add_argument("run", metavar="RUN", help=_("a run's folder, its name, or the beginning of it"))
    parser.add_argument("-o", "--output", metavar="OUT", help=_("where the plan is written; else only told"))
    add_overwrite_argument(parser)


def run(options: argparse.Namespace) -> int:
    """Tell what would fit, and write the plan; status 1 when nothing is known to.

    Raises:
        UnknownRun: There is no such run.
        WrongUsage: The plan's file is there already.
    """
    if options.output:
        require_free(Path(options.output), options.overwrite)
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
    recovery = recovery_of(folder)
    if not recovery.tries:
        print("\n".join((*recovery.hopeless, *recovery.left_out)), file=sys.stderr)
        return 1
    return write_try(folder, options, recovery.tries[0]) if options.output else 0
