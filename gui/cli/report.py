"""``report RUN|LOG [-o FILE.zip]``: what others need to know to help, without names and tokens."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gui.cli.context import home
from gui.cli.plan_input import add_overwrite_argument, require_free
from gui.cli.progress import plain
from gui.engine.errors import WrongUsage
from gui.engine.runs.folder import find_run
from gui.engine.runs.report import Report
from gui.engine.runs.report_making import report_of_log, report_of_run
from gui.engine.texts import _


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this sub-command."""
    parser.add_argument("what", metavar="RUN|LOG", help=_("a run, or a file with the trainer's output"))
    parser.add_argument(
        "-o", "--output", metavar="FILE.zip", help=_("where it is written; else only what would be in it")
    )
    add_overwrite_argument(parser)
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="NAME",
        help=_("leave this part out; can be repeated"),
    )
    parser.add_argument("--text", action="store_true", help=_("print the diagnosis, to be pasted"))
    parser.add_argument("--json", action="store_true", help=_("print one JSON document"))


def run(options: argparse.Namespace) -> int:
    """Make the report, write it where that is wanted, and tell what is in it.

    Raises:
        UnknownRun: It is neither a file nor a run.
        WrongUsage: A part is not there, or a file is in the way.
        CannotRead: The log cannot be read.
        CannotWrite: The zip cannot be written.
    """
    path = Path(options.output) if options.output else None
    if path is not None:
        require_free(path, options.overwrite)
    report = _chosen(_report(options), options.without)
    if path is not None:
        report.write(path)
    if options.json:
        print(report.facts(path).model_dump_json(by_alias=True, indent=2))
        return 0
    contents = "\n".join(plain(line) for line in report.contents())
    if options.text:
        print(report.text, end="")
        if path is not None:
            print(contents, file=sys.stderr)
        return 0
    print(contents)
    told = _("Written: {path}").format(path=path) if path else _("Not written yet: -o FILE.zip writes it.")
    print(told)
    return 0


def _report(options: argparse.Namespace) -> Report:
    path = Path(options.what)
    if path.is_file():
        return report_of_log(path)
    place = home(options)
    return report_of_run(find_run(place, options.what), place)


def _chosen(report: Report, without: list[str]) -> Report:
    known = {part.name for part in report.parts}
    for name in without:
        if name not in known:
            raise WrongUsage(
                _("There is no part {name}; there are {names}.").format(
                    name=name, names=", ".join(sorted(known))
                )
            )
    return report.without(without)
