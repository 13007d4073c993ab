"""``compare RUN RUN…``: two or more runs side by side; ``--last-good``: what changed since one went well."""

from __future__ import annotations

import argparse
from pathlib import Path

from gui.cli.context import home
from gui.cli.plan_input import add_overwrite_argument, require_free
from gui.cli.progress import plain
from gui.engine.documents import write_atomically
from gui.engine.errors import RunRefused
from gui.engine.runs.comparison import compare, last_good
from gui.engine.runs.comparison_lines import comparison_csv, comparison_lines
from gui.engine.runs.folder import RunFolder, find_run
from gui.engine.texts import _


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help=_("a run's folder, its name, or the beginning of it")
    )
    parser.add_argument(
        "--last-good",
        action="store_true",
        help=_("compare with the last finished run before it that had the same output or plan"),
    )
    parser.add_argument("--all", action="store_true", help=_("tell what is the same too"))
    parser.add_argument(
        "--no-norms", action="store_true", help=_("do not look into the files that were saved")
    )
    parser.add_argument("--csv", metavar="FILE", help=_("write it as a table for other programs"))
    add_overwrite_argument(parser)
    parser.add_argument("--json", action="store_true", help=_("print one JSON document"))


def run(options: argparse.Namespace) -> int:
    """Print the comparison.

    Raises:
        UnknownRun: There is no such run.
        RunRefused: It is only one, or there is no good one.
        WrongUsage: The table's file is there already.
        CannotWrite: The table cannot be written.
    """
    place = home(options)
    if options.csv:
        require_free(Path(options.csv), options.overwrite)
    runs = [find_run(place, text) for text in options.runs]
    if options.last_good:
        runs = [*(_last_good(run, options) for run in runs[:1]), *runs]
    found = compare(runs, place, norms=not options.no_norms)
    if options.csv:
        write_atomically(Path(options.csv), comparison_csv(found))
    if options.json:
        print(found.model_dump_json(by_alias=True, indent=2))
    else:
        print("\n".join(map(plain, comparison_lines(found, everything=options.all))))
    return 0


def _last_good(run: RunFolder, options: argparse.Namespace) -> RunFolder:
    found = last_good(run, home(options))
    if found is None:
        text = _("No finished run before {name} had the same output or plan.")
        raise RunRefused(text.format(name=run.name))
    return found
